import Foundation

/// The corpus: texts that did harm in other programs, each written into links in several ways, and
/// links that are to be turned away, with the refusal.
struct HostileLinks {
  /// A file that a shell, an option or a template would make.
  let canary: String
  /// A port of the loopback interface where somebody listens.
  let port: UInt16

  /// The kinds of actions that links are aimed at; `application` by D-Bus, `exec` by `Exec=`.
  static let kinds = [
    "command", "worker", "handler", "application", "exec", "call", "notify", "open",
  ]

  /// Stands in every link, and nowhere else afterwards.
  static let secret = "s3cr3t-0f-the-link"

  // MARK: texts that arrive as what they are

  var texts: [String] { shell + options + templates + places + structure + letters }

  private var shell: [String] {
    [
      ";touch \(canary)", "$(touch \(canary))", "`touch \(canary)`", "|touch \(canary)",
      "&& touch \(canary)", "|| touch \(canary)", "';touch \(canary);'", "\";touch \(canary);\"",
      "x';$(touch \(canary))'", "${IFS}touch${IFS}\(canary)", "> \(canary)", ">>\(canary)",
      "<(touch \(canary))", "{touch,\(canary)}", "$(curl -m1 http://127.0.0.1:\(port)/)",
      ";echo >/dev/tcp/127.0.0.1/\(port)", "a b  c", "*", "$HOME", "\\", "'", "\"", "!!", "# x",
    ]
  }

  private var options: [String] {
    [
      "--exec=touch \(canary)", "-e touch \(canary)", "-x", "-", "--", "--help", "--number=7",
      "--renderer-cmd-prefix=touch \(canary)", "--gpu-launcher=touch \(canary)",
      "-oProxyCommand=touch \(canary)", "--remote-debugging-port=\(port)", "@@ /etc/passwd @@",
      "@@u", "@@", "%u", "%f %F %i %c %k", "%%", "%action",
    ]
  }

  private var templates: [String] {
    [
      "{text}", "{url}", "{rawURL}", "{id}{source}{delivery}", "{number}", "{{", "}}", "{", "}",
      "{{7*7}}", "${7*7}", "#{7*7}", "<%= 7*7 %>",
      "{{constructor.constructor('touch \(canary)')()}}", "${jndi:ldap://127.0.0.1:\(port)/a}",
      "%(text)s", "$1", "\\1", "%s%n",
    ]
  }

  private var places: [String] {
    [
      "../../../../etc/passwd", "..", ".", "/etc/passwd", "~/.ssh/id_rsa", "%2e%2e%2f", "%00",
      "%0d%0aBcc: a@b.example", "file:///etc/passwd", "javascript:alert(1)", "vbscript:x",
      "data:text/html,<script>fetch('http://127.0.0.1:\(port)/')</script>",
      "http://127.0.0.1:\(port)/", "//127.0.0.1:\(port)/", "\\\\127.0.0.1\\share",
      "org.example.hostile:command?text=x",
    ]
  }

  private var structure: [String] {
    [
      "a&number=99&text=b", "a#b", "a?b", "a=b", "a;b", "a+b", "a/b", "'; DROP TABLE history; --",
      #"","handled":true,"x":""#, #"{"jsonrpc":"2.0","method":"shutdown"}"#, "null", "true", "[]",
      "<b>bold</b> & <img src=\"http://127.0.0.1:\(port)/x\">", "]]><x/>",
      "<a href=\"file:\(canary)\">x</a>", String(repeating: "A", count: 2000),
    ]
  }

  private var letters: [String] {
    ["\u{202E}gpj.exe", "\u{2066}a\u{2069}", "\u{200B}", "\u{FEFF}", "e\u{301}", "é€😀", "\u{2028}"]
  }

  // MARK: ways to write them

  struct Aimed: Sendable {
    let kind: String
    let number: Int
    let url: String
    let text: String
  }

  /// Every text at every kind, in as many ways as the kind is quick.
  var arriving: [Aimed] {
    var all: [Aimed] = []
    for kind in Self.kinds {
      for text in texts {
        for form in Self.forms(for: kind) {
          let number = all.count + 1
          let rest = "number=\(number)&token=\(Self.secret)"
          let url =
            form == .path
            ? "org.example.hostile:\(kind)/\(form.write(text))?\(rest)"
            : "org.example.hostile:\(kind)?text=\(form.write(text))&\(rest)"
          all.append(Aimed(kind: kind, number: number, url: url, text: text))
        }
      }
    }
    return all
  }

  enum Form { case escaped, raw, everyByte, path }

  /// A process for each link takes its time, and xdg-open takes more.
  private static func forms(for kind: String) -> [Form] {
    switch kind {
    case "open": [.escaped]
    case "command", "exec": [.raw, .path]
    default: [.escaped, .raw, .everyByte, .path]
    }
  }

  // MARK: links that are turned away

  struct Refused: Sendable {
    let url: String
    let code: String
  }

  /// At every kind, the wrong ones; then those that name no kind.
  var refused: [Refused] { Self.kinds.flatMap(refused(at:)) + nowhere }

