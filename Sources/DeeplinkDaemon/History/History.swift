import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkStore

/// What arrived and what became of it, in the state directory; away from the event loop.
///
/// Never a link: time, plugin, route, source, outcome and sizes. Values only of parameters that are not
/// sensitive, and only where the person's settings ask for them.
actor History {
  struct Entry: Sendable {
    /// Seconds since 1970.
    var time: Double
    var delivery: UInt64?
    var scheme: String
    var plugin: String?
    var route: String?
    var source: String
    var outcome: String
    /// For a refusal its code, for a failure its reason.
    var reason: String?
    var mode: String?
    /// Of the link, in bytes.
    var size: Int
    /// From acceptance to outcome, in seconds.
    var duration: Double
    /// The parameters that may be kept, as a JSON object.
    var values: String?
    /// The names of those that may not, as a JSON list; nil where no values are kept.
    var omitted: String?
  }

  private let executor = SideExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  private let database: Database
  /// What an earlier daemon left is pruned with the first batch.
  private var addedSincePruning = 1000

  init(path: String) throws(DatabaseError) {
    database = try Database(path: path)
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS history (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        time REAL NOT NULL,
        delivery INTEGER,
        scheme TEXT NOT NULL,
        plugin TEXT,
        route TEXT,
        source TEXT NOT NULL,
        outcome TEXT NOT NULL,
        reason TEXT,
        mode TEXT,
        size INTEGER NOT NULL,
        duration REAL NOT NULL,
        "values" TEXT,
        omitted TEXT
      );
      CREATE INDEX IF NOT EXISTS history_time ON history (time);
      """)
  }

  func add(_ entries: [Entry], _ limits: Settings.History, now: Double) throws(DatabaseError) {
    try database.execute("BEGIN")
    do throws(DatabaseError) {
      for entry in entries { try insert(entry) }
      addedSincePruning += entries.count
      if addedSincePruning >= 1000 { try prune(limits, now: now) }
      try database.execute("COMMIT")
    } catch {
      // Or the next batch would find a transaction open, and every one after it.
      try? database.execute("ROLLBACK")
      throw error
    }
  }

  private func insert(_ entry: Entry) throws(DatabaseError) {
    try database.run(
      """
      INSERT INTO history (
        time, delivery, scheme, plugin, route, source, outcome, reason, mode, size, duration, "values",
        omitted
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .real(entry.time), entry.delivery.map { .integer(Int64(clamping: $0)) } ?? .null,
      .text(entry.scheme), Column(entry.plugin), Column(entry.route), .text(entry.source),
      .text(entry.outcome), Column(entry.reason), Column(entry.mode), .integer(Int64(entry.size)),
      .real(entry.duration), Column(entry.values), Column(entry.omitted))
  }

  /// Forgets what is older or more than the person wants to keep.
  func prune(_ limits: Settings.History, now: Double) throws(DatabaseError) {
    addedSincePruning = 0
    try database.run(
      "DELETE FROM history WHERE time < ?", .real(now - Double(limits.days) * 86_400))
    try database.run(
      "DELETE FROM history WHERE number <= (SELECT MAX(number) FROM history) - ?",
      .integer(Int64(limits.entries)))
  }

  /// What to look for; every part narrows.
  struct Filter: Sendable {
    var plugin: String?
    var outcome: String?
    var scheme: String?
    /// Seconds since 1970.
    var since: Double?
    var number: Int64?
    /// The newest ones, at most.
    var limit: Int64 = 100
  }

  /// More than this is no answer that anybody reads, and the bus would end our connection for it.
  private static let maximumAnswer = 16 << 20

  /// The entries that fit, oldest first, as JSON objects; of too much, the newest.
  func entries(_ filter: Filter) throws(DatabaseError) -> [JSONValue] {
    var found: [JSONValue] = []
    var size = 0
    try database.run(
      """
      SELECT number, time, delivery, scheme, plugin, route, source, outcome, reason, mode, size,
        duration, "values", omitted
      FROM history
      WHERE (?1 IS NULL OR plugin = ?1) AND (?2 IS NULL OR outcome = ?2)
        AND (?3 IS NULL OR scheme = ?3) AND (?4 IS NULL OR time >= ?4)
        AND (?5 IS NULL OR number = ?5)
      ORDER BY number DESC LIMIT ?6
      """,
      Column(filter.plugin), Column(filter.outcome), Column(filter.scheme),
      filter.since.map { .real($0) } ?? .null, filter.number.map { .integer($0) } ?? .null,
      .integer(filter.limit)
    ) { row in
      let values = row.text(12)
      size += 256 + (values?.utf8.count ?? 0)
      guard size <= Self.maximumAnswer else { return }
      var members: [String: JSONValue] = [
        "number": .integer(row.integer(0)), "time": .number(row.real(1)),
        "scheme": JSONValue(row.text(3)), "plugin": JSONValue(row.text(4)),
        "route": JSONValue(row.text(5)), "source": JSONValue(row.text(6)),
        "outcome": JSONValue(row.text(7)), "reason": JSONValue(row.text(8)),
        "delivery": JSONValue(row.text(9)), "size": .integer(row.integer(10)),
        "duration": .number(row.real(11)),
      ]
      members["id"] = row.text(2) == nil ? .null : .integer(row.integer(2))
      members["parameters"] = values.flatMap { try? JSONValue(json5: $0) } ?? .null
      members["omitted"] = row.text(13).flatMap { try? JSONValue(json5: $0) } ?? .null
      found.append(.object(members))
    }
    return found.reversed()
  }
}
