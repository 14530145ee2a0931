import DeeplinkRouting
import Testing

@Suite struct RouteTableTests {
  /// Two routes in one manifest, `a` before `b`, and which of them a link reaches.
  struct Contest: Sendable, CustomTestStringConvertible {
    var a: JSONValue
    var b: JSONValue
    var link: String
    var winner: String?
    var testDescription: String { "\(a) | \(b) | \(link)" }

    init(_ a: JSONValue, _ b: JSONValue, _ link: String, _ winner: String?) {
      self.a = a
      self.b = b
      self.link = link
      self.winner = winner
    }
  }

  static let contests: [Contest] = [
    Contest("/:x", "/a", "/a", "b"),
    Contest("/:x", "/a", "/c", "a"),
    Contest("/:x", "/a:x", "/ab", "b"),
    Contest("/a:x", "/ab:x", "/abc", "b"),
    Contest("/:x+", "/:x", "/a", "b"),
    Contest("/:x+", "/:x", "/a/b", "a"),
    Contest("/*", "/:x+", "/a", "b"),
    Contest("/*", "/:x", "/a/b", "a"),
    Contest("/:x/b", "/a/:x", "/a/b", "b"),
    Contest("/a/:x?", ["match": "/a", "parameters": ["q": ["required": true]]], "/a", "a"),
    Contest("/a/:x?", ["match": "/a", "parameters": ["q": ["required": true]]], "/a?q=1", "b"),
    Contest("//h/:x", "//:h/a", "//h/a", "a"),
    Contest("//:h/a", "//h/*", "//h/a", "b"),
    Contest(":x", "/:x", "a", "a"),
    Contest(":x", "/:x", "/a", "b"),
    Contest("//a", "/a", "//a", "a"),
    Contest("//a", "/a", "//a/", "a"),
    Contest("//a", "/a", "/a", "b"),
    Contest("//a", "/a", "///a", nil),
    Contest("//a", "///a", "///a", "b"),
    Contest("/a", "/b", "/A", nil),
    Contest("/%61", "/b", "/a", "a"),
    Contest("/a b", "/b", "/a%20b", "a"),
    // the same form: what they require decides, then the order in the manifest
    Contest(
      ["match": "/:x"], ["match": "/:y", "parameters": ["q": ["required": true]]], "/a?q=1", "b"),
    Contest(
      ["match": "/:x"], ["match": "/:y", "parameters": ["q": ["required": true]]], "/a", "a"),
    Contest(
      ["match": "/:x"], ["match": "/:y", "parameters": ["q": [:]]], "/a?q=1", "a"),
    Contest(
      ["match": "/:x", "parameters": ["x": ["type": "integer"]]], ["match": "/:y"], "/7", "a"),
    Contest(
      ["match": "/:x", "parameters": ["x": ["type": "integer"]]], ["match": "/:y"], "/seven", "b"),
    // a value that does not fit: the next, less specific one
    Contest(
      ["match": "/a/:x", "parameters": ["x": ["format": "uuid"]]], ["match": "/*"], "/a/b", "b"),
    Contest(["match": "/:x", "fragment": "s"], ["match": "/:y"], "/a#s", "a"),
    Contest(["match": "/:x", "fragment": "s"], ["match": "/:y"], "/a#t", "b"),
    // the second pattern of a route
    Contest(["match": ["/b", "/:x/c"]], ["match": "/a/:x"], "/a/c", "b"),
    Contest(["match": ["/b", "/a/c"]], ["match": "/a/:x"], "/a/c", "a"),
  ]

  @Test(arguments: contests)
  func `the most specific route wins, not the first`(_ row: Contest) throws {
    func route(_ name: JSONValue, _ value: JSONValue) -> JSONValue {
      var members = value.object ?? ["match": value]
      members["name"] = name
      members["action"] = ["notify": ["title": "t"]]
      return Manifest.route(members)
    }
    let plugin = try Manifest.load(
      Manifest.plugin(["routes": [route("a", row.a), route("b", row.b)]]))
    let table = RouteTable(plugins: [plugin])
    #expect(try Self.routes(table, "com.example.photos:\(row.link)").first == row.winner)
  }

