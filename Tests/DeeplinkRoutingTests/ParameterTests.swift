import DeeplinkRouting
import Testing

/// What a route with one declared parameter `p` makes of a link.
@Suite struct ParameterTests {
  enum Expected: Sendable, Equatable {
    case value(ParameterValue)
    case absent
    case refused(String)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var parameter: JSONValue
    var query: String
    var expected: Expected
    var route: [String: JSONValue]
    var testDescription: String { "\(parameter) \(query)" }

    init(
      _ parameter: JSONValue, _ query: String, _ expected: Expected,
      _ route: [String: JSONValue] = [:]
    ) {
      self.parameter = parameter
      self.query = query
      self.expected = expected
      self.route = route
    }
  }

  static func string(_ text: String) -> Expected { .value(.string(text)) }

  static let strings: [Row] = [
    Row([:], "?p=hello%20world", string("hello world")),
    Row([:], "?p=a%2520b", string("a%20b")),
    Row([:], "?p=%7Bx%7D", string("{x}")),
    Row([:], "?p=a+b", string("a+b")),
    Row([:], "?p=a+b%2Bc", string("a b+c"), ["formEncoded": true]),
    Row([:], "?p=", string("")),
    Row([:], "?p", .absent),
    Row([:], "", .absent),
    Row([:], "?", .absent),
    Row([:], "?&&p=1&&", string("1")),
    Row([:], "?%70=1", string("1")),
    Row([:], "?p=a=b=c", string("a=b=c")),
    Row([:], "?p=1;q=2", string("1;q=2")),
    Row([:], "?P=1", .absent),
    Row([:], "?p=1&p=2", .refused("is given more than once")),
    Row([:], "?p=1&%70=1", .refused("is given more than once")),
    Row([:], "?p=%FF", .refused("is not UTF-8")),
    Row([:], "?p=%C3%A9%F0%9F%98%80", string("é😀")),
    Row([:], "?p=é", string("é")),
    Row([:], "?p=100%", string("100%")),
    Row([:], "?p=a%00b", .refused("control character")),
    Row([:], "?p=a%0Ab", .refused("control character")),
    Row([:], "?p=a%7F", .refused("control character")),
    Row([:], "?p=%C2%9B1m", .refused("control character")),
    Row(["multiline": true], "?p=a%0D%0A%09b", string("a\r\n\tb")),
    Row(["multiline": true], "?p=%1B", .refused("control character")),
    Row(["required": true], "", .refused("is missing")),
    Row(["required": true], "?p", .refused("is missing")),
    Row(["required": true], "?p=", string("")),
    Row(["default": "d"], "", string("d")),
    Row(["default": "d"], "?p=", string("")),
    Row(["type": ["string", "null"]], "?p", .value(.null)),
    Row(["type": ["string", "null"]], "", .absent),
    Row(["type": ["string", "null"]], "?p=", string("")),
    Row(["minLength": 2], "?p=%C3%A9", .refused("at least 2 characters")),
    Row(["maxLength": 2], "?p=%C3%A9%C3%A9", string("éé")),
    Row(["maxLength": 2], "?p=abc", .refused("at most 2 characters")),
    Row(["enum": ["a", "b"]], "?p=b", string("b")),
    Row(["enum": ["a", "b"]], "?p=c", .refused("none of the values")),
    Row(["pattern": "[a-z]+"], "?p=abc", string("abc")),
    Row(["pattern": "[a-z]+"], "?p=abc1", .refused("does not match its pattern")),
    Row(["pattern": "a|b"], "?p=ab", .refused("does not match its pattern")),
    Row(["pattern": "(a+)+b"], "?p=\(String(repeating: "a", count: 5_000))", .refused("pattern")),
    Row(["from": "fragment"], "?p=q#p=f", string("f")),
    Row(["from": "fragment"], "?p=q", .absent),
    Row([:], "#p=f", .absent),
  ]

