import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// One admitted link on its way, from acceptance to its one outcome.
@LoopActor final class Delivery {
  let id: UInt64
  let link: Link
  let options: LinkOptions
  /// The connection that sent it, where there is one.
  let sender: UniqueName?
  /// The routes that may still try, best first; the first one is at it.
  private(set) var matches: ArraySlice<Match>
  var state = DeliveryState.accepted
  /// Known once it is handed over.
  var mode: Handover.Mode?
  var result: [String: Value] = [:]
  /// Those who wait for the outcome.
  var waiters: [@LoopActor (Delivery) -> Void] = []

  init(
    id: UInt64, link: Link, options: LinkOptions, sender: UniqueName?, matches: [Match]
  ) {
    self.id = id
    self.link = link
    self.options = options
    self.sender = sender
    self.matches = matches[...]
  }

  /// Nil when every route has said no.
  var match: Match? { matches.first }

  /// The route that was at it has said no.
  func dropMatch() { matches = matches.dropFirst() }

  /// For logs: never more of the link than its scheme.
  var description: String {
    "link \(id) (\(link.scheme)\(match.map { ", route \($0.plugin.id)/\($0.route.name)" } ?? ""))"
  }
}
