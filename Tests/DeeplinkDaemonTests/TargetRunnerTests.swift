import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire
import Testing

@testable import DeeplinkDaemon

/// Links whose source is looked up keep their place in their target's queue.
@Suite(.timeLimit(.minutes(1))) struct TargetRunnerTests {
  init() { EventLoop.shared.startThread() }

  @LoopActor private final class Running: Target {
    var onEvent: (@LoopActor (TargetEvent) -> Void)?
    var received: [UInt64] = []
    func start(_ environment: LaunchEnvironment) { onEvent?(.ready(wasRunning: true)) }
    func handOver(
      _ handover: Handover, limit: Duration,
      completion: @escaping @LoopActor (HandoverResult) -> Void
    ) {
      received.append(handover.id)
      completion(.handled([:]))
    }
    func stop() {}
    func discard() {}
  }

  @LoopActor private final class Owner: TargetRunnerOwner {
    var deliveries: [UInt64: Delivery] = [:]
    var endings: [UInt64: TargetMachine.Ending] = [:]
    func delivery(_ id: UInt64) -> Delivery? { deliveries[id] }
    func launchEnvironment(for delivery: Delivery?) -> LaunchEnvironment {
      LaunchEnvironment(variables: [:])
    }
    func handover(of delivery: Delivery, _ mode: Handover.Mode, attempt: Int) -> Handover? {
      delivery.match.map {
        Handover(
          id: delivery.id, link: delivery.link, plugin: $0.plugin.id, route: $0.route,
          parameters: [:], mode: mode, attempt: attempt, source: delivery.source?.key ?? "none",
          activationToken: nil, startupID: nil, hops: 0)
      }
    }
    func afterCommit(_ action: @escaping @LoopActor () -> Void) { action() }
    func timeout(of delivery: Delivery) -> Duration { .seconds(60) }
    func move(_ delivery: Delivery, to state: DeliveryState) { delivery.state = state }
    func ended(_ delivery: Delivery, _ result: HandoverResult) { delivery.state = .delivered }
    func ended(_ delivery: Delivery, _ ending: TargetMachine.Ending) {
      endings[delivery.id] = ending
      delivery.state = .cancelled
    }
  }

  @LoopActor private func add(_ ids: ClosedRange<UInt64>, _ owner: Owner) throws {
    let manifest = """
      {"id": "org.example.A", "name": "A", "schemes": ["org.example.a"], "routes": [
        {"name": "all", "match": ":x", "action": {"worker": {"run": ["w"]}}}]}
      """
    let plugin = try #require(Plugin.read(Array(manifest.utf8), file: "plugin.json").plugin)
    let link = try Link(admitting: Array("org.example.a:x".utf8))
    let matches = try RouteTable(plugins: [plugin]).matches(for: link)
    for id in ids {
      owner.deliveries[id] = Delivery(
        id: id, link: link, options: LinkOptions(), sender: ":1.1", matches: matches)
    }
  }

  @Test @LoopActor func `sources that are found in any order change no order`() throws {
    let owner = Owner()
    let target = Running()
    let runner = TargetRunner(
      target, owner: owner, concurrency: 16, launchTimeout: .seconds(20), stopsWhenLate: false,
      firstLinkProbes: false)
    try add(1...5, owner)
    for id in UInt64(1)...5 { runner.add(try #require(owner.deliveries[id])) }
    #expect(runner.waitingCount == 5)
    for id in [UInt64(3), 5, 4] { owner.deliveries[id]?.sourceIsKnown(.unknown) }
    #expect(target.received == [])
    owner.deliveries[1]?.sourceIsKnown(.unknown)
    #expect(target.received == [1])
    // The one that all wait for is taken back.
    #expect(runner.cancel(try #require(owner.deliveries[2])))
    #expect(owner.endings == [2: .cancelled])
    #expect(target.received == [1, 3, 4, 5] && runner.waitingCount == 0)
    owner.deliveries[2]?.sourceIsKnown(.unknown)
    #expect(target.received == [1, 3, 4, 5])
  }

  @Test @LoopActor func `time spent asking makes no link older`() throws {
    let owner = Owner()
    try add(1...1, owner)
    let delivery = try #require(owner.deliveries[1])
    #expect(delivery.acceptedAtLessAsking == delivery.acceptedAt)
    let before = Clock.secondsSinceBoot
    delivery.state = .asking
    while Clock.secondsSinceBoot < before + 0.001 {}
    delivery.state = .waiting
    let asked = delivery.acceptedAtLessAsking - delivery.acceptedAt
    #expect(asked >= 0.0009 && asked <= Clock.secondsSinceBoot - before)
    delivery.state = .starting
    #expect(delivery.acceptedAtLessAsking - delivery.acceptedAt == asked)
  }
}
