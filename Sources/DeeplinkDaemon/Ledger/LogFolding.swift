import DeeplinkLoop
import DeeplinkStore

/// Folds the ledger's write-ahead log into its file, on a connection and a thread of its own
/// (sqlite.org, "Write-Ahead Logging", section 2.2).
///
/// The event loop goes on writing meanwhile; SQLite begins the log anew with the first write that finds
/// all of it folded.
actor LogFolding {
  private let executor = SideExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  private let path: String
  private var database: Database?

  init(path: String) { self.path = path }

  /// Connected when it is needed first; most daemons write less than that in their life.
  func fold() throws(DatabaseError) {
    let database = if let database { database } else { try Database(path: path) }
    self.database = database
    try database.checkpoint()
  }
}
