import DeeplinkBus
import DeeplinkRouting
import DeeplinkWire

/// The daemon's own scheme, `org.deeplinkd:`, whose links reach no plugin.
extension Intake {
  static let ownScheme: Scheme = "org.deeplinkd"

  /// What a link of the daemon's own came to; nil for all others.
  ///
  /// `ping` is delivered by having arrived: its query, by which the doctor knows it again, comes
  /// back in the result, and whoever follows the deliveries is told.
  func ownReply(to url: String) throws(Refusal) -> OpenReply? {
    guard let scheme = Scheme(String(url.prefix { $0 != ":" })), scheme == Self.ownScheme else {
      return nil
    }
    let link = try Link(
      admitting: Array(url.utf8), maximumLength: configuration.settings.maximumLength)
    guard link.canonical.host == nil, link.canonical.path == "ping" else {
      throw Refusal(.noRoute, "the daemon's own scheme has no such route", hint: "it has 'ping'")
    }
    let pong = String((link.canonical.query ?? "").prefix(64))
    return OpenReply(id: 0, outcome: .delivered, result: ["pong": .string(pong)])
  }
}
