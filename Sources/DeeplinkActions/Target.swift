import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// The running thing that an action hands links to: an app on the bus, or a worker process.
///
/// Its owner starts it, is told when it is ready, hands links over, and is told when it is gone.
@LoopActor public protocol Target: AnyObject {
  /// Told what happens, in order.
  var onEvent: (@LoopActor (TargetEvent) -> Void)? { get set }
  /// Starts it; `ready` or `startFailed` follows once.
  func start(_ environment: LaunchEnvironment)
  /// Hands one link over; `completion` runs once. Its owner waits no longer than `limit`.
  func handOver(
    _ handover: Handover, limit: Duration,
    completion: @escaping @LoopActor (HandoverResult) -> Void)
  /// It gets no more links, and its owner is no more told of it.
  func discard()
  /// Ends it because it does not answer, or because the daemon ends.
  func stop()
}

public enum TargetEvent: Sendable, Hashable {
  /// Ready for links; `wasRunning` when the start found it so and launched nothing.
  case ready(wasRunning: Bool)
  case startFailed(FailureReason, String)
  case gone
}

/// What came of handing one link over.
public enum HandoverResult: Sendable, Hashable {
  /// Taken, with what the action returned: an object.
  case handled([String: JSONValue])
  /// A no: the next route may try.
  case declined
  case failed(FailureReason, String)
  /// The target has its name and not yet its object.
  case notReady(String)
  /// The target had gone before the link reached it.
  case notDelivered(String)
  /// The target went away with the link in its hands.
  case interrupted
}

/// What a launch takes from the session and from the link that causes it.
public struct LaunchEnvironment: Sendable, Hashable {
  /// The daemon's own environment with the session's variables of the last sender.
  public var variables: [String: String]
  public var activationToken: String?
  public var startupID: String?

  public init(
    variables: [String: String], activationToken: String? = nil, startupID: String? = nil
  ) {
    self.variables = variables
    self.activationToken = activationToken
    self.startupID = startupID
  }

  /// As a child gets it: under the names that toolkits look for.
  var all: [String: String] {
    var all = variables
    all["XDG_ACTIVATION_TOKEN"] = activationToken
    all["DESKTOP_STARTUP_ID"] = startupID
    // Ours, and no business of a child's.
    for name in ["DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "NOTIFY_SOCKET", "INVOCATION_ID"]
    {
      all[name] = nil
    }
    return all
  }
}
