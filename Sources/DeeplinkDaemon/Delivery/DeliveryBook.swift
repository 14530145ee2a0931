import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Every delivery that has no outcome yet, and what became of the last ones.
@LoopActor final class DeliveryBook {
  private let connection: Connection
  private let ledger: Ledger
  private var open: [UInt64: Delivery] = [:]
  private var requests: [String: UInt64] = [:]
  private var ended = EndedRequests()
  /// Asked for with the first link: until the bus gave the name, another daemon may still write.
  private lazy var lastID = ledger.lastID()
  private(set) var statistics: [String: UInt64] = [:]
  /// Those who asked to be told of every delivery.
  var followers: Set<UniqueName> = []
  /// States that are told once this turn's changes are kept, by delivery.
  private var unannounced: [UInt64: News] = [:]
  /// Told when the last delivery has ended.
  var onEmpty: (@LoopActor () -> Void)?

  /// Told of every end.
  var onEnd: (@LoopActor (Delivery) -> Void)?

  init(connection: Connection, ledger: Ledger) {
    self.connection = connection
    self.ledger = ledger
  }

  var count: Int { open.count }

  func delivery(_ id: UInt64) -> Delivery? { open[id] }

  /// Opens a delivery; its id is the order of arrival.
  ///
  /// - Parameter source: Who sent it, where that is known already.
  func add(
    _ link: Link, _ options: LinkOptions, from sender: UniqueName?, source: Source?,
    matches: [Match], hops: Int
  ) -> Delivery {
    let delivery = Delivery(
      id: nextID(), link: link, options: options, sender: sender, matches: matches,
      source: source, hops: hops)
    open(delivery)
    ledger.insert(delivery)
    if delivery.source == nil {
      let id = delivery.id
      delivery.whenSourceIsKnown { [ledger] in ledger.sourceIsKnown($0, of: id) }
    }
    return delivery
  }

  /// Takes up a delivery that an earlier daemon accepted.
  func restore(_ delivery: Delivery) { open(delivery) }

  /// Remembers what a request came to while an earlier daemon served.
  func restore(request: String, _ reply: OpenReply) { ended.add(request, reply) }

  private func open(_ delivery: Delivery) {
    open[delivery.id] = delivery
    if let request = delivery.options.request { requests[request] = delivery.id }
    statistics["accepted", default: 0] += 1
  }

  /// A number in the order of arrival for what is no delivery.
  func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Tells those who follow of something that came to its end at once.
  func announce(_ reply: OpenReply, plugin: String, route: String) {
    let facts: [String: Value] = [
      "plugin": .string(plugin), "route": .string(route), "result": .options(reply.result),
    ]
    for follower in followers {
      try? connection.emit(
        .deliveryChanged(reply.id, reply.outcome ?? .accepted, facts), to: .unique(follower))
    }
  }

  func countRefusal(_ code: Refusal.Code) {
    statistics["refused", default: 0] += 1
    statistics[code.rawValue, default: 0] += 1
  }

  /// What an earlier request of the same name came to, or is.
  enum Known {
    case open(Delivery)
    case ended(OpenReply)
  }

  func known(request: String?) -> Known? {
    guard let request else { return nil }
    if let delivery = requests[request].flatMap({ open[$0] }) { return .open(delivery) }
    return ended.reply(to: request).map { .ended($0) }
  }

  // MARK: States

  /// Changes a state on the way, in the ledger first.
  func move(_ delivery: Delivery, to state: DeliveryState) {
    guard !delivery.state.isOutcome, delivery.state != state else { return }
    let former = delivery.state
    delivery.state = state
    if state == .handingOver {
      ledger.handingOver(delivery.id, attempt: delivery.attempt)
    } else if state == .asking {
      ledger.asking(delivery)
    } else if former == .handingOver || former == .asking {
      ledger.waiting(delivery)
    }
    announce(delivery)
  }

