import DeeplinkActions
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkStore
import DeeplinkWire
import Glibc

/// What is kept so that an accepted link survives the death of the daemon.
///
/// One file for each bus, in the runtime directory: no link is ever on a disk. All that one turn of the
/// loop writes is one transaction; what may happen only afterwards (a reply, a call to a target) waits in
/// `afterCommit`. Where the file cannot be written the daemon goes on without it, and says so.
@LoopActor final class Ledger {
  private let path: String?
  private(set) var database: Database?
  private var isOpened = false
  private var afterwards: [@LoopActor () -> Void] = []
  private var isScheduled = false
  private var finishedSinceCleaning = 0
  private var folding: LogFolding?
  private var foldingTask: Task<Void, Never>?

  /// Nil: no ledger.
  init(path: String?) { self.path = path }

  /// Opens or makes the file, once this daemon is the one that serves on its bus: until then it is
  /// another one's.
  func open() {
    isOpened = true
    guard let path else { return }
    do throws(DatabaseError) {
      do throws(DatabaseError) {
        database = try Self.open(path)
      } catch {
        guard error.isOfForeignFile else { throw error }
        Log.error("the ledger \(path) is none (\(error)), starting a new one")
        Self.remove(path)
        database = try Self.open(path)
      }
      folding = LogFolding(path: path)
    } catch {
      Log.error("links will not survive a crash: the ledger \(path) cannot be used: \(error)")
    }
  }

  private static func open(_ path: String) throws(DatabaseError) -> Database {
    // The person's alone; SQLite gives its other files the same mode.
    let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if file >= 0 { close(file) }
    let database = try Database(path: path)
    try bringUpToDate(database)
    database.keepLog()
    return database
  }

  /// A daemon of another version may have left its links in the file.
  private static func bringUpToDate(_ database: Database) throws(DatabaseError) {
    try database.execute("BEGIN IMMEDIATE")
    var found: Int64 = 0
    try database.run("PRAGMA user_version") { found = $0.integer(0) }
    switch found {
    case version: break
    case 1:
      try database.execute(
        """
        ALTER TABLE delivery ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE delivery ADD COLUMN source TEXT;
        """)
    // 0 is a new file, or one whose maker ended before it held a link.
    case 0: try database.execute("DROP TABLE IF EXISTS delivery; \(schema)")
    default:
      Log.error("the links in the ledger are of a newer deeplinkd (version \(found)), ignoring")
      try database.execute("DROP TABLE IF EXISTS delivery; \(schema)")
    }
    // Written in any case: a file that can be read and not written would be replayed again and again.
    try database.execute("PRAGMA user_version=\(version); COMMIT")
  }

  private static func remove(_ path: String) {
    for file in [path, path + "-wal", path + "-shm"] { _ = unsafe unlink(file) }
  }

  /// Whether links survive the death of the daemon.
  ///
  /// The bus delivers the first calls before it says that the name is ours: until the ledger is opened
  /// this is whether its folder can be written.
  var isDurable: Bool {
    guard !isOpened, let path else { return database != nil }
    let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    return unsafe access(folder, W_OK) == 0
  }

  /// Ends with the file, which nobody must read any more.
  private func discard() {
    database = nil
    folding = nil
    if let path { Self.remove(path) }
  }

  /// Takes the file away: its bus has ended, and no daemon of it will come.
  func remove() {
    try? database?.execute("ROLLBACK")
    discard()
  }

  /// Of the table: 2 has `hops` and `source`.
  private static let version: Int64 = 2

  private static let schema = """
    CREATE TABLE delivery (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      request TEXT,
      url BLOB NOT NULL,
      options TEXT NOT NULL,
      state TEXT NOT NULL,
      attempt INTEGER NOT NULL DEFAULT 1,
      declined INTEGER NOT NULL DEFAULT 0,
      accepted REAL NOT NULL,
      hops INTEGER NOT NULL DEFAULT 0,
      source TEXT,
      result TEXT
    );
    """

  // MARK: Writing