  @Test func `every row of the table ran`() { #expect(Self.contests.count == 33) }

  @Test func `a declined link goes to the next route, and no route is tried twice`() throws {
    let table = RouteTable(plugins: [
      try Manifest.load(
        Manifest.plugin([
          "routes": [
            Manifest.route(["name": "any", "match": "/*", "action": ["notify": ["title": "t"]]]),
            Manifest.route([
              "name": "both", "match": ["/a/:x", "/:y/b"], "action": ["notify": ["title": "t"]],
            ]),
            Manifest.route(["name": "exact", "match": "/a/b", "action": ["notify": ["title": "t"]]]
            ),
          ]
        ]))
    ])
    #expect(try Self.routes(table, "com.example.photos:/a/b") == ["exact", "both", "any"])
  }

  // MARK: whose scheme

  static func plugin(
    _ id: String, _ match: JSONValue, _ members: [String: JSONValue] = [:]
  ) throws -> Plugin {
    let route = Manifest.route([
      "name": .string(id), "match": match, "action": ["notify": ["title": "t"]],
    ])
    let base: [String: JSONValue] = [
      "id": .string("com.example.\(id)"), "schemes": ["x.y"], "routes": [route],
    ]
    return try Manifest.load(Manifest.plugin(base.merging(members) { $1 }))
  }

  @Test func `a better match of another plugin does not count on a scheme that it does not own`()
    throws
  {
    let table = RouteTable(plugins: [try Self.plugin("a", "/:x"), try Self.plugin("b", "/login")])
    #expect(try Self.routes(table, "x.y:/login") == ["a"])
    #expect(table.owner(of: "x.y")?.id.text == "com.example.a")
  }

  @Test func `the person's choice of an owner counts, if it claims the scheme`() throws {
    let plugins = [
      try Self.plugin("a", "/:x"), try Self.plugin("b", "/login"),
      try Self.plugin("c", "/login", ["schemes": ["other.scheme"]]),
    ]
    func owner(_ id: String) throws -> String? {
      RouteTable(plugins: plugins, owners: ["x.y": try PluginID(id)]).owner(of: "x.y")?.id.text
    }
    #expect(try owner("com.example.b") == "com.example.b")
    #expect(try owner("com.example.c") == "com.example.a")
    #expect(try owner("com.example.gone") == "com.example.a")
  }

  @Test func `an owner shares its scheme with those it names, and only where they claim it`() throws
  {
    let table = RouteTable(plugins: [
      try Self.plugin(
        "a", "/:x", ["sharedWith": ["com.example.b", "com.example.c"], "schemes": ["x.y", "z.y"]]),
      try Self.plugin("b", "/login"), try Self.plugin("c", "/login", ["schemes": ["w.y"]]),
      try Self.plugin("d", "/login"),
    ])
    #expect(try Self.routes(table, "x.y:/login") == ["b", "a"])
    #expect(try Self.routes(table, "z.y:/login") == ["a"])
    #expect(try Self.routes(table, "w.y:/login") == ["c"])
    #expect(table.members(of: "x.y").map(\.id.text) == ["com.example.a", "com.example.b"])
    #expect(table.schemes == ["w.y", "x.y", "z.y"])
  }

  @Test func `a link of an approved domain reaches the plugin that it approves, and no other`()
    throws
  {
    let domains: [String: JSONValue] = [
      "associatedDomains": ["applinks:example.com"], "appIDs": ["A.com.example.a"],
    ]
    let table = RouteTable(plugins: [
      try Self.plugin("a", "//example.com/recipes/:id", domains),
      try Self.plugin("b", "//example.com/recipes/7", domains),
      try Self.plugin("c", "//example.com/*"),
    ])
    let link = try Link(admitting: Array("https://Example.com/recipes/7".utf8))
    func names(_ id: String) throws -> [String] {
      try table.matches(for: link, approvedFor: PluginID("com.example.\(id)")).map(\.route.name)
    }
    #expect(try names("a") == ["a"])
    #expect(try names("b") == ["b"])
    #expect(throws: Refusal.self) { try names("c") }
    #expect(throws: Refusal.self) { try table.matches(for: link) }
    let approved = try PluginID("com.example.a")
    let json = explain(link.received, table: table, approvedFor: approved).json
    #expect(json["accepted"] == true && json["parameters"] == ["id": "7"])
  }

  @Test
  func `more than 64 routes of several plugins with one form leave the rest out, with a word`()
    throws
  {
    func many(_ id: String, _ members: [String: JSONValue]) throws -> Plugin {
      let routes = (0..<40).map { index in
        Manifest.route([
          "name": .string("\(id)\(index)"), "match": "/:x",
          "parameters": ["x": ["enum": [.string("\(id)\(index)")]]],
        ])
      }
      return try Self.plugin(id, "/", ["routes": .array(routes)].merging(members) { $1 })
    }
    let table = RouteTable(plugins: [
      try many("a", ["sharedWith": ["com.example.b"]]), try many("b", [:]),
    ])
    #expect(table.diagnostics.count == 16)
    #expect(try Self.routes(table, "x.y:/b23") == ["b23"])
    #expect(throws: Refusal.self) { try Self.routes(table, "x.y:/b24", orThrow: true) }
  }

  // MARK: refusals

  struct Refused: Sendable, CustomTestStringConvertible {
    var link: String
    var code: Refusal.Code
    var message: String
    var hint: String?
    var testDescription: String { link }
  }

  static let refused: [Refused] = [
    Refused(
      link: "myphotoap:x", code: .schemeNotRegistered, message: "no plugin opens 'myphotoap' links",
      hint: "did you mean 'myphotoapp'? `deeplink schemes` shows the schemes in use"),
    Refused(
      link: "zzz:x", code: .schemeNotRegistered, message: "no plugin opens 'zzz' links",
      hint: "`deeplink schemes` shows the schemes in use"),
    Refused(
      link: "myphotoapp://user@album/x", code: .credentials,
      message: "the link carries a user name or password, which no plugin of its scheme takes"),
    Refused(
      link: "myphotoapp:/Import", code: .noRoute,
      message:
        "no route takes the link; the nearest is 'import': the link differs in capitals from '/import'"
    ),
    Refused(
      link: "myphotoapp:/import/", code: .noRoute,
      message: "no route takes the link; the nearest is 'import': "
        + "the link has a '/' at the end that '/import' has not"),
    Refused(
      link: "myphotoapp://import", code: .noRoute,
      message: "no route takes the link; the nearest is 'import': "
        + "'/import' takes links with one '/' after the colon"),
    Refused(
      link: "myphotoapp://album/a/b", code: .noRoute,
      message:
        "no route takes the link; the nearest is 'show-album': neither ':album' nor '//album/:album' fits"
    ),
    Refused(
      link: "myphotoapp:/import", code: .parameter,
      message: "route 'import': parameter 'from' is missing"),
    Refused(
      link: "myphotoapp:/import?from=javascript:SECRET", code: .parameter,
      message: "route 'import': parameter 'from' must be a URL with the scheme https"),
    Refused(
      link: "myphotoapp:x?index=SECRET", code: .parameter,
      message: "route 'show-album': parameter 'index' must be a whole number"),
  ]

  @Test(arguments: refused)
  func `a refusal says what and why, and never a value`(_ row: Refused) throws {
    let table = RouteTable(plugins: [try Photos.plugin()])
    let link = try Link(admitting: Array(row.link.utf8))
    #expect(throws: Refusal(row.code, row.message, hint: row.hint)) { try table.matches(for: link) }
    let decision = table.decide(link)
    #expect(decision.refusal == Refusal(row.code, row.message, hint: row.hint))
    #expect(decision.matches.isEmpty)
    #expect(!decision.candidates.contains { $0.matched || $0.reason.contains("SECRET") })
  }

  @Test func `credentials reach the plugins that take them, and no others`() throws {
    let table = RouteTable(plugins: [
      try Self.plugin("a", "//h/:x", ["sharedWith": ["com.example.b"]]),
      try Self.plugin("b", "//h/:y", ["allowsCredentials": true]),
    ])
    #expect(try Self.routes(table, "x.y://u:p@h/1") == ["b"])
    #expect(try Self.routes(table, "x.y://h/1") == ["a", "b"])
  }

  static func routes(
    _ table: RouteTable, _ link: String, orThrow: Bool = false
  ) throws -> [String] {
    let link = try Link(admitting: Array(link.utf8))
    do throws(Refusal) { return try table.matches(for: link).map(\.route.name) } catch {
      if orThrow { throw error }
      return []
    }
  }

  // MARK: size

  /// The benchmark measures 100,000; here it is the composition that counts.
  @Test func `twenty thousand routes of four plugins are one table`() throws {
    let routes = (0..<20_000).map { index -> JSONValue in
      [
        "name": .string("r\(index)"), "match": .string("//host\(index % 1_000)/a\(index)/:id"),
        "action": ["notify": ["title": "{id}"]],
      ]
    }
    let plugins = try (0..<4).map { part -> Plugin in
      try Self.plugin(
        "p\(part)", "/",
        [
          "routes": .array(Array(routes[(part * 5_000)..<((part + 1) * 5_000)])),
          "sharedWith": .array((0..<4).map { .string("com.example.p\($0)") }),
        ])
    }
    let table = RouteTable(plugins: plugins)
    #expect(table.diagnostics.isEmpty)
    let match = try table.matches(
      for: Link(admitting: Array("x.y://host999/a19999/7?q=1".utf8)))
    #expect(match.map(\.route.name) == ["r19999"])
    #expect(match.first?.parameters == ["id": .string("7")])
    #expect(throws: Refusal.self) {
      try table.matches(for: Link(admitting: Array("x.y://host999/a19998/7".utf8)))
    }
  }
}
