import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Tells the person of a link that came to nothing, where nobody looks at a terminal
/// (Desktop Notifications Specification 1.2).
@LoopActor final class Notifier {
  private let connection: Connection
  /// When each plugin's links were last told of, in seconds.
  private var lastTold: [String: Double] = [:]

  /// At most one in so many seconds for each plugin.
  private static let pause = 60.0

  init(connection: Connection) { self.connection = connection }

  /// Shows that a link of `plugin` failed; nothing of the link is shown.
  func tell(_ title: String, _ text: String, plugin: PluginID?, icon: String?) {
    let key = plugin?.text ?? ""
    let now = Clock.seconds
    guard now - (lastTold[key] ?? -.infinity) >= Self.pause else { return }
    // Plugins are few; a scheme that nobody has counts as none.
    lastTold[key] = now
    NotifyAction.show(title: title, body: text, icon: icon, on: connection) { result in
      if case .failure(let error) = result {
        Log.info("nobody shows notifications (\(error.sentence)): \(title): \(text)")
      }
    }
  }

  /// Shows the bad outcome of a link that came from no terminal.
  func tell(_ delivery: Delivery) {
    guard !delivery.options.isInteractive, let match = delivery.lastMatch else { return }
    let reason: String
    switch delivery.state {
    case .declined: reason = "the app did not want it"
    case .failed: reason = delivery.result["message"]?.string ?? "it failed"
    case .timedOut: reason = "the app did not answer in time"
    case .interrupted: reason = "the app ended while it had the link; it may have acted on it"
    case .expired: reason = "it had waited too long"
    case .consentUnavailable: reason = "there was no way to ask you"
    default: return
    }
    tell(
      "\(match.plugin.name.standard): a link was not opened", reason, plugin: match.plugin.id,
      icon: match.plugin.icon)
  }
}