  /// A link was accepted.
  func insert(_ delivery: Delivery) {
    write { database throws(DatabaseError) in
      try database.run(
        """
        INSERT INTO delivery (id, request, url, options, state, accepted, hops, source)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        .integer(Int64(delivery.id)), Column(delivery.options.request),
        .bytes(delivery.link.received), .text(delivery.options.json.description),
        .text(DeliveryState.accepted.rawValue), .real(delivery.acceptedAt),
        .integer(Int64(delivery.hops)), Column(delivery.source?.json.description))
    }
  }

  /// It was found out who sent it.
  func sourceIsKnown(_ source: Source, of id: UInt64) {
    write { database throws(DatabaseError) in
      try database.run(
        "UPDATE delivery SET source = ? WHERE id = ?", .text(source.json.description),
        .integer(Int64(id)))
    }
  }

  /// It is about to be handed over: from here on it may have been acted on.
  func handingOver(_ id: UInt64, attempt: Int) {
    write { database throws(DatabaseError) in
      try database.run(
        "UPDATE delivery SET state = ?, attempt = ? WHERE id = ?",
        .text(DeliveryState.handingOver.rawValue), .integer(Int64(attempt)), .integer(Int64(id)))
    }
  }

  /// It is back in a queue: a target said no, or had not received it.
  func waiting(_ delivery: Delivery) {
    write { database throws(DatabaseError) in
      try database.run(
        """
        UPDATE delivery SET state = ?, attempt = ?, declined = ?, accepted = ?, options = ?
        WHERE id = ?
        """,
        .text(DeliveryState.waiting.rawValue), .integer(Int64(delivery.attempt)),
        .integer(Int64(delivery.declinedCount)), .real(delivery.acceptedAtLessAsking),
        .text(delivery.options.json.description), .integer(Int64(delivery.id)))
    }
  }

  /// A person is asked about it: a later daemon asks again.
  func asking(_ delivery: Delivery) {
    write { database throws(DatabaseError) in
      try database.run(
        "UPDATE delivery SET state = ?, declined = ?, accepted = ? WHERE id = ?",
        .text(DeliveryState.asking.rawValue), .integer(Int64(delivery.declinedCount)),
        .real(delivery.acceptedAtLessAsking), .integer(Int64(delivery.id)))
    }
  }

  /// It has its outcome.
  ///
  /// Kept for a while when its sender may ask for it again.
  func finish(_ delivery: Delivery) {
    write { database throws(DatabaseError) in
      if delivery.options.request == nil {
        try database.run("DELETE FROM delivery WHERE id = ?", .integer(Int64(delivery.id)))
      } else {
        let result = JSONValue.object(
          delivery.keptReply.result.compactMapValues { JSONValue(value: $0) })
        try database.run(
          "UPDATE delivery SET state = ?, result = ?, url = '', options = '' WHERE id = ?",
          .text(delivery.state.rawValue), .text(result.description), .integer(Int64(delivery.id)))
      }
      finishedSinceCleaning += 1
      if finishedSinceCleaning >= 256 {
        finishedSinceCleaning = 0
        try database.run(
          "DELETE FROM delivery WHERE options = '' AND id <= ?",
          .integer(Int64(delivery.id) - 1024))
      }
    }
  }

  /// Runs `action` once everything that this turn has written is kept, or cannot be.
  func afterCommit(_ action: @escaping @LoopActor () -> Void) {
    afterwards.append(action)
    schedule()
  }

  private func write(_ change: @LoopActor (Database) throws(DatabaseError) -> Void) {
    guard let database else { return }
    do throws(DatabaseError) {
      if !database.isInTransaction { try database.execute("BEGIN") }
      try change(database)
      schedule()
    } catch {
      giveUp(error)
    }
  }

  private func schedule() {
    guard !isScheduled else { return }
    isScheduled = true
    EventLoop.shared.atEndOfRound { [weak self] in self?.commit() }
  }

  private func commit() {
    isScheduled = false
    if let database, database.isInTransaction {
      do throws(DatabaseError) {
        try database.execute("COMMIT")
        try keepLogShort(database)
      } catch {
        giveUp(error)
      }
    }
    let actions = afterwards
    afterwards = []
    for action in actions { action() }
  }

  /// From how many pages on the log is folded into the file.
  static let logLimit = 1000

  private func keepLogShort(_ database: Database) throws(DatabaseError) {
    guard database.logPages >= Self.logLimit else { return }
    // The other thread cannot follow, or not work at all: then links wait for it to be done here.
    if database.logPages >= 4 * Self.logLimit { try database.checkpoint() }
    guard foldingTask == nil, let folding else { return }
    foldingTask = Task { [weak self] in
      try? await folding.fold()
      self?.foldingTask = nil
    }
  }

  /// Returns when nothing is being folded.
  func folded() async { await foldingTask?.value }

  /// A full or broken disk: links go on, without a promise to survive.
  private func giveUp(_ error: DatabaseError) {
    guard database != nil else { return }
    Log.error("links will no longer survive a crash: the ledger cannot be written: \(error)")
    try? database?.execute("ROLLBACK")
    // What stands in it is the past from now on: a later daemon must not deliver it once more.
    discard()
  }
}

extension DatabaseError {
  /// SQLITE_CORRUPT and SQLITE_NOTADB: no death of a daemon leaves such a file.
  fileprivate var isOfForeignFile: Bool { code == 11 || code == 26 }
}
