import DeeplinkRouting
import Testing

@Suite struct ManifestTests {
  @Test(arguments: InvalidManifest.all)
  func `a manifest with a mistake is refused with its place and reason`(_ row: InvalidManifest) {
    let (plugin, diagnostics) = Plugin.read(
      Array(row.document.description.utf8), file: "p/plugin.json")
    #expect(plugin == nil)
    let errors = diagnostics.filter { $0.severity == .error }
    #expect(
      errors.contains { $0.path == row.path && $0.reason.contains(row.reason) },
      "\(errors)")
    #expect(errors.allSatisfy { $0.file == "p/plugin.json" })
  }

  @Test(arguments: ValidManifest.all)
  func `a right manifest is loaded without an error`(_ row: ValidManifest) throws {
    let (plugin, diagnostics) = Plugin.read(Array(row.document.description.utf8), file: "p")
    #expect(plugin != nil, "\(diagnostics)")
  }

  @Test func `every row of the tables ran`() {
    #expect(InvalidManifest.all.count == 135)
    #expect(ValidManifest.all.count == 30)
  }

  @Test func `all mistakes are reported at once, with hints`() {
    let text = """
      { // a comment
        id: 'Photos', name: 'Photos', schemes: ['MyApp', 'my app'], ruotes: [],
        routes: [{ name: 'a', match: '/a/:x(\\\\d+)', parameters: { n: { typ: 'integer' } },
                   action: { notfy: { title: 'x' } } }],
      }
      """
    let (plugin, diagnostics) = Plugin.read(Array(text.utf8), file: "plugin.json")
    #expect(plugin == nil)
    let found = Dictionary(
      diagnostics.map { ($0.path, $0.hint) }, uniquingKeysWith: { first, _ in first })
    #expect(
      Set(found.keys) == [
        "$.ruotes", "$.id", "$.schemes[0]", "$.schemes[1]", "$.routes[0].match",
        "$.routes[0].parameters.n.typ", "$.routes[0].action.notfy",
      ])
    #expect(found["$.ruotes"] == "did you mean 'routes'?")
    #expect(found["$.schemes[0]"] == "'myapp'")
    #expect(found["$.routes[0].parameters.n.typ"] == "did you mean 'type'?")
    #expect(found["$.routes[0].action.notfy"] == "did you mean 'notify'?")
    #expect(found["$.routes[0].match"]??.contains("use a parameter's pattern") == true)
  }

  @Test func `a diagnostic reads as file, place, reason, hint`() {
    let text = "{\"id\": \"com.example.A\",\n \"name\" \"x\"}"
    #expect(
      Plugin.read(Array(text.utf8), file: "a/plugin.json").diagnostics.map(\.description)
        == ["a/plugin.json: line 2, column 9: expected ':' after the key 'name'"])
    let (_, diagnostics) = Plugin.read(
      Array(Manifest.plugin(["icn": "x"]).description.utf8), file: "a/plugin.json")
    #expect(
      diagnostics.map(\.description)
        == ["a/plugin.json: $.icn: unknown key 'icn'\nhint: did you mean 'icon'?"])
    #expect(
      diagnostics.first?.json["path"] == "$.icn" && diagnostics.first?.json["severity"] == "error")
  }

  @Test func `the example of the documentation is read as it is meant`() throws {
    let text = """
      {
        "id": "com.example.Photos",
        "name": {"en": "Photos", "de": "Fotos"},
        "schemes": ["com.example.photos", "myphotoapp"],
        "routes": [
          {
            "name": "show-album",
            "title": "Show the album {album}",
            "match": [":album", "//album/:album"],
            "parameters": {
              "album": { "type": "string", "maxLength": 200 },
              "index": { "type": "integer", "minimum": 1, "default": 1 },
            },
            "action": { "handler": { "busName": "com.example.Photos",
                                     "launch": ["/usr/bin/photos", "--service"] } }
          },
          {
            "name": "import",
            "match": "/import",
            "parameters": { "from": { "type": "string", "format": "uri", "schemes": ["https"],
                                      "required": true } },
            "action": { "command": { "run": ["photos-import", "--", "{from}"],
                                     "sandbox": { "network": true } } }
          }
        ]
      }
      """
    let (plugin, diagnostics) = Plugin.read(Array(text.utf8), file: "plugin.json", folder: "/p")
    let photos = try #require(plugin)
    #expect(diagnostics.map(\.path) == ["$.schemes[1]"])
    #expect(photos.name.standard == "Photos" && photos.name.translations["de"] == "Fotos")
    #expect(photos.schemes == ["com.example.photos", "myphotoapp"])
    #expect(photos.folder == "/p")
    let show = try #require(photos.route("show-album"))
    #expect(show.effect == .view && show.consent == .notAsked && show.timeout == nil)
    #expect(show.parameters.map(\.name) == ["album", "index"])
    #expect(show.parameter("index")?.standard == .integer(1))
    guard case .handler(let handler) = show.action else { return #expect(Bool(false)) }
    #expect(handler.launch == ["/usr/bin/photos", "--service"])
    #expect(handler.limits == TargetLimits())
    let importing = try #require(photos.route("import"))
    #expect(importing.effect == .change && importing.consent == .atFirstUse)
    #expect(importing.action.sandbox?.description == "network")
    guard case .command(let command) = importing.action else { return #expect(Bool(false)) }
    #expect(command.timeLimit == .seconds(30) && command.input == nil)
  }

  @Test func `the preset declares what a sign-in answer carries`() throws {
    let plugin = try Manifest.load(
      Manifest.with(route: [
        "match": "/callback", "preset": "oauth-redirect", "action": ["notify": ["title": "done"]],
        "parameters": ["state": ["required": true]],
      ]))
    let route = try #require(plugin.routes.first)
    #expect(
      route.parameters.map(\.name)
        == ["code", "error", "error_description", "error_uri", "iss", "scope", "state"])
    #expect(route.parameters.allSatisfy { $0.isSensitive })
    #expect(route.isFormEncoded && route.additionalParameters == .pass)
    #expect(route.parameter("state")?.isRequired == true)
    #expect(route.parameter("code")?.place == .queryOrFragment)
  }

  struct Warned: Sendable, CustomTestStringConvertible {
    var document: JSONValue
    var path: String
    var reason: String
    var testDescription: String { reason }
  }

  static let warned: [Warned] = [
    Warned(
      document: Manifest.plugin(["schemes": ["photos"]]), path: "$.schemes[0]", reason: "RFC 7595"),
    Warned(
      document: Manifest.plugin(["schemes": ["com.example.app2"]]), path: "$.schemes[0]",
      reason: "has a digit"),
    Warned(
      document: Manifest.plugin([
        "schemes": ["photos"], "routes": [Manifest.route(["preset": "oauth-redirect"])],
      ]), path: "$.schemes", reason: "RFC 8252"),
    Warned(
      document: Manifest.with(parameter: ["format": "uri"]),
      path: "$.routes[0].parameters.p.format",
      reason: "any scheme"),
    Warned(
      document: Manifest.with(route: ["parameters": ["key": ["sensitive": false]]]),
      path: "$.routes[0].parameters.key.sensitive", reason: "stays sensitive"),
    Warned(
      document: Manifest.with(parameter: ["default": "x", "required": true]),
      path: "$.routes[0].parameters.p.default", reason: "never takes its default"),
    Warned(
      document: Manifest.with(
        action: ["open": ["url": "https://example.com/?q={token}"]], ["token": [:]]),
      path: "$.routes[0].action.open.url", reason: "leaves with the URL"),
    Warned(
      document: Manifest.with(action: ["notify": ["title": "{code}"]], ["code": [:]]),
      path: "$.routes[0].action.notify.title", reason: "is shown on the screen"),
  ]

  @Test(arguments: warned)
  func `what is unwise is a warning, and the manifest is used`(_ row: Warned) {
    let (plugin, diagnostics) = Plugin.read(Array(row.document.description.utf8), file: "p")
    #expect(plugin != nil)
    #expect(diagnostics.allSatisfy { $0.severity == .warning })
    #expect(
      diagnostics.contains { $0.path == row.path && $0.reason.contains(row.reason) },
      "\(diagnostics)")
  }

  @Test func `a manifest that is too long or too deep is refused`() {
    let long = Plugin.read([UInt8](repeating: 0x20, count: 1 << 20 + 1), file: "p")
    #expect(long.diagnostics.first?.reason.contains("longer than") == true)
    let deep = Plugin.read([UInt8](repeating: UInt8(ascii: "["), count: 100_000), file: "p")
    #expect(deep.diagnostics.first?.reason.contains("nested deeper") == true)
  }

  @Test func `a grant's text changes with action, effect and sandbox, and with nothing else`()
    throws
  {
    func text(_ members: [String: JSONValue]) throws -> String {
      let base: [String: JSONValue] = ["action": ["command": ["run": ["a"]]]]
      return try #require(
        Manifest.load(Manifest.with(route: base.merging(members) { $1 })).routes.first
      ).grantText
    }
    let plain = try text([:])
    #expect(try plain == text(["title": "x", "timeout": 3]))
    #expect(try plain != text(["effect": "view"]))
    #expect(try plain != text(["action": ["command": ["run": ["b"]]]]))
    #expect(try plain != text(["action": ["command": ["run": ["a"], "sandbox": "none"]]]))
  }
}
