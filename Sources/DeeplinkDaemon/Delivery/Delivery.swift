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
  /// How many links of ours led to this one.
  let hops: Int
  /// Seconds of `CLOCK_BOOTTIME`.
  let acceptedAt: Double
  /// The connection that sent it; nil for one that an earlier daemon accepted.
  let sender: UniqueName?
  /// The routes that may still try, best first; the first one is at it.
  private(set) var matches: ArraySlice<Match>
  /// How many routes have said no.
  private(set) var declinedCount = 0
  /// 2 when it may have been acted on once already.
  var attempt = 1
  var state = DeliveryState.accepted
  /// Known once it is handed over.
  var mode: Handover.Mode?
  var result: [String: Value] = [:]
  /// Those who wait for the outcome.
  var waiters: [@LoopActor (Delivery) -> Void] = []

  init(
    id: UInt64, link: Link, options: LinkOptions, sender: UniqueName?, matches: [Match],
    hops: Int = 0, acceptedAt: Double = Clock.secondsSinceBoot
  ) {
    self.id = id
    self.link = link
    self.options = options
    self.sender = sender
    self.matches = matches[...]
    lastMatch = matches.first
    self.hops = hops
    self.acceptedAt = acceptedAt
  }

  /// Nil when every route has said no.
  var match: Match? { matches.first }

  /// The route that is or was at it last.
  private(set) var lastMatch: Match?

  /// The route that was at it has said no.
  func dropMatch() {
    matches = matches.dropFirst()
    declinedCount += 1
    lastMatch = match ?? lastMatch
  }

  /// How old it is, in seconds.
  var age: Double { Clock.secondsSinceBoot - acceptedAt }

  /// For logs: never more of the link than its scheme.
  var description: String {
    "link \(id) (\(link.scheme)\(match.map { ", route \($0.plugin.id)/\($0.route.name)" } ?? ""))"
  }
}