  private func refused(at kind: String) -> [Refused] {
    let start = "org.example.hostile:\(kind)"
    let token = "token=\(Self.secret)"
    let badTexts = [
      "%00", "a%00b", "%0a", "%0d%0aBcc:%20a@b.example", "a%0Atouch%20\(canary)", "%1b[2J", "%7f",
      "%c0%af", "%c0%80", "%e0%80%af", "%ed%a0%80", "%f5%80%80%80", "%ff", "%09",
      String(repeating: "A", count: 2001), "a&text=b", "a&te%78t=b",
    ]
    let badNumbers = [
      "", "x", "1.5", "0x10", "-1", "1;2", "99999999999999999999", "%31%00", "1e400",
    ]
    let badFiles = [
      "..%2f..%2fetc%2fpasswd", "%2e%2e", "/etc/passwd", "a/../../b", "a%2f..%2f..%2fb",
    ]
    let badLinks = [
      "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd",
      "vbscript:x", "%20javascript:alert(1)", "java%0ascript:alert(1)", "//127.0.0.1:\(port)/",
      "http://127.0.0.1:\(port)/", "org.example.hostile:command",
    ]
    return badTexts.map { Refused(url: "\(start)?text=\($0)&number=1&\(token)", code: "Parameter") }
      + badNumbers.map { Refused(url: "\(start)?text=a&number=\($0)&\(token)", code: "Parameter") }
      + badFiles.map {
        Refused(url: "\(start)?text=a&number=1&file=\($0)&\(token)", code: "Parameter")
      }
      + badLinks.map {
        Refused(url: "\(start)?text=a&number=1&link=\($0)&\(token)", code: "Parameter")
      }
      + [
        Refused(url: "\(start)/a?text=b&number=1&\(token)", code: "Parameter"),
        Refused(url: "\(start)?number=1&\(token)", code: "Parameter"),
        Refused(url: "\(start)?text=a\n&number=1&\(token)", code: "ControlCharacter"),
        Refused(url: "\(start)?text=a\u{1b}[2J&number=1&\(token)", code: "ControlCharacter"),
        Refused(url: "\(start)?text=a\u{7f}&number=1&\(token)", code: "ControlCharacter"),
        Refused(
          url: "\(start)?text=\(String(repeating: "A", count: 66_000))&\(token)", code: "TooLong"),
        Refused(
          url: "org.example.hostile://me:\(Self.secret)@\(kind)?text=a&number=1",
          code: "Credentials"),
        Refused(url: "org.example.hostile:/\(kind)/../run?text=a&\(token)", code: "NoRoute"),
        Refused(
          url: "org.example.hostile:/\(kind)/%2e%2e/%2E./etc/passwd?\(token)", code: "NoRoute"),
        Refused(url: "\(start)/a/b?number=1&\(token)", code: "NoRoute"),
        Refused(url: "\(start)%2fa?number=1&\(token)", code: "NoRoute"),
        Refused(url: "\(start)%00?text=a&number=1&\(token)", code: "NoRoute"),
        Refused(url: "\(start);x?text=a&number=1&\(token)", code: "NoRoute"),
        Refused(url: "org.example.hostile://\(kind)?text=a&number=1&\(token)", code: "NoRoute"),
      ]
  }

  private var nowhere: [Refused] {
    let token = "token=\(Self.secret)"
    return [
      Refused(url: "org.example.hostile:run?command=touch%20\(canary)&\(token)", code: "NoRoute"),
      Refused(url: "org.example.hostile:exec/../../bin/sh?\(token)", code: "NoRoute"),
      Refused(url: "org.example.hostile:?\(token)", code: "NoRoute"),
      Refused(url: "javascript:alert(1)", code: "SchemeNotRegistered"),
      Refused(url: "JaVaScRiPt:alert(1)", code: "SchemeNotRegistered"),
      Refused(url: "data:text/html,x", code: "SchemeNotRegistered"),
      Refused(url: "file:///etc/passwd", code: "SchemeNotRegistered"),
      Refused(url: "vbscript:x", code: "SchemeNotRegistered"),
      Refused(url: "http://127.0.0.1:\(port)/?\(token)", code: "SchemeNotRegistered"),
      Refused(url: "org.example.hostile.evil:command", code: "SchemeNotRegistered"),
      Refused(url: "org.example.hostil\u{435}:command?text=a", code: "NotAbsolute"),
      Refused(url: "\u{202e}org.example.hostile:command?text=a", code: "NotAbsolute"),
      Refused(url: "org.example.hostile%3Acommand?text=a", code: "NotAbsolute"),
      Refused(url: "org.example.hostile :command?text=a", code: "NotAbsolute"),
      Refused(url: "--exec=touch \(canary)", code: "NotAbsolute"),
      Refused(url: "-x", code: "NotAbsolute"),
      Refused(url: "@@u", code: "NotAbsolute"),
      Refused(url: "/etc/passwd", code: "NotAbsolute"),
      Refused(url: "//127.0.0.1:\(port)/", code: "NotAbsolute"),
      Refused(url: "", code: "Empty"),
      Refused(url: " \t\n ", code: "Empty"),
      Refused(url: "[Invalid UTF-8]", code: "NotUtf8"),
      Refused(url: "org.example.hostile://[::1/command?\(token)", code: "Malformed"),
    ]
  }
}

extension HostileLinks.Form {
  func write(_ text: String) -> String {
    let bytes = text.utf8.flatMap { byte in
      let isKept =
        switch self {
        case .everyByte: false
        // What would end the value, and the percent sign, which would begin an escape.
        case .raw: !"%&#".utf8.contains(byte)
        case .escaped, .path: Self.unreserved.contains(byte)
        }
      return isKept ? [byte] : Array(String(format: "%%%02x", byte).utf8)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let unreserved = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
}
