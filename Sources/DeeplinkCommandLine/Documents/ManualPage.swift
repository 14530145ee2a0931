import DeeplinkRouting
import Glibc

/// A page of the manual, made from its template in `data/man`.
///
/// Prose is the template's; what the sources know is filled in, each in place of a line of its own:
/// `@commands@`, `@refusals@`, `@remarks@`, and `@date@` anywhere.
struct ManualPage {
  let text: String

  init(template: String, root: Command, date: String) {
    text = template.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      switch line {
      case "@commands@": ManualSection(root).text
      case "@refusals@":
        Self.list(Refusal.Code.allCases.map { ($0.rawValue, $0.meaning) })
      case "@remarks@": Self.list(Remark.allCases.map { ($0.rawValue, $0.description) })
      case ".Dd @date@": ".Dd \(date)"
      default: String(line)
      }
    }.joined(separator: "\n")
  }

  /// `January 2, 2026`, as mdoc(7) wants it: of `SOURCE_DATE_EPOCH`, or now.
  static func date(_ environment: [String: String]) -> String {
    let now = time(nil)
    var seconds = environment["SOURCE_DATE_EPOCH"].flatMap(Int.init) ?? now
    var parts = unsafe tm()
    guard unsafe gmtime_r(&seconds, &parts) != nil else { return "January 1, 1970" }
    let (month, day, year) = unsafe (parts.tm_mon, parts.tm_mday, parts.tm_year)
    return "\(months[Int(month)]) \(day), \(1900 + year)"
  }

  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  private static func list(_ items: [(word: String, meaning: String)]) -> String {
    let width = items.map(\.word).max { $0.count < $1.count } ?? ""
    let lines = items.map { item in
      ".It Li \(item.word)\n\(ManualSection.escaped(Help.sentence(item.meaning)))"
    }
    return ([".Bl -tag -width \"\(width)\" -compact"] + lines + [".El"]).joined(separator: "\n")
  }
}

extension Refusal.Code {
  /// When a link is refused with this code.
  fileprivate var meaning: String {
    switch self {
    case .empty: "no bytes, or blanks alone"
    case .tooLong: "more bytes than are allowed, 65,536 unless set otherwise"
    case .notUTF8: "the bytes are not UTF-8"
    case .controlCharacter: "a raw control character inside the link"
    case .notAbsolute: "there is no scheme"
    case .malformed: "it is no URL, for its host or port"
    case .schemeNotRegistered: "no plugin in use has the scheme"
    case .rateLimited: "too many links in too short a time"
    case .loop: "a link that the daemon sent out itself, and that came back too often"
    case .credentials: "a user name or password, which the plugin does not take"
    case .noRoute: "no route fits"
    case .parameter:
      "a parameter is missing, is not what the manifest declares, or is given twice"
    case .queueFull: "too many links wait for this app already"
    }
  }
}
