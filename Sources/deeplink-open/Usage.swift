import CDeeplinkLinux

/// What the arguments ask for.
///
/// Only `--wait`, `--help` and `--version` are options.
///
/// What stands behind `--` is a URL, whatever it looks like: a desktop entry's `Exec=` always has it.
@safe enum Usage {
  case help
  case version
  case wrong(StaticString, UnsafePointer<CChar>?)
  /// No URL: a menu launch gives none, or an empty one.
  case activate
  case open(UnsafePointer<CChar>, wait: Wait)

  enum Wait {
    case no
    /// Until the outcome; nil: as long as a call may last.
    case seconds(UInt32?)
  }

  static let text: StaticString = """
    usage: deeplink-open [--wait[=SECONDS]] [--] [URL]

    Hands URL to the deep-link daemon, which it starts if need be. Without a URL it
    only starts the daemon.

      --wait[=SECONDS]  wait for what becomes of the link, not only for its acceptance
      --help            print this
      --version         print the version

    exit status: 0 accepted (with --wait: delivered, or still pending), 1 refused or
    wrong usage, 3 the daemon cannot be reached or started, 4 any other outcome

    """

  static func read() -> Usage {
    var url: UnsafePointer<CChar>?
    var wait = Wait.no
    var onlyURLs = false
    for index in 1..<max(1, deeplink_argument_count()) {
      guard let argument = unsafe deeplink_argument(index) else { continue }
      if !onlyURLs, unsafe argument[0] == CChar(UInt8(ascii: "-")) {
        if unsafe strcmp(argument, "--") == 0 {
          onlyURLs = true
        } else if unsafe strcmp(argument, "--wait") == 0 {
          wait = .seconds(nil)
        } else if unsafe strncmp(argument, "--wait=", 7) == 0 {
          guard let seconds = unsafe number(argument + 7) else {
            return unsafe .wrong(
              "--wait takes a number of seconds from 1 to 86400, not ", argument + 7)
          }
          wait = .seconds(seconds)
        } else if unsafe strcmp(argument, "--help") == 0 {
          return .help
        } else if unsafe strcmp(argument, "--version") == 0 {
          return .version
        } else {
          return unsafe .wrong("unknown option ", argument)
        }
      } else if unsafe url != nil {
        return unsafe .wrong("there can be one URL, and there are two", nil)
      } else {
        unsafe url = argument
      }
    }
    guard let url = unsafe url, unsafe url[0] != 0 else { return .activate }
    return unsafe .open(url, wait: wait)
  }

  private static func number(_ text: UnsafePointer<CChar>) -> UInt32? {
    var value: UInt32 = 0
    var index = 0
    while unsafe text[index] != 0 {
      let digit = unsafe UInt8(bitPattern: text[index]) &- UInt8(ascii: "0")
      guard digit <= 9, index < 5 else { return nil }
      value = value * 10 + UInt32(digit)
      index += 1
    }
    return index > 0 && (1...86_400).contains(value) ? value : nil
  }
}
