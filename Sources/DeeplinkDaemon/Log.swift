import Glibc

/// Lines for the journal, or for whoever started the daemon in a terminal.
///
/// Never a link's path, query or fragment: scheme, route and delivery id alone.
enum Log {
  /// The numbers of syslog(3).
  enum Level: Int { case error = 3, warning = 4, notice = 5, info = 6 }

  static func error(_ text: String) { write(.error, text) }
  static func warning(_ text: String) { write(.warning, text) }
  static func notice(_ text: String) { write(.notice, text) }
  static func info(_ text: String) { write(.info, text) }

  static func write(_ level: Level, _ text: String) {
    // A journal reads the level from such a prefix (sd-daemon(3)); people need not.
    let line = (isJournal ? "<\(level.rawValue)>" : "deeplinkd: ") + text + "\n"
    var line2 = line
    line2.withUTF8 { unsafe _ = Glibc.write(2, $0.baseAddress, $0.count) }
  }

  private static let isJournal = unsafe getenv("JOURNAL_STREAM") != nil
}
