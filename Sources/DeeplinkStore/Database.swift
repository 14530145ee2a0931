import CDeeplinkSQLite

/// One SQLite database in a file of the person's own; SQLite's pointers never leave this module.
///
/// Not for two threads at once: its owner is an actor.
@safe public final class Database {
  // Sent nowhere: `nonisolated` is for `deinit`, which may run on any thread.
  private nonisolated(unsafe) let pointer: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens or makes the file, in write-ahead mode, without waiting for the disk: what is written
  /// survives the death of the process, not of the machine.
  public init(path: String) throws(DatabaseError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    guard let pointer = unsafe opened else {
      throw DatabaseError(code: status, message: "no memory")
    }
    unsafe self.pointer = pointer
    guard status == SQLITE_OK else {
      let error = lastError(status)
      throw error
    }
    unsafe sqlite3_busy_timeout(pointer, 2000)
    try execute("PRAGMA journal_mode=WAL")
    try execute("PRAGMA synchronous=OFF")
    // In KiB. Small files of which the end is read: SQLite's own 2 MiB for each would only be filled.
    try execute("PRAGMA cache_size=-256")
  }

  deinit {
    for statement in statements.values { statement.finalize() }
    unsafe sqlite3_close_v2(pointer)
  }

  /// How many pages the write-ahead log has since the last commit; counted once `keepLog()` was called.
  public private(set) var logPages = 0

  /// From now on this connection leaves the log alone: its owner says who does `checkpoint()`, and when.
  public func keepLog() {
    // It takes the place of SQLite's own checkpoints.
    unsafe sqlite3_wal_hook(
      pointer,
      { context, _, _, pages in
        guard let context = unsafe context else { return SQLITE_OK }
        unsafe Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Folds as much of the log into the file as is possible without waiting for anybody.
  public func checkpoint() throws(DatabaseError) {
    let status = unsafe sqlite3_wal_checkpoint_v2(
      pointer, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    // Another connection is at it.
    guard status == SQLITE_OK || status == SQLITE_BUSY else { throw lastError(status) }
  }

  /// Runs statements without values.
  public func execute(_ sql: String) throws(DatabaseError) {
    let status = unsafe sqlite3_exec(pointer, sql, nil, nil, nil)
    guard status == SQLITE_OK else { throw lastError(status) }
  }

  /// Runs one statement with values in the place of each `?`; `row` is called for each row.
  public func run(
    _ sql: String, _ values: Column..., row: (Row) -> Void = { _ in }
  ) throws(DatabaseError) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    for (index, value) in values.enumerated() {
      let status = statement.bind(value, at: Int32(index) + 1)
      guard status == SQLITE_OK else { throw lastError(status) }
    }
    while true {
      switch statement.step() {
      case SQLITE_ROW: row(Row(statement))
      case SQLITE_DONE: return
      case let status: throw lastError(status)
      }
    }
  }

  /// Whether a transaction is open.
  public var isInTransaction: Bool { unsafe sqlite3_get_autocommit(pointer) == 0 }

  /// Statements are kept: their texts are our own and few.
  private func prepared(_ sql: String) throws(DatabaseError) -> Statement {
    if let statement = statements[sql] { return statement }
    var made: OpaquePointer?
    let status = unsafe sqlite3_prepare_v2(pointer, sql, -1, &made, nil)
    guard status == SQLITE_OK, let made = unsafe made else { throw lastError(status) }
    let statement = unsafe Statement(made)
    statements[sql] = statement
    return statement
  }

  private func lastError(_ code: Int32) -> DatabaseError {
    DatabaseError(code: code, message: unsafe String(cString: sqlite3_errmsg(pointer)))
  }
}

/// What SQLite said.
public struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
  /// SQLite's result code (sqlite.org, "Result and Error Codes").
  public let code: Int32
  public let message: String
  public var description: String { message }
}

/// A value of SQLite's.
public enum Column: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case bytes([UInt8])

  public init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

/// The row that a statement stands on; good only inside its closure.
public struct Row {
  private let statement: Statement
  init(_ statement: Statement) { self.statement = statement }

  public func integer(_ column: Int32) -> Int64 { statement.integer(column) }
  public func real(_ column: Int32) -> Double { statement.real(column) }
  public func bytes(_ column: Int32) -> [UInt8] { statement.bytes(column) ?? [] }
  /// Nil for null.
  public func text(_ column: Int32) -> String? {
    statement.bytes(column).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// A prepared statement.
@safe final class Statement {
  private nonisolated(unsafe) let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

  func finalize() { unsafe sqlite3_finalize(pointer) }
  func reset() { unsafe sqlite3_reset(pointer) }
  func step() -> Int32 { unsafe sqlite3_step(pointer) }

  func bind(_ value: Column, at place: Int32) -> Int32 {
    // SQLITE_TRANSIENT, a macro: SQLite copies the bytes.
    let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch value {
    case .null: return unsafe sqlite3_bind_null(pointer, place)
    case .integer(let number): return unsafe sqlite3_bind_int64(pointer, place, number)
    case .real(let number): return unsafe sqlite3_bind_double(pointer, place, number)
    case .text(let text):
      return unsafe sqlite3_bind_text(pointer, place, text, Int32(text.utf8.count), copies)
    case .bytes(let bytes):
      return unsafe sqlite3_bind_blob(pointer, place, bytes, Int32(bytes.count), copies)
    }
  }

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(pointer, column) }
  func real(_ column: Int32) -> Double { unsafe sqlite3_column_double(pointer, column) }

  func bytes(_ column: Int32) -> [UInt8]? {
    guard unsafe sqlite3_column_type(pointer, column) != SQLITE_NULL else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(pointer, column))
    guard count > 0, let start = unsafe sqlite3_column_blob(pointer, column) else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}
