import DeeplinkLoop
import Testing

@testable import DeeplinkDaemon
@testable import DeeplinkRouting

/// How many commands of a plugin run at once.
@Suite struct CommandQueueTests {
  init() { EventLoop.shared.startThread() }

  @LoopActor private final class Starts { var ids: [UInt64] = [] }

  @LoopActor private func delivery(_ id: UInt64) throws -> Delivery {
    Delivery(
      id: id, link: try Link(admitting: Array("x:y".utf8), maximumLength: 10), options: .init(),
      sender: nil, matches: [])
  }

  @Test @LoopActor func `sixteen run, the others wait in order and can be taken back`() throws {
    let queue = CommandQueue()
    let starts = Starts()
    let deliveries = try (1...20).map { try delivery($0) }
    for delivery in deliveries { queue.add(delivery) { starts.ids.append(delivery.id) } }
    #expect(starts.ids == Array(1...16) && queue.isFull && queue.waitingCount == 4)
    #expect(!queue.cancel(deliveries[0]))
    #expect(queue.cancel(deliveries[16]) && !queue.cancel(deliveries[16]))
    queue.ended()
    queue.ended()
    #expect(starts.ids == Array(1...16) + [18, 19] && queue.waitingCount == 1)
    for _ in 1...3 { queue.ended() }
    #expect(starts.ids.last == 20 && !queue.isFull)
  }
}