  static let types: [Row] = [
    Row(["type": "integer"], "?p=42", .value(.integer(42))),
    Row(["type": "integer"], "?p=-0", .value(.integer(0))),
    Row(["type": "integer"], "?p=007", .value(.integer(7))),
    Row(["type": "integer"], "?p=9223372036854775807", .value(.integer(.max))),
    Row(["type": "integer"], "?p=9223372036854775808", .refused("a whole number")),
    Row(["type": "integer"], "?p=1.0", .refused("a whole number")),
    Row(["type": "integer"], "?p=%2B1", .refused("a whole number")),
    Row(["type": "integer"], "?p=0x1", .refused("a whole number")),
    Row(["type": "integer"], "?p=%D9%A1", .refused("a whole number")),
    Row(["type": "integer"], "?p=", .refused("a whole number")),
    Row(["type": "integer"], "?p=1%20", .refused("a whole number")),
    Row(["type": "integer", "minimum": 1, "default": 1], "", .value(.integer(1))),
    Row(["type": "integer", "minimum": 1], "?p=0", .refused("at least 1")),
    Row(["type": "integer", "maximum": 9], "?p=10", .refused("at most 9")),
    Row(
      ["type": "integer", "maximum": 9007199254740992], "?p=9007199254740993", .refused("at most")),
    Row(["type": "integer", "enum": [1, 2]], "?p=2", .value(.integer(2))),
    Row(["type": "number"], "?p=-1.5e2", .value(.number(-150))),
    Row(["type": "number"], "?p=1", .value(.number(1))),
    Row(["type": "number"], "?p=1e999", .refused("a number")),
    Row(["type": "number"], "?p=nan", .refused("a number")),
    Row(["type": "number"], "?p=inf", .refused("a number")),
    Row(["type": "number"], "?p=.5", .refused("a number")),
    Row(["type": "number", "minimum": 0.5], "?p=0.4", .refused("at least 0.5")),
    Row(["type": "boolean"], "?p", .value(.boolean(true))),
    Row(["type": "boolean"], "?p=true", .value(.boolean(true))),
    Row(["type": "boolean"], "?p=0", .value(.boolean(false))),
    Row(["type": "boolean"], "?p=yes", .refused("true or false")),
    Row(["type": "boolean"], "?p=", .refused("true or false")),
    Row(["type": "boolean"], "", .absent),
    Row(["type": "array"], "?p=a&x=1&p=b,c", .value(.array([.string("a"), .string("b,c")]))),
    Row(["type": "array"], "?p=a", .value(.array([.string("a")]))),
    Row(["type": "array"], "", .absent),
    Row(["type": "array", "required": true], "", .refused("is missing")),
    Row(
      ["type": "array", "items": ["type": "integer"]], "?p=1&p=2",
      .value(.array([.integer(1), .integer(2)]))),
    Row(["type": "array", "items": ["type": "integer"]], "?p=1&p=x", .refused("a whole number")),
    Row(["type": "array", "default": ["a"]], "", .value(.array([.string("a")]))),
  ]

  static let formats: [Row] = {
    func row(_ format: JSONValue, _ text: String, _ fits: Bool) -> Row {
      let encoded = PercentEncoding.encodeComponent(text)
      return Row(
        ["format": format], "?p=\(encoded)", fits ? string(text) : .refused("in the format"))
    }
    return [
      row("uuid", "123e4567-E89B-12d3-a456-426614174000", true),
      row("uuid", "123e4567e89b12d3a456426614174000", false),
      row("uuid", "123e4567-e89b-12d3-a456-42661417400g", false),
      row("date", "2024-02-29", true),
      row("date", "2023-02-29", false),
      row("date", "2024-13-01", false),
      row("date", "2024-1-01", false),
      row("date-time", "2024-02-29T23:59:60Z", true),
      row("date-time", "2024-02-29t23:59:00.123+05:30", true),
      row("date-time", "2024-02-29T24:00:00Z", false),
      row("date-time", "2024-02-29T23:00:00", false),
      row("date-time", "2024-02-29T23:00:00.Z", false),
      row("date-time", "2024-02-29T23:00:00+5:30", false),
      row("email", "a.b+c@example.com", true),
      row("email", "a@b@c", false),
      row("email", "@example.com", false),
      row("email", "a@-b.c", false),
      row("uri", "https://example.com/a?b#c", true),
      row("uri", "example.com", false),
      row("uri", "https://[x", false),
      row("relative-path", "a/b.txt", true),
      row("relative-path", "a..b/..c", true),
      row("relative-path", "/etc/passwd", false),
      row("relative-path", "../x", false),
      row("relative-path", "a/../../x", false),
      row("relative-path", "a/..", false),
      row("relative-path", "", false),
      Row(["format": "relative-path"], "?p=%2e%2e%2fx", .refused("in the format")),
      Row(
        ["format": "uri", "schemes": ["https"]], "?p=javascript:alert(1)",
        .refused("with the scheme https")),
      Row(["format": "uri", "schemes": ["https"]], "?p=HTTPS://a", string("HTTPS://a")),
    ]
  }()

