import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Links of the daemon's own scheme: `org.deeplinkd:ping` for the doctor, and
/// `org.deeplinkd:callback/NONCE/…`, by which foreign apps answer a call.
@LoopActor final class BuiltInLinks {
  static let scheme: Scheme = "org.deeplinkd"

  private let book: DeliveryBook
  /// Calls of foreign apps that wait for their callback.
  private var calls: [String: @LoopActor (DeliveryState, [String: Value]) -> Void] = [:]

  /// Calls that may wait at once.
  private static let limit = 256

  init(book: DeliveryBook) { self.book = book }

  /// What a link of this scheme comes to, which it does at once.
  func open(_ link: Link) throws(Refusal) -> OpenReply {
    let path = link.canonical.path.split(separator: "/").map(String.init)
    switch (path.first, path.count) {
    case ("ping", 1):
      let reply = OpenReply(
        id: book.nextID(), outcome: .delivered,
        result: ["query": .string(link.canonical.query ?? "")])
      book.announce(reply, plugin: Self.scheme.text, route: "ping")
      return reply
    case ("callback", 3):
      guard let call = calls.removeValue(forKey: path[1]) else { break }
      call(
        path[2] == "success" ? .delivered : path[2] == "cancel" ? .cancelled : .failed,
        Self.parameters(link.canonical.query ?? ""))
      return OpenReply(id: book.nextID(), outcome: .delivered, result: [:])
    default: break
    }
    throw Refusal(.noRoute, "deeplinkd itself has no such link")
  }

  /// Names a call that waits for `answer`; nil when too many do.
  ///
  /// The name is good for one callback.
  func expectCallback(
    _ answer: @escaping @LoopActor (DeliveryState, [String: Value]) -> Void
  ) -> String? {
    guard calls.count < Self.limit else { return nil }
    var generator = SystemRandomNumberGenerator()
    let nonce = (0..<2).map { _ in String(generator.next(), radix: 16) }.joined()
    calls[nonce] = answer
    return nonce
  }

  func forget(_ nonce: String) { calls[nonce] = nil }

  /// The pairs of a query; of a name that stands twice, the first.
  private static func parameters(_ query: String) -> [String: Value] {
    var parameters: [String: Value] = [:]
    for pair in query.split(separator: "&").prefix(100) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decodeStrict(Array(parts[0].utf8)),
        let value = PercentEncoding.decodeStrict(Array((parts.count > 1 ? parts[1] : "").utf8)),
        !name.utf8.contains(0), !value.utf8.contains(0), parameters[name] == nil
      else { continue }
      parameters[name] = .string(value)
    }
    return parameters
  }
}
