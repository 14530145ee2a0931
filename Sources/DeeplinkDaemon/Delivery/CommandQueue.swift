import DeeplinkLoop

/// The links of one plugin whose actions are commands: some run, the others wait in order.
///
/// Each process costs memory and descriptors, of which the daemon has a limited number.
@LoopActor final class CommandQueue {
  /// How many commands of a plugin run at once.
  static let limit = 16

  private var running = 0
  private var waiting: [(delivery: Delivery, start: @LoopActor () -> Void)] = []

  var waitingCount: Int { waiting.count }

  var isFull: Bool { running >= Self.limit || !waiting.isEmpty }

  /// Runs `start` at once or when it is its turn; `ended` follows each start.
  func add(_ delivery: Delivery, start: @escaping @LoopActor () -> Void) {
    guard isFull else {
      running += 1
      return start()
    }
    waiting.append((delivery, start))
  }

  /// A command has ended, or was not started after all.
  func ended() {
    running -= 1
    while running < Self.limit, !waiting.isEmpty {
      running += 1
      waiting.removeFirst().start()
    }
  }

  /// Takes a link back that waits; false when it does not.
  func cancel(_ delivery: Delivery) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.delivery === delivery }) else { return false }
    waiting.remove(at: index)
    return true
  }
}