  @Test(arguments: strings + types + formats)
  func `a value is decoded once, typed, and held against its rule`(_ row: Row) throws {
    var members = row.route
    members["match"] = "/"
    members["parameters"] = ["p": row.parameter]
    members["action"] = ["notify": ["title": "t"]]
    let table = RouteTable(plugins: [try Manifest.load(Manifest.with(route: members))])
    let link = try Link(admitting: Array("com.example.photos:/\(row.query)".utf8))
    let found: Expected
    do throws(Refusal) {
      let match = try table.matches(for: link)[0]
      found = match.parameters["p"].map(Expected.value) ?? .absent
    } catch {
      #expect(error.code == .parameter)
      guard case .refused(let reason) = row.expected else {
        Issue.record("\(error)")
        return
      }
      #expect(error.message.contains(reason) && error.message.contains("'p'"), "\(error)")
      return
    }
    #expect(found == row.expected)
  }

  @Test func `every row of the tables ran`() {
    #expect(Self.strings.count == 46)
    #expect(Self.types.count == 36)
    #expect(Self.formats.count == 30)
  }

  struct Given: Sendable, CustomTestStringConvertible {
    var route: [String: JSONValue]
    var link: String
    /// Nil: refused.
    var parameters: [String: ParameterValue]?
    var testDescription: String { link }
  }

  /// What patterns capture, and what nobody declared.
  static let links: [Given] = [
    Given(route: ["match": "//a/:x"], link: "//a/b%2Fc", parameters: ["x": .string("b/c")]),
    Given(route: ["match": "//a/:x"], link: "//a/b+c", parameters: ["x": .string("b+c")]),
    Given(
      route: ["match": "//a/:x", "formEncoded": true], link: "//a/b+c",
      parameters: ["x": .string("b+c")]),
    Given(route: ["match": "//a/:x"], link: "//a/b?x=c", parameters: nil),
    Given(route: ["match": "//a/:x"], link: "//a/%FF", parameters: nil),
    Given(route: ["match": "//a/:x"], link: "//a/b?y=c&z", parameters: ["x": .string("b")]),
    Given(
      route: ["match": "//a/:x", "additionalParameters": "pass"], link: "//a/b?y=c&y=d&z&w=",
      parameters: [
        "x": .string("b"), "y": .array([.string("c"), .string("d")]), "z": .null, "w": .string(""),
      ]),
    Given(
      route: ["match": "//a/:x", "additionalParameters": "pass"], link: "//a/b?y=%00",
      parameters: nil),
    Given(
      route: ["match": "//a/:x", "additionalParameters": "pass"], link: "//a/b?%FF=1",
      parameters: nil),
    Given(
      route: ["match": "//a/:x", "additionalParameters": "refuse"], link: "//a/b?y", parameters: nil
    ),
    Given(
      route: ["match": "//a/:x", "additionalParameters": "refuse"], link: "//a/b?",
      parameters: ["x": .string("b")]),
    Given(
      route: ["match": "//a/:x", "additionalParameters": "refuse", "callback": true],
      link: "//a/b?x-success=https://c", parameters: ["x": .string("b")]),
    Given(
      route: ["match": "//a/:x+"], link: "//a/b/c%2Fd",
      parameters: ["x": .array([.string("b"), .string("c/d")])]),
    Given(route: ["match": "//a/:x*"], link: "//a", parameters: [:]),
    Given(
      route: [
        "match": "//a/:x+",
        "parameters": ["x": ["type": "array", "items": ["format": "relative-path"]]],
      ],
      link: "//a/b/%2e%2e%2fc", parameters: nil),
    Given(route: ["match": "//a/:x?"], link: "//a", parameters: [:]),
    Given(
      route: ["match": "//a/:x?", "parameters": ["x": ["default": "d"]]], link: "//a",
      parameters: ["x": .string("d")]),
    Given(
      route: ["match": "//a/:x?", "parameters": ["x": ["required": true]]], link: "//a",
      parameters: nil),
    Given(route: ["match": "//a/*"], link: "//a/b/c", parameters: [:]),
    Given(
      route: ["match": "//:x/", "parameters": ["x": ["type": "integer"]]], link: "//7/",
      parameters: ["x": .integer(7)]),
    Given(
      route: ["match": ["//a", "//a/:x"], "parameters": ["x": [:]]], link: "//a?x=q",
      parameters: ["x": .string("q")]),
    Given(
      route: ["match": "//a/:x", "fragment": "s-:s"], link: "//a/b#s-c%20d",
      parameters: ["x": .string("b"), "s": .string("c d")]),
    Given(route: ["match": "//a/:x", "fragment": "s-:s"], link: "//a/b#t", parameters: nil),
    Given(
      route: ["match": "//cb", "preset": "oauth-redirect"],
      link: "//cb?code=a+b%2B&state=s&session_state=x",
      parameters: ["code": .string("a b+"), "state": .string("s"), "session_state": .string("x")]),
    Given(
      route: ["match": "//cb", "preset": "oauth-redirect"],
      link: "//cb#access_token=t&state=s&expires_in=3600",
      parameters: [
        "access_token": .string("t"), "state": .string("s"), "expires_in": .string("3600"),
      ]),
    Given(
      route: ["match": "//cb", "preset": "oauth-redirect"], link: "//cb?code=a#code=b",
      parameters: nil),
  ]

