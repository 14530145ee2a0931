import DeeplinkRouting
import Foundation
import Testing

/// The manifest that lies in `Tests/Manifests`, an app with a route of each kind.
enum Photos {
  static func document() throws -> JSONValue {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Manifests/com.example.Photos")
    return try JSONValue(
      json5: [UInt8](Data(contentsOf: folder.appending(path: "plugin.json"))))
  }

  static func plugin() throws -> Plugin { try Manifest.load(document()) }
}

@Suite struct ExplanationTests {
  /// The links of Apple's documents and of app developers' questions, one route for each shape.
  static let shapes: JSONValue = [
    "id": "com.example.Shapes", "name": "Shapes",
    "schemes": ["myphotoapp", "pl.myapp.test"],
    "routes": [
      [
        "name": "album", "match": ":albumname",
        "parameters": ["name": [:], "index": ["type": "integer"]],
        "action": ["notify": ["title": "{albumname}"]],
      ],
      [
        "name": "test", "match": "//test",
        "parameters": [
          "param1": ["type": "integer"], "param2": [:], "verbose": ["type": "boolean"],
        ],
        "action": ["notify": ["title": "t"]],
      ],
      ["name": "root", "match": "//", "action": ["notify": ["title": "t"]]],
    ],
  ]

  struct Shape: Sendable, CustomTestStringConvertible {
    var link: String
    var route: JSONValue
    var parameters: JSONValue
    var testDescription: String { link }
  }

  static let links: [Shape] = [
    Shape(
      link: #"myphotoapp:albumname?name="albumname""#, route: "album",
      parameters: ["albumname": "albumname", "name": "\"albumname\""]),
    Shape(
      link: "myphotoapp:Vacation?index=1", route: "album",
      parameters: ["albumname": "Vacation", "index": 1]),
    Shape(
      link: "pl.myapp.test://test?param1=1&param2=hello%20world", route: "test",
      parameters: ["param1": 1, "param2": "hello world"]),
    Shape(
      link: "pl.myapp.test://test?param2=hello world&param1=1", route: "test",
      parameters: ["param1": 1, "param2": "hello world"]),
    Shape(link: "pl.myapp.test://test/?verbose", route: "test", parameters: ["verbose": true]),
    Shape(
      link: "pl.myapp.test://test?verbose&param1=2&param2=a", route: "test",
      parameters: ["verbose": true, "param1": 2, "param2": "a"]),
    Shape(link: "pl.myapp.test://test", route: "test", parameters: [:]),
    Shape(link: "pl.myapp.test://", route: "root", parameters: [:]),
    Shape(
      link: "pl.myapp.test://test?param2=%26%3D%23%25%2B%2F%3F", route: "test",
      parameters: ["param2": "&=#%+/?"]),
    Shape(
      link: "pl.myapp.test://test?param2=zażółć", route: "test",
      parameters: ["param2": "zażółć"]),
    Shape(link: "PL.MyApp.Test://TEST?param1=3", route: "test", parameters: ["param1": 3]),
    Shape(link: "pl.myapp.test://test/unexpected/path", route: nil, parameters: [:]),
    Shape(link: "pl.myapp.test://test?param1=one", route: nil, parameters: [:]),
    Shape(link: "pl.myapp.test:/test", route: nil, parameters: [:]),
  ]

  @Test(arguments: links)
  func `links as Apple and app developers write them`(_ row: Shape) throws {
    let table = RouteTable(plugins: [try Manifest.load(Self.shapes)])
    let json = explain(Array(row.link.utf8), table: table).json
    #expect(json["route"] == row.route)
    #expect(json["parameters"] == row.parameters)
    #expect(json["accepted"] == .boolean(row.route != .null))
    #expect(Self.links.count == 14)
  }

  static let members: Set<String> = [
    "accepted", "refusal", "url", "canonical", "remarks", "candidates", "route", "parameters",
    "action", "consent",
  ]
  static let urlMembers: Set<String> = [
    "href", "scheme", "username", "password", "host", "port", "path", "query", "fragment",
  ]

