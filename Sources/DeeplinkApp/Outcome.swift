import DeeplinkBus

extension DeeplinkApp {
  /// What became of a link that this app opened.
  public struct Outcome: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable {
      /// The target has handled it.
      case delivered
      /// Every target that could take it said no.
      case declined
      /// The person said no.
      case denied
      /// The person had to be asked and could not be.
      case consentUnavailable = "consent-unavailable"
      /// The target could not be started, or failed: `message` says how.
      case failed
      case timedOut = "timed-out"
      /// The target went away with the link in its hands, and may have acted on it.
      case interrupted
      /// It waited too long while deeplinkd was not running.
      case expired
      case cancelled
      /// Not known in time; the delivery goes on.
      case pending
    }

    public let id: UInt64
    public let state: State
    /// What the target returned.
    public let result: [String: Value]

    public var isDelivered: Bool { state == .delivered }
    /// Why it failed.
    public var message: String? { state == .failed ? result["message"]?.string : nil }

    /// Nil where `values` are not those of `Open`'s reply.
    init?(_ values: [DeeplinkBus.Value]) {
      guard values.signature == "tsa{sv}", let id = values[0].uint64,
        let state = values[1].string.flatMap(State.init), let result = values[2].options
      else { return nil }
      self.id = id
      self.state = state
      self.result = result.compactMapValues(Value.init)
    }
  }
}