  @Test(arguments: links)
  func `captured, additional and preset parameters`(_ row: Given) throws {
    var members = row.route
    members["action"] = ["notify": ["title": "t"]]
    let table = RouteTable(plugins: [try Manifest.load(Manifest.with(route: members))])
    let link = try Link(admitting: Array("com.example.photos:\(row.link)".utf8))
    if let parameters = row.parameters {
      #expect(try table.matches(for: link)[0].parameters == parameters)
    } else {
      #expect(throws: Refusal.self) { try table.matches(for: link) }
    }
    #expect(Self.links.count == 26)
  }

  @Test func `many pairs are found by name as few are`() throws {
    let plugin = try Manifest.load(
      Manifest.with(route: [
        "match": "/", "action": ["notify": ["title": "t"]], "formEncoded": true,
        "parameters": [
          "p": ["required": true], "a b": [:], "l": ["type": "array"], "f": ["type": "boolean"],
        ],
      ]))
    let table = RouteTable(plugins: [plugin])
    let many = (0..<5_000).map { "x\($0)=1" }.joined(separator: "&")
    func parameters(_ query: String) throws -> [String: ParameterValue] {
      try table.matches(for: Link(admitting: Array("com.example.photos:/?\(query)".utf8)))[0]
        .parameters
    }
    let query = "a+b=1&f&l=1&%70=2&l=2"
    #expect(try parameters("\(many)&\(query)") == parameters(query))
    #expect(
      try parameters(query) == [
        "a b": .string("1"), "f": .boolean(true), "p": .string("2"),
        "l": .array([.string("1"), .string("2")]),
      ])
    #expect(throws: Refusal.self) { try parameters("\(many)&p=1&p=2") }
    #expect(throws: Refusal.self) { try parameters(many) }
  }

  @Test func `callbacks are told apart from parameters`() throws {
    let plugin = try Manifest.load(
      Manifest.with(route: [
        "match": "//a", "callback": true, "additionalParameters": "pass",
        "action": ["notify": ["title": "t"]],
      ]))
    let table = RouteTable(plugins: [plugin])
    func match(_ query: String) throws -> Match {
      try table.matches(for: Link(admitting: Array("com.example.photos://a?\(query)".utf8)))[0]
    }
    let found = try match("x-success=app%3A%2F%2Fok%3Fa%3D1&x-source=Notes&b=2")
    #expect(found.parameters == ["b": .string("2")])
    #expect(found.callback == CallbackTargets(success: "app://ok?a=1", source: "Notes"))
    #expect(throws: Refusal.self) { try match("x-success=a&x-success=b") }
    #expect(throws: Refusal.self) { try match("x-cancel=%0A") }
  }
}
