import DeeplinkRouting
import Testing

@Suite struct TemplateTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var template: String
    var result: String
    var testDescription: String { template }
  }

  static let rows: [Row] = [
    Row(template: "", result: ""),
    Row(template: "plain", result: "plain"),
    Row(template: "{a}", result: "<a>"),
    Row(template: "x{a}y{b}z", result: "x<a>y<b>z"),
    Row(template: "{a}{a}", result: "<a><a>"),
    Row(template: "{{a}}", result: "{a}"),
    Row(template: "{{{a}}}", result: "{<a>}"),
    Row(template: "{{}}", result: "{}"),
    Row(template: "{a b}", result: "<a b>"),
    Row(template: "é{a}😀", result: "é<a>😀"),
  ]

  @Test(arguments: rows)
  func `names are replaced and doubled braces are braces`(_ row: Row) throws {
    #expect(try Template(row.template).text { "<\($0)>" } == row.result)
  }

  @Test(arguments: ["{", "}", "{}", "a}b", "{a", "{a{b}", "{{{", "}}}"])
  func `lone braces and empty names are refused`(_ text: String) {
    #expect(throws: Template.Invalid.self) { try Template(text) }
  }

  @Test func `every row of the table ran`() { #expect(Self.rows.count == 10) }

  /// Whatever the values are: as many arguments as the manifest has, and each value once, as it is.
  @Test func `substitution never changes the number of arguments nor looks at a value`() throws {
    let plugin = try Manifest.load(
      Manifest.with(
        action: [
          "command": ["run": ["p", "--", "{a}", "{b}", "x{a}{b}", "{id}", "", "{{a}} {c}"]]
        ], ["a": [:], "b": [:], "c": ["type": "array"]]))
    let route = try #require(plugin.routes.first)
    guard case .command(let command) = route.action else { return #expect(Bool(false)) }
    var generator = SplitMix(state: 7)
    let alphabet = Array(" '\"\\$`{}%&;|<>*?\n\t-=/abé😀").map(String.init) + ["{a}", "{url}", "--"]
    func value() -> String {
      (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      }.joined()
    }
    var runs = 0
    for _ in 0..<2_000 {
      let (a, b, c, d) = (value(), value(), value(), value())
      let substitution = Substitution(
        route: route,
        parameters: ["a": .string(a), "b": .string(b), "c": .array([.string(c), .string(d)])],
        facts: Substitution.Facts(url: "u", rawURL: "r", id: "7", source: "s", delivery: "launch"))
      #expect(
        command.arguments(substitution)
          == ["p", "--", a, b, "x\(a)\(b)", "7", "", "{a} \(c),\(d)"])
      runs += 1
    }
    #expect(runs == 2_000)
  }

  @Test func `an absent parameter is an empty argument`() throws {
    let plugin = try Manifest.load(
      Manifest.with(action: ["command": ["run": ["p", "--", "{a}", "b"]]], ["a": [:]]))
    let route = try #require(plugin.routes.first)
    guard case .command(let command) = route.action else { return #expect(Bool(false)) }
    #expect(command.arguments(Self.substitution(route, [:])) == ["p", "--", "", "b"])
  }

  @Test func `parameters come before facts, and captured paths are paths again`() throws {
    let plugin = try Manifest.load(
      Manifest.with(route: [
        "match": "//:host/f/:path+", "parameters": ["id": [:], "path": ["type": "array"]],
        "action": ["notify": ["title": "{id} {url} {path} {delivery}"]],
      ]))
    let route = try #require(plugin.routes.first)
    guard case .notify(let notify) = route.action else { return #expect(Bool(false)) }
    let substitution = Self.substitution(
      route, ["id": .string("mine"), "path": .array([.string("a"), .string("b")])])
    #expect(notify.title.text(substitution.text) == "mine u a/b launch")
  }

  @Test func `what stands around a received link does not reach an argument`() throws {
    let link = try Link(admitting: Array("\0 \nMyApp:a%41 b \u{1F}".utf8))
    let facts = Substitution.Facts(link: link, id: "1", source: "s", delivery: "running")
    #expect(facts.rawURL == "MyApp:a%41 b" && facts.url == "myapp:aA%20b")
  }

  @Test func `arguments of a call keep their types`() throws {
    let plugin = try Manifest.load(
      Manifest.with(
        action: [
          "call": [
            "busName": "a.b", "path": "/", "interface": "a.b", "member": "M", "signature": "xsav",
            "arguments": ["{n}", "n={n}", ["{n}", 2, ["k": "{x}", "d": "{delivery}"]]],
          ]
        ], ["n": ["type": "integer"]]))
    let route = try #require(plugin.routes.first)
    guard case .call(let call) = route.action else { return #expect(Bool(false)) }
    let substitution = Self.substitution(route, ["n": .integer(3), "x": .string("{n}")])
    #expect(
      call.values(substitution) == [3, "n=3", [3, 2, ["k": "{n}", "d": "launch"]]])
  }

  struct Opened: Sendable, CustomTestStringConvertible {
    var template: String
    var value: [String]
    var url: String?
    var testDescription: String { "\(template) \(value)" }
  }

  static let opened: [Opened] = [
    Opened(
      template: "https://example.com/{x}", value: ["a b/c?d#e"],
      url: "https://example.com/a%20b%2Fc%3Fd%23e"),
    Opened(
      template: "https://example.com/{x}", value: ["a", "b c"], url: "https://example.com/a/b%20c"),
    Opened(
      template: "https://example.com/?q={x}", value: ["a&b=c+d"],
      url: "https://example.com/?q=a%26b%3Dc%2Bd"),
    Opened(
      template: "https://example.com/?q={x}", value: ["a", "b"], url: "https://example.com/?q=a,b"),
    Opened(template: "https://example.com/a/{x}/b", value: [".."], url: nil),
    Opened(template: "https://example.com/a/{x}/b", value: ["..", "..", "c"], url: nil),
    Opened(
      template: "https://example.com/a/{x}", value: ["%2e%2e"],
      url: "https://example.com/a/%252e%252e"),
    Opened(template: "https://example.com/a/.{x}", value: ["."], url: nil),
    Opened(template: "https://example.com/?q={x}", value: [".."], url: "https://example.com/?q=.."),
    Opened(template: "app:/{x}/b", value: [""], url: nil),
    Opened(template: "app:/{x}/b", value: ["c"], url: "app:/c/b"),
    Opened(template: "app:{x}", value: ["", "", "evil"], url: nil),
    Opened(template: "app:{x}", value: ["//evil"], url: "app:%2F%2Fevil"),
    Opened(template: "mailto:{x}", value: ["a@b.c?bcc=d"], url: "mailto:a%40b.c%3Fbcc%3Dd"),
  ]

  @Test(arguments: opened)
  func `the URL of an open action stays the author's`(_ row: Opened) throws {
    #expect(try URLTemplate(row.template).url { _ in row.value } == row.url)
  }

  @Test(arguments: [
    "{x}:b", "https:{x}", "https://{x}/", "https://a{x}/", "https://a:{x}/", "https://u@a/{x}",
    "https:\\\\a/{x}", "https:///{x}", "https://a/../{x}", "https://a/%2E%2e/{x}", "a b:{x}",
    "myapp://{x}", "https://a/b c", "file:///{x}", "data:{x}", "JAVASCRIPT:{x}", "no scheme", "",
  ])
  func `a URL whose scheme or host a link could choose is refused`(_ text: String) {
    #expect(throws: Template.Invalid.self) { try URLTemplate(text) }
  }

  static func substitution(
    _ route: Route, _ parameters: [String: ParameterValue]
  ) -> Substitution {
    Substitution(
      route: route, parameters: parameters,
      facts: Substitution.Facts(url: "u", rawURL: "r", id: "7", source: "s", delivery: "launch"))
  }
}

/// A generator whose sequence is the same in each run (Steele, Lea and Flood 2014).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
