import DeeplinkRouting
import DeeplinkStore
import DeeplinkWire

/// What the last daemon of this bus left behind.
extension Ledger {
  /// A link as it was left behind.
  struct Entry {
    var id: UInt64
    var request: String?
    var received: [UInt8]
    var options: LinkOptions
    var state: DeliveryState
    var attempt: Int
    var declinedCount: Int
    var acceptedAt: Double
    var hops: Int
    /// Nil where the daemon ended before it had found out.
    var source: Source?
    var result: JSONValue?
  }

  /// All of them, oldest first.
  func entries() -> [Entry] {
    var entries: [Entry] = []
    try? database?.run(
      """
      SELECT id, request, url, options, state, attempt, declined, accepted, hops, source, result
      FROM delivery ORDER BY id
      """
    ) { row in
      entries.append(
        Entry(
          id: UInt64(clamping: row.integer(0)), request: row.text(1), received: row.bytes(2),
          options: LinkOptions(json: row.text(3) ?? "", request: row.text(1)),
          state: DeliveryState(rawValue: row.text(4) ?? "") ?? .accepted,
          attempt: Int(row.integer(5)), declinedCount: Int(row.integer(6)), acceptedAt: row.real(7),
          hops: Int(row.integer(8)), source: row.text(9).flatMap(Source.init(json:)),
          result: row.text(10).flatMap { try? JSONValue(json5: $0) }))
    }
    return entries
  }

  /// The highest id that was ever given on this bus.
  func lastID() -> UInt64 {
    var last: Int64 = 0
    try? database?.run("SELECT seq FROM sqlite_sequence WHERE name = 'delivery'") {
      last = $0.integer(0)
    }
    return UInt64(clamping: last)
  }
}

extension LinkOptions {
  /// What a later daemon needs of them.
  var json: JSONValue {
    var members: [String: JSONValue] = [:]
    members["activationToken"] = activationToken.map { .string($0) }
    members["startupID"] = startupID.map { .string($0) }
    members["parentWindow"] = parentWindow.map { .string($0) }
    if !environment.isEmpty {
      members["environment"] = .object(environment.mapValues { .string($0) })
    }
    if isInteractive { members["interactive"] = true }
    if wantsCallback { members["callback"] = true }
    return .object(members)
  }

  fileprivate init(json text: String, request: String?) {
    self.init()
    let value = try? JSONValue(json5: text)
    activationToken = value?["activationToken"]?.string
    startupID = value?["startupID"]?.string
    parentWindow = value?["parentWindow"]?.string
    environment = (value?["environment"]?.object ?? [:]).compactMapValues(\.string)
    isInteractive = value?["interactive"]?.boolean ?? false
    wantsCallback = value?["callback"]?.boolean ?? false
    self.request = request
  }
}

extension Source {
  /// What rules and questions of a later daemon need of it.
  var json: JSONValue { ["kind": .string(kind.rawValue), "name": .string(name)] }

  fileprivate init?(json text: String) {
    let value = try? JSONValue(json5: text)
    guard let kind = value?["kind"]?.string.flatMap(Kind.init), let name = value?["name"]?.string
    else { return nil }
    self.init(kind: kind, name: name)
  }
}
