import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Answers links of routes with `"callback": true` (x-callback-url 1.0).
///
/// A page chooses where an answer goes, so it is a way out for data: only to schemes with a registered
/// plugin, or to `https` hosts that the manifest names, and only once the person agreed.
@LoopActor final class CallbackSender {
  private let courier: Courier
  private let gate: ConsentGate
  private let configuration: Configuration

  init(courier: Courier, gate: ConsentGate, configuration: Configuration) {
    self.courier = courier
    self.gate = gate
    self.configuration = configuration
  }

  /// Sends what became of a link to where it asked for.
  func answer(_ delivery: Delivery) {
    guard let match = delivery.lastMatch, let targets = match.callback,
      let (target, members) = answer(delivery, targets)
    else { return }
    guard let url = CallbackURL.url(target, adding: members),
      let destination = destination(url, match.route)
    else {
      return Log.notice(
        "\(delivery.description): its callback goes nowhere that is allowed, ignoring")
    }
    let environment = courier.launchEnvironment(delivery.options)
    gate.passCallback(
      delivery, match, sending: members, to: destination, environment.variables
    ) { [courier] isAllowed in
      guard isAllowed else {
        return Log.notice("\(delivery.description): its callback was not allowed")
      }
      courier.send(url, hops: delivery.hops, of: match.plugin.id, environment)
    }
  }

  /// The target for this outcome, and what it is told; nil where the link names none.
  private func answer(
    _ delivery: Delivery, _ targets: CallbackTargets
  ) -> (String, [(String, String)])? {
    switch delivery.state {
    case .delivered:
      let result = delivery.result.compactMapValues { JSONValue(value: $0) }
      return targets.success.map { ($0, CallbackURL.parameters(result)) }
    case .denied, .declined, .cancelled: return targets.cancel.map { ($0, []) }
    default:
      let code = delivery.result["reason"]?.string ?? delivery.state.rawValue
      let message = delivery.result["message"]?.string ?? delivery.state.rawValue
      return targets.error.map { ($0, [("errorCode", code), ("errorMessage", message)]) }
    }
  }

  /// Scheme and host, as the person is asked about them; nil where nothing may be sent to.
  private func destination(_ url: ParsedURL, _ route: Route) -> String? {
    if url.scheme == "https" {
      return url.host.flatMap { route.callbackHosts.contains($0) ? "https://\($0)" : nil }
    }
    guard let scheme = Scheme(url.scheme), configuration.table.owner(of: scheme) != nil else {
      return nil
    }
    return url.host.map { $0.isEmpty ? "\(scheme):" : "\(scheme)://\($0)" } ?? "\(scheme):"
  }
}
