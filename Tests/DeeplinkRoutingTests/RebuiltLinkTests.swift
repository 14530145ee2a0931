import DeeplinkRouting
import Foundation
import Testing

/// Links made anew from what a history keeps: a route and the values of its parameters.
@Suite struct RebuiltLinkTests {
  private static let plugin: JSONValue = [
    "id": "com.example.Shapes", "name": "Shapes", "schemes": ["com.example.shapes"],
    "routes": [
      [
        "name": "album", "match": [":album", "//album/:album", "//album/:album/at/:index"],
        "parameters": ["album": [:], "index": ["type": "integer", "minimum": 1, "default": 1]],
        "action": ["notify": ["title": "{album}"]],
      ],
      [
        "name": "file", "match": "/files/:path+",
        "parameters": [
          "path": ["type": "array", "items": ["type": "string"]],
          "tag": ["type": "array", "items": ["type": "string"]],
          "zoom": ["type": "number"], "dark": ["type": "boolean"],
          "flag": ["type": ["string", "null"]], "part": ["from": "fragment"],
        ],
        "additionalParameters": "pass", "formEncoded": true,
        "action": ["notify": ["title": "t"]],
      ],
      ["name": "any", "match": "/any/*", "action": ["notify": ["title": "t"]]],
    ],
  ]

  static let links = [
    "com.example.shapes:Trip%20%26%20more", "com.example.shapes://album/a%2Fb%3Fc%23",
    "com.example.shapes://album/x/at/7", "com.example.shapes:caf%C3%A9%25?index=3",
    "com.example.shapes:/files/a/b%2Fc/d%20e",
    "com.example.shapes:/files/a?tag=1&tag=2+3&zoom=0.5&dark&flag&more=%26%3D#part=x%26y",
    "com.example.shapes:/files/a?flag=&tag=&zoom=1e-7&dark=false",
  ]

  @Test(arguments: links)
  func `the same route gets the same parameters`(_ text: String) throws {
    let plugin = try Manifest.load(Self.plugin)
    let table = RouteTable(plugins: [plugin])
    let match = try #require(
      try table.matches(for: Link(admitting: Array(text.utf8), maximumLength: 1000)).first)
    let kept = match.parameters.mapValues(\.json)
    let url = try #require(
      table.link(
        to: match.route, of: plugin, scheme: "com.example.shapes", parameters: kept))
    let again = try #require(
      try table.matches(for: Link(admitting: Array(url.utf8), maximumLength: 1000)).first)
    #expect(again.route.name == match.route.name)
    #expect(again.parameters == match.parameters)
  }

  @Test func `none is made where not all of a link was kept, or the route has changed`() throws {
    let plugin = try Manifest.load(Self.plugin)
    let table = RouteTable(plugins: [plugin])
    func link(_ route: String, _ parameters: [String: JSONValue]) throws -> String? {
      table.link(
        to: try #require(plugin.route(route)), of: plugin, scheme: "com.example.shapes",
        parameters: parameters)
    }
    #expect(try link("album", ["album": "a", "index": 1]) == "com.example.shapes:a?index=1")
    #expect(try link("any", [:]) == nil)
    #expect(try link("album", [:]) == nil)
    #expect(try link("album", ["album": "a", "index": 0]) == nil)
    #expect(try link("album", ["album": "a", "index": 1, "gone": "x"]) == nil)
    #expect(try link("album", ["album": "a\u{0}", "index": 1]) == nil)
  }
}
