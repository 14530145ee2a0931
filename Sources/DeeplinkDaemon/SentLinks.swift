/// URLs that this daemon sent out, so that one that comes back is known as the next hop.
struct SentLinks: Sendable {
  private var sent: [String: (hops: Int, at: Double)] = [:]

  /// How long one is remembered, in seconds.
  private static let memory = 10.0
  private static let limit = 4096

  /// A canonical URL is about to be sent by a link that came over `hops` hops itself.
  mutating func add(_ url: String, hops: Int, now: Double) {
    if sent.count >= Self.limit { sent = sent.filter { now - $0.value.at < Self.memory } }
    guard sent.count < Self.limit else { return }
    sent[url] = (hops, now)
  }

  /// The hops that a link with this canonical URL has behind it: 0 for one that was not sent here.
  func hops(of url: String, now: Double) -> Int {
    guard let (hops, at) = sent[url], now - at < Self.memory else { return 0 }
    return hops + 1
  }
}
