import DeeplinkTesting
import Foundation

/// One link to the demonstration's greeting, and what has to arrive of it whoever sends it.
struct LinkCase: Sendable {
  /// What is written as `name` in the link.
  let written: String
  /// The same in the canonical form.
  let canonical: String
  /// The parameter, decoded.
  let name: String

  init(_ written: String, _ canonical: String? = nil, _ name: String? = nil) {
    self.written = written
    self.canonical = canonical ?? written
    self.name = name ?? written
  }

  /// `=` is nobody's to touch, so the text stands where every client may do to it what it does.
  func url(_ start: String = "com.example.demo:greet") -> String { "\(start)?name=\(written)" }
  func canonicalURL(_ start: String = "com.example.demo:greet") -> String {
    "\(start)?name=\(canonical)"
  }

  /// What links hold that clients change, escape, decode or stumble over.
  static let all = [
    LinkCase("World"),
    LinkCase("hello world", "hello%20world"),
    LinkCase("hello%20world", nil, "hello world"),
    LinkCase("a+b"),
    LinkCase(#"a"b"#, "a%22b"),
    LinkCase("a'b"),
    LinkCase(#"a\b"#, "a%5Cb"),
    LinkCase("a|b", "a%7Cb"),
    LinkCase("a^b{c}d", "a%5Eb%7Bc%7Dd"),
    LinkCase("<a>", "%3Ca%3E"),
    LinkCase("`id`", "%60id%60"),
    LinkCase("$(id);a&b $HOME *", "$(id);a&b%20$HOME%20*", "$(id);a"),
    LinkCase("/*?[a]", "/*?%5Ba%5D"),
    LinkCase("%u%f%i%c%k%%", "%25u%25f%25i%25c%25k%25%25"),
    LinkCase("%zz%", "%25zz%25"),
    LinkCase("a%2525%25b", nil, "a%25%b"),
    LinkCase("a%2Fb%3Fc%23d%26e%3Df%3Bg", nil, "a/b?c#d&e=f;g"),
    LinkCase("%22%27%60%24%5C", "%22'%60%24%5C", #""'`$\"#),
    LinkCase("%41%7e%2D", "A~-", "A~-"),
    LinkCase("%c3%a9%2f", "%C3%A9%2F", "é/"),
    LinkCase("%C3%A9%E2%82%AC", nil, "é€"),
    LinkCase("café€😀", "caf%C3%A9%E2%82%AC%F0%9F%98%80"),
    LinkCase("a\u{202E}gpj.exe", "a%E2%80%AEgpj.exe"),
    LinkCase("--help"),
    LinkCase("com.example.demo:greet?name=x"),
    LinkCase("javascript:alert(1)"),
    LinkCase("a#b#c", "a#b%23c", "a"),
    LinkCase(String(repeating: "long ", count: 20).trimmed, longInCanonicalForm),
  ]

  private static let longInCanonicalForm = Array(repeating: "long", count: 20).joined(
    separator: "%20")
}

/// What the demonstration's worker writes for each link.
struct Record: Decodable, Equatable {
  let delivery: String
  let pid: Int
  let url: String
  let rawURL: String
  let parameters: [String: String]

  init(_ line: String) throws {
    self = try JSONDecoder().decode(Record.self, from: Data(line.utf8))
  }
}

extension Desktop {
  /// A desktop that opens the demonstration's links.
  static func withDemonstration(
    extra: [String: String] = [:], installedServices: Bool = false
  ) throws -> Desktop {
    let desktop = try Desktop(extra: extra, installedServices: installedServices)
    try desktop.register(Repository.root.appending(path: "data/plugins/com.example.demo"))
    // There before the worker is, for those who wait for its file.
    try FileManager.default.createDirectory(
      at: desktop.home(of: "com.example.demo"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    return desktop
  }

  /// Waits for `count` links in all, and gives the last one.
  func record(_ count: Int) throws -> Record {
    let file = home(of: "com.example.demo").appending(path: "received.jsonl")
    return try Record(waitForLines(count, in: file)[count - 1])
  }

  var records: [Record] {
    get throws {
      try lines(of: home(of: "com.example.demo").appending(path: "received.jsonl"))
        .map(Record.init)
    }
  }
}
