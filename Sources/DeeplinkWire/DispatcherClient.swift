import DeeplinkBus
import DeeplinkContract
import DeeplinkLoop

/// The daemon as its clients call it: `org.deeplinkd.Dispatcher1` in typed requests and replies.
@LoopActor public struct DispatcherClient {
  let connection: Connection

  public init(_ connection: Connection) { self.connection = connection }

  /// Opens a link and waits for what becomes of it; starts the daemon where it does not run.
  ///
  /// - Parameter timeout: The limit of the whole call. A refusal is an error of the name that
  ///   `DispatcherError.init(_:)` takes apart.
  public func open(
    _ url: String, _ options: LinkOptions, timeout: Duration
  ) async throws(BusError) -> OpenReply {
    let reply = try await connection.call(
      call(Contract.Dispatcher.open, .string(url), options.value), timeout: timeout)
    guard reply.count == 3, let id = reply[0].uint64, let outcome = reply[1].string,
      let result = reply[2].options
    else { throw .unexpectedReply(signature: reply.signature.text) }
    let state = DeliveryState(rawValue: outcome)
    guard state?.isOutcome == true || outcome == Outcome.pending.text else {
      throw .unexpectedReply(signature: "the outcome '\(outcome)'")
    }
    return OpenReply(id: id, outcome: state, result: result)
  }

  /// What the daemon says of itself; nil where it does not run, and it is not started for this.
  public func status(
    timeout: Duration = .seconds(25)
  ) async throws(BusError) -> DispatcherStatus? {
    let reply = try await whereItRuns(
      MethodCall(
        to: .wellKnown(.deeplinkd), path: .deeplinkd,
        interface: "org.freedesktop.DBus.Properties", member: "GetAll",
        arguments: [.string(InterfaceName.dispatcher.text)], mayStartDestination: false),
      timeout: timeout)
    guard let reply else { return nil }
    guard let properties = reply.first?.options, let status = DispatcherStatus(properties) else {
      throw .unexpectedReply(signature: reply.signature.text)
    }
    return status
  }

  /// What arrived and what became of it, as a JSON list; see `History` of the interface.
  public func history(_ filter: [String: Value]) async throws(BusError) -> String {
    let reply = try await connection.call(call(Contract.Dispatcher.history, .options(filter)))
    guard let json = reply.first?.string else {
      throw .unexpectedReply(signature: reply.signature.text)
    }
    return json
  }

  /// Has the daemon read plugins and settings anew; false where it does not run, and will when it starts.
  public func reload(timeout: Duration = .seconds(25)) async throws(BusError) -> Bool {
    var request = call(Contract.Dispatcher.reload)
    request.mayStartDestination = false
    return try await whereItRuns(request, timeout: timeout) != nil
  }

  /// The answer to a call that starts no daemon; nil where none runs.
  private func whereItRuns(
    _ call: MethodCall, timeout: Duration = .seconds(25)
  ) async throws(BusError) -> [Value]? {
    do throws(BusError) { return try await connection.call(call, timeout: timeout) } catch {
      switch error.remoteName {
      case .serviceUnknown?, .nameHasNoOwner?: return nil
      default: throw error
      }
    }
  }

  func call(_ member: StaticString, _ arguments: Value...) -> MethodCall {
    MethodCall(
      to: .wellKnown(.deeplinkd), path: .deeplinkd, interface: .dispatcher,
      member: MemberName(member), arguments: arguments)
  }
}

/// The properties of `org.deeplinkd.Dispatcher1`.
public struct DispatcherStatus: Hashable, Sendable {
  public var version: String
  public var schemes: [String]
  /// Deliveries that have no outcome yet.
  public var pending: UInt32
  public var isDurable: Bool
  /// Counts since the daemon was started, by name.
  public var statistics: [String: UInt64]

  init?(_ properties: [String: Value]) {
    guard let version = properties["Version"]?.string,
      let schemes = properties["Schemes"]?.strings, let pending = properties["Pending"]?.uint32,
      let isDurable = properties["Durable"]?.boolean,
      case .dictionary(_, _, let entries)? = properties["Statistics"]
    else { return nil }
    self.version = version
    self.schemes = schemes
    self.pending = pending
    self.isDurable = isDurable
    statistics = entries.reduce(into: [:]) { counts, entry in
      if let name = entry.key.string { counts[name] = entry.value.uint64 }
    }
  }
}

extension DispatcherError {
  /// The refusal in an error reply; nil for every other error.
  public init?(_ error: BusError) {
    guard case .remote(let name, let message) = error,
      name.text.hasPrefix(Contract.errorPrefix.text)
    else { return nil }
    self.init(
      code: String(name.text.dropFirst(Contract.errorPrefix.text.count)), message: message)
  }
}
