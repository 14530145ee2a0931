import DeeplinkBus
import DeeplinkContract
import DeeplinkLoop

/// `DeliveryChanged` as a value.
public struct DeliveryChange: Hashable, Sendable {
  public var id: UInt64
  public var state: DeliveryState
  public var facts: [String: Value]

  init?(_ signal: Signal) {
    guard signal.arguments.count == 3, let id = signal.arguments[0].uint64,
      let state = signal.arguments[1].string.flatMap(DeliveryState.init(rawValue:)),
      let facts = signal.arguments[2].options
    else { return nil }
    self.id = id
    self.state = state
    self.facts = facts
  }
}

extension DispatcherClient {
  /// Tells each state of each link from now on; starts the daemon, and returns when it has ended.
  public func follow(
    _ handler: @escaping @LoopActor (DeliveryChange) -> Void
  ) async throws(BusError) {
    let end = End()
    let owner = try await connection.subscribe(.owner(of: .deeplinkd)) { signal in
      if signal.arguments.last?.string == "" { end.come() }
    }
    connection.onClose { end.come() }
    try await startFollowing(handler)
    await end.wait()
    owner.cancel()
  }

  /// The same, and returns at once: it goes on as long as daemon and connection do.
  public func startFollowing(
    _ handler: @escaping @LoopActor (DeliveryChange) -> Void
  ) async throws(BusError) {
    try await connection.startService(.deeplinkd, timeout: .seconds(Limit.call))
    // Anybody could send such signals: it is the daemon's that count.
    guard let daemon = try await connection.owner(of: .deeplinkd) else { throw .disconnected }
    let rule = MatchRule(
      sender: .unique(daemon), path: .deeplinkd, interface: .dispatcher,
      member: MemberName(Contract.Dispatcher.deliveryChanged))
    _ = try await connection.subscribe(rule) { signal in
      if let change = DeliveryChange(signal) { handler(change) }
    }
    _ = try await connection.call(call(Contract.Dispatcher.follow))
  }

  /// Something that happens once and may have happened before anybody waits for it.
  @LoopActor private final class End {
    private var hasCome = false
    private var waiter: CheckedContinuation<Void, Never>?

    func come() {
      hasCome = true
      waiter?.resume()
      waiter = nil
    }

    func wait() async {
      guard !hasCome else { return }
      await withCheckedContinuation { waiter = $0 }
    }
  }
}