  /// Gives the delivery its one outcome; later ones are mistakes and count for nothing.
  func finish(_ delivery: Delivery, _ outcome: DeliveryState, _ result: [String: Value] = [:]) {
    guard open.removeValue(forKey: delivery.id) != nil else { return }
    delivery.state = outcome
    delivery.result = result
    statistics[outcome.rawValue, default: 0] += 1
    if let request = delivery.options.request {
      requests[request] = nil
      ended.add(request, delivery.keptReply)
    }
    ledger.finish(delivery)
    announce(delivery)
    if outcome != .delivered {
      let reason = result["reason"]?.string.map { " (\($0))" } ?? ""
      Log.notice("\(delivery.description): \(outcome.rawValue)\(reason)")
    }
    onEnd?(delivery)
    let waiters = delivery.takeWaiters()
    ledger.afterCommit { for waiter in waiters { waiter(delivery) } }
    if open.isEmpty { ledger.afterCommit { [weak self] in self?.tellIfEmpty() } }
  }

  private func tellIfEmpty() { if open.isEmpty { onEmpty?() } }

  /// `DeliveryChanged`, to the sender and to those who follow; nothing of the link's values is in it.
  ///
  /// Of the states of one turn of the loop the last is told: each signal costs the bus and the sender
  /// as much as the link itself did.
  func announce(_ delivery: Delivery) {
    guard delivery.sender != nil || !followers.isEmpty else { return }
    let news = News(delivery)
    guard unannounced.updateValue(news, forKey: delivery.id) == nil else { return }
    ledger.afterCommit { [weak self] in self?.tell(news.id) }
  }

  private func tell(_ id: UInt64) {
    guard let news = unannounced.removeValue(forKey: id) else { return }
    for listener in followers.union(news.sender.map { [$0] } ?? []) {
      let facts = listener == news.sender ? news.own : news.facts
      try? connection.emit(.deliveryChanged(id, news.state, facts), to: .unique(listener))
    }
  }
}

/// A state that is to be told.
private struct News {
  let id: UInt64
  let state: DeliveryState
  let sender: UniqueName?
  let facts: [String: Value]
  /// For the sender: what an action returned may hold what the link said, so it is the sender's alone.
  let own: [String: Value]

  @LoopActor init(_ delivery: Delivery) {
    id = delivery.id
    state = delivery.state
    sender = delivery.sender
    var facts: [String: Value] = [:]
    if let match = delivery.match {
      facts["plugin"] = .string(match.plugin.id.text)
      facts["route"] = .string(match.route.name)
    }
    facts["delivery"] = delivery.mode.map { .string($0.rawValue) }
    var own = facts
    if delivery.state.isOutcome {
      own["result"] = .options(delivery.result)
      facts["result"] = .options(delivery.result.filter { $0.key == "reason" })
    }
    self.facts = facts
    self.own = own
  }
}

/// Outcomes of requests with a name, for the sender that asks again; the oldest go first.
private struct EndedRequests {
  static let limit = 1024
  private var replies: [String: OpenReply] = [:]
  private var order: [String] = []
  private var oldest = 0

  func reply(to request: String) -> OpenReply? { replies[request] }

  mutating func add(_ request: String, _ reply: OpenReply) {
    guard replies.updateValue(reply, forKey: request) == nil else { return }
    if order.count < Self.limit {
      order.append(request)
    } else {
      replies[order[oldest]] = nil
      order[oldest] = request
      oldest = (oldest + 1) % Self.limit
    }
  }
}

extension Delivery {
  /// A result larger than this is given to those who wait for it, and not kept for those who ask again.
  private static let maximumKept = 4096

  /// The reply for a sender that asks again.
  var keptReply: OpenReply {
    var kept = reply
    if kept.result.values.reduce(0, { $0 + $1.size }) > Self.maximumKept { kept.result = [:] }
    return kept
  }

  var reply: OpenReply {
    OpenReply(id: id, outcome: state.isOutcome ? state : nil, result: result)
  }
}
