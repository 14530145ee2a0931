import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Takes up what an earlier daemon of this bus left behind when it was killed.
///
/// What was not handed over goes on, unless it is too old; what was may have been acted on, and is
/// not handed over again unless its route says that this does no harm.
@LoopActor struct Replay {
  let book: DeliveryBook
  let courier: Courier
  let settings: Settings
  let table: RouteTable

  func run(_ entries: [Ledger.Entry]) {
    for entry in entries {
      guard !entry.state.isOutcome else {
        if let request = entry.request { book.restore(request: request, entry.reply) }
        continue
      }
      takeUp(entry)
    }
  }

  private func takeUp(_ entry: Ledger.Entry) {
    // The gate let it in once, by the settings of then.
    guard let link = try? Link(admitting: entry.received, maximumLength: entry.received.count)
    else { return Log.error("link \(entry.id) in the ledger cannot be read, ignoring it") }
    let matches = (try? table.matches(for: link)) ?? []
    let delivery = Delivery(
      id: entry.id, link: link, options: entry.options, sender: nil, matches: matches,
      source: entry.source, hops: entry.hops, acceptedAt: entry.acceptedAt)
    for _ in 0..<max(0, entry.declinedCount) { delivery.dropMatch() }
    delivery.attempt = entry.attempt
    book.restore(delivery)
    guard !matches.isEmpty else {
      return book.finish(
        delivery, .failed, reason: .error, "its route was gone when the daemon came back")
    }
    if entry.state == .handingOver {
      guard delivery.match?.route.isIdempotent == true, entry.attempt == 1 else {
        return book.finish(delivery, .interrupted)
      }
      delivery.attempt = 2
    }
    // Time spent asking does not count; how much it was died with the daemon that asked.
    let asked = entry.state == .asking ? ConsentDesk.limit : .zero
    guard .seconds(delivery.age) <= settings.expiry + asked else {
      return book.finish(delivery, .expired)
    }
    courier.deliver(delivery)
  }
}

extension Ledger.Entry {
  fileprivate var reply: OpenReply {
    OpenReply(
      id: id, outcome: state,
      result: (result?.object ?? [:]).compactMapValues { Value(json: $0) })
  }
}