  @Test func `a link that is taken is explained whole`() throws {
    let table = RouteTable(plugins: [try Photos.plugin()])
    let json = explain(Array("MyPhotoApp://album/Sea%20side?index=2".utf8), table: table).json
    #expect(Set(json.object?.keys ?? [:].keys) == Self.members)
    #expect(json["accepted"] == true && json["refusal"] == .null)
    #expect(
      json["url"] == [
        "href": "myphotoapp://album/Sea%20side?index=2", "scheme": "myphotoapp", "username": "",
        "password": "", "host": "album", "port": nil, "path": "/Sea%20side", "query": "index=2",
        "fragment": nil,
      ])
    #expect(json["canonical"] == "myphotoapp://album/Sea%20side?index=2")
    #expect(json["remarks"] == ["scheme-capitals"])
    #expect(
      json["candidates"]?.array?.first == [
        "plugin": "com.example.Photos", "route": "show-album", "matched": true,
        "reason": "'//album/:album' fits",
      ])
    #expect(json["candidates"]?.array?.count == 7)
    #expect(json["route"] == "show-album")
    #expect(json["parameters"] == ["album": "Sea side", "index": 2])
    #expect(
      json["action"] == [
        "handler": ["busName": "com.example.Photos", "launch": ["/usr/bin/photos", "--service"]]
      ])
    #expect(json["consent"] == "not asked")
  }

  struct Input: Sendable, CustomTestStringConvertible {
    var input: String
    var code: JSONValue
    var href: JSONValue
    var testDescription: String { input.debugDescription }
  }

  static let inputs: [Input] = [
    Input(input: "", code: "empty", href: nil),
    Input(input: "  ", code: "empty", href: nil),
    Input(input: "nothing", code: "not-absolute", href: nil),
    Input(input: "a b:c", code: "not-absolute", href: nil),
    Input(input: "myphotoapp://[x", code: "malformed", href: nil),
    Input(input: "myphotoapp:a\u{1}b", code: "control-character", href: "myphotoapp:a%01b"),
    Input(input: "[Invalid UTF-8]", code: "not-utf8", href: nil),
    Input(
      input: "non-special://u:p@h:99/p?q#f", code: "scheme-not-registered",
      href: "non-special://u:p@h:99/p?q#f"),
    Input(input: "mailto:a@b.c?code=1", code: "scheme-not-registered", href: "mailto:a@b.c?code=1"),
    Input(
      input: "https://example.com", code: "scheme-not-registered", href: "https://example.com/"),
    Input(input: "myphotoapp://x@album/a", code: "credentials", href: "myphotoapp://x@album/a"),
    Input(input: "myphotoapp://nowhere", code: "no-route", href: "myphotoapp://nowhere"),
    Input(input: "myphotoapp:/import?from=x", code: "parameter", href: "myphotoapp:/import?from=x"),
  ]

  @Test(arguments: inputs)
  func `any input is explained, registered or not`(_ row: Input) throws {
    let table = RouteTable(plugins: [try Photos.plugin()])
    let json = explain(Array(row.input.utf8), table: table).json
    #expect(Set(json.object?.keys ?? [:].keys) == Self.members)
    #expect(json["accepted"] == false)
    #expect(json["refusal"]?["code"] == row.code)
    #expect(json["refusal"]?["message"]?.string?.isEmpty == false)
    #expect((json["url"]?["href"] ?? .null) == row.href)
    if let url = json["url"]?.object { #expect(Set(url.keys) == Self.urlMembers) }
    #expect(json["route"] == .null && json["action"] == .null && json["consent"] == .null)
    #expect(json["parameters"] == [:])
    #expect(Self.inputs.count == 13)
  }

  @Test func `too long and not UTF-8 are explained too`() throws {
    let table = RouteTable(plugins: [])
    let long = explain(Array("a:bcdef".utf8), table: table, maximumLength: 5)
    #expect(long.json["refusal"]?["code"] == "too-long" && long.json["url"]?["path"] == "bcdef")
    #expect(explain([0x61, 0x3A, 0xFF], table: table).json["refusal"]?["code"] == "not-utf8")
  }

  // MARK: secrets

  static let secrets: JSONValue = Manifest.plugin([
    "schemes": ["myapp.test"], "allowsCredentials": true,
    "routes": [
      Manifest.route([
        "name": "cb", "match": "/cb", "preset": "oauth-redirect",
        "action": ["notify": ["title": "{code}"]],
      ]),
      Manifest.route([
        "name": "login", "match": "//login/:pin/:user", "parameters": ["pin": ["sensitive": true]],
        "action": ["open": ["url": "https://example.com/{user}?p={pin}&u={url}"]],
      ]),
      Manifest.route([
        "name": "typed", "match": "/typed",
        "parameters": ["otp": ["type": "integer", "required": true]],
        "action": ["notify": ["title": "t"]],
      ]),
    ],
  ])

  @Test(arguments: [
    "myapp.test:/cb?code=HUSH1&state=HUSH2&iss=HUSH3",
    "myapp.test:/cb#code=HUSH1&access_token=HUSH4",
    "myapp.test://login/HUSH5/ann", "myapp.test://login/HUSH%205/ann#x",
    "myapp.test://u:HUSH6@login/HUSH5/ann", "myapp.test:/typed?otp=HUSH7",
    "myapp.test:/cb?code=HUSH1&code=HUSH8", "myapp.test:/nowhere?accessToken=HUSH9",
  ])
  func `secrets are counted, not shown`(_ link: String) throws {
    let table = RouteTable(plugins: [try Manifest.load(Self.secrets)])
    let hidden = explain(Array(link.utf8), table: table)
    #expect(!hidden.json.description.contains("HUSH"), "\(hidden.json)")
    #expect(!hidden.text.contains("HUSH"))
    #expect(hidden.json.description.contains("secret,"))
    let shown = explain(Array(link.utf8), table: table, revealingSecrets: true)
    #expect(shown.json.description.contains("HUSH"))
    #expect(!shown.json.description.contains("secret,"))
  }

  @Test func `a secret's characters are counted after decoding`() throws {
    let table = RouteTable(plugins: [try Manifest.load(Self.secrets)])
    let json = explain(Array("myapp.test:/cb?code=%C3%A9%20b&error=x".utf8), table: table).json
    #expect(
      json["parameters"] == ["code": "secret, 3 characters", "error": "secret, 1 character"])
    #expect(json["action"] == ["notify": ["title": "secret, 3 characters"]])
    #expect(
      json["canonical"]
        == "myapp.test:/cb?code=secret,%203%20characters&error=secret,%201%20character"
    )
  }

  // MARK: text

  @Test func `the text names every step`() throws {
    let table = RouteTable(plugins: [try Photos.plugin()])
    let text = explain(Array("myphotoapp:/import?from=https://a.example/x%20y".utf8), table: table)
      .text
    #expect(
      text.hasPrefix(
        """
        bytes       47
        url         myphotoapp:/import?from=https://a.example/x%20y
        canonical   myphotoapp:/import?from=https://a.example/x%20y
        matches     com.example.Photos/import: '/import' fits
        no match    com.example.Photos/show-album: ':album' takes links without '//' after the colon
        no match    com.example.Photos/signed-in: its pattern '/oauth' does not fit
        """), "\(text)")
    #expect(
      text.hasSuffix(
        """
        route       com.example.Photos/import
        parameter   from = "https://a.example/x y"
        consent     asked at first use (effect: change)
        action      {"command":{"run":["photos-import","--","https://a.example/x y"],"sandbox":{"network":true}}}
        accepted    nothing was run

        """), "\(text)")
  }

  @Test
  func `the text of a refusal ends with it, and nothing of the link reaches the terminal raw`()
    throws
  {
    let table = RouteTable(plugins: [try Photos.plugin()])
    let text = explain(Array("myphotoap:\u{202E}x?a=\u{9B}31m".utf8), table: table).text
    #expect(
      text.hasSuffix(
        """
        refused     scheme-not-registered: no plugin opens 'myphotoap' links
        hint        did you mean 'myphotoapp'? `deeplink schemes` shows the schemes in use

        """), "\(text)")
    #expect(text.unicodeScalars.allSatisfy { $0.isASCII && ($0.value >= 0x20 || $0 == "\n") })
    let spoofed = explain(
      Array("myphotoapp:%E2%80%AEx".utf8), table: table)
    #expect(spoofed.text.unicodeScalars.allSatisfy { $0.isASCII })
    #expect(spoofed.text.contains(#"album = "\u202ex""#))
  }
}
