import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// One admitted link on its way, from acceptance to its one outcome.
@LoopActor final class Delivery {
  let id: UInt64
  let link: Link
  private(set) var options: LinkOptions
  /// How many links of ours led to this one.
  let hops: Int
  /// Seconds of `CLOCK_BOOTTIME`.
  let acceptedAt: Double
  /// For how long the person was asked, and since when, in seconds: it makes no link too old.
  private var askedFor = 0.0
  private var askingSince: Double?
  /// Who sent it; nil while that is looked up.
  private(set) var source: Source?
  private var awaitingSource: [@LoopActor (Source) -> Void] = []
  /// The connection that sent it; nil for one that an earlier daemon accepted.
  let sender: UniqueName?
  /// The routes that may still try, best first; the first one is at it.
  private(set) var matches: ArraySlice<Match>
  /// How many routes have said no.
  private(set) var declinedCount = 0
  /// 2 when it may have been acted on once already.
  var attempt = 1
  var state = DeliveryState.accepted {
    didSet { noteAsking() }
  }
  /// Known once it is handed over.
  var mode: Handover.Mode?
  var result: [String: Value] = [:]
  /// Those who wait for the outcome, by the order of their coming.
  private var waiters: [Int: @LoopActor (Delivery) -> Void] = [:]
  private var lastWaiter = 0

  init(
    id: UInt64, link: Link, options: LinkOptions, sender: UniqueName?, matches: [Match],
    source: Source? = nil, hops: Int = 0, acceptedAt: Double = Clock.secondsSinceBoot
  ) {
    self.id = id
    self.link = link
    self.options = options
    self.sender = sender
    self.matches = matches[...]
    lastMatch = matches.first
    self.hops = hops
    self.acceptedAt = acceptedAt
    // Nobody can be looked at any more.
    self.source = source ?? (sender == nil ? .unknown : nil)
  }

  /// Each is an answer that somebody waits for; more than this many of one link want nothing good.
  private static let maximumWaiters = 64

  /// Calls `action` at the outcome, unless it is forgotten before; nil when too many wait already.
  func wait(_ action: @escaping @LoopActor (Delivery) -> Void) -> Int? {
    guard waiters.count < Self.maximumWaiters else { return nil }
    lastWaiter += 1
    waiters[lastWaiter] = action
    return lastWaiter
  }

  func forgetWaiter(_ number: Int) { waiters[number] = nil }

  /// Those who wait, first come first; they are told once.
  func takeWaiters() -> [@LoopActor (Delivery) -> Void] {
    defer { waiters = [:] }
    return waiters.sorted { $0.key < $1.key }.map(\.value)
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

  // MARK: Source

  func sourceIsKnown(_ source: Source) {
    guard self.source == nil else { return }
    self.source = source
    let waiting = awaitingSource
    awaitingSource = []
    for action in waiting { action(source) }
  }

  /// Runs `action` once the source is known: at once, or after a look-up that has a limit.
  func whenSourceIsKnown(_ action: @escaping @LoopActor (Source) -> Void) {
    source.map(action) ?? awaitingSource.append(action)
  }

  // MARK: Consent

  /// When it would have been accepted, had nobody been asked.
  var acceptedAtLessAsking: Double { acceptedAt + askedFor }

  private func noteAsking() {
    if state == .asking {
      askingSince = askingSince ?? Clock.secondsSinceBoot
    } else if let since = askingSince {
      askedFor += Clock.secondsSinceBoot - since
      askingSince = nil
      // The link's own is as old as the link.
      if age >= Self.tokenLife { dropTokens() }
    }
  }

  /// The token of the person's answer is a fresh one.
  func useToken(_ token: String) {
    dropTokens()
    answerToken = token
    answeredAt = Clock.secondsSinceBoot
  }

  private func dropTokens() {
    options.activationToken = nil
    options.startupID = nil
  }

  private var answerToken: String?
  private var answeredAt = 0.0

  /// How long a desktop honours an activation token, in seconds.
  private static let tokenLife = 30.0

  var freshToken: String? {
    if let answerToken {
      return Clock.secondsSinceBoot - answeredAt < Self.tokenLife ? answerToken : nil
    }
    return age < Self.tokenLife ? options.activationToken : nil
  }
  var freshStartupID: String? { age < Self.tokenLife ? options.startupID : nil }

  /// For logs: never more of the link than its scheme.
  var description: String {
    "link \(id) (\(link.scheme)\(match.map { ", route \($0.plugin.id)/\($0.route.name)" } ?? ""))"
  }
}
