// Routing routes | url
//
// What the daemon does with a link before anything is started, compiled together with the sources
// of DeeplinkRouting. Prints nanoseconds a link: `routes` for admission and routing among 10 and
// among 100,000 routes, `url` for parsing the links on standard input with their queries.

@main struct Routing {
  static func main() throws {
    switch CommandLine.arguments.dropFirst().first {
    case "routes": print(try routing(among: 10), try routing(among: 100_000))
    case "url": print(try parsing())
    default: print("Routing: routes or url")
    }
  }

  /// Plugins of one circle, as large as manifests may be, and links that go to each of the routes.
  private static func routing(among count: Int) throws -> Int {
    let perPlugin = 5_000
    let ids = stride(from: 0, to: count, by: perPlugin).map { "org.example.p\($0 / perPlugin)" }
    let plugins = ids.enumerated().compactMap { part, id -> Plugin? in
      let first = part * perPlugin
      let routes = (first..<min(count, first + perPlugin)).map { index -> JSONValue in
        [
          "name": .string("r\(index)"), "match": .string("//host\(index % 1000)/a\(index)/:id"),
          "parameters": ["page": ["type": "integer", "minimum": 1, "default": 1]],
          "action": ["notify": ["title": "{id}"]],
        ]
      }
      let manifest: JSONValue = [
        "id": .string(id), "name": "P", "schemes": ["org.example.bench"],
        "sharedWith": .array(ids.map { .string($0) }), "routes": .array(routes),
      ]
      return Plugin.read(Array(manifest.description.utf8), file: id).plugin
    }
    let table = RouteTable(plugins: plugins)
    // As many for each table, all over it.
    let links = (0..<10_000).map { number in
      let index = number % 1_000 * (count / min(count, 1_000)) % count
      return Array("org.example.bench://host\(index % 1000)/a\(index)/Summer%202024?page=3".utf8)
    }
    return try nanoseconds(links) { bytes in
      let matches = try table.matches(for: Link(admitting: bytes))
      guard matches.first?.parameters["page"] == .integer(3) else { throw Wrong() }
    }
  }

  private static func parsing() throws -> Int {
    var links: [[UInt8]] = []
    while let line = readLine() { links.append(Array(line.utf8)) }
    return try nanoseconds(links) { bytes in
      let url = try ParsedURL.parse(bytes)
      let pairs = QueryPairs(url.queryRange.map { url.bytes[$0] })
      for pair in pairs.pairs {
        guard QueryPairs.decode(pair.name, isFormEncoded: true) != nil else { throw Wrong() }
        if let value = pair.value { _ = QueryPairs.decode(value, isFormEncoded: true) }
      }
    }
  }

  private struct Wrong: Error {}

  /// The best of five rounds.
  private static func nanoseconds(
    _ links: [[UInt8]], _ body: ([UInt8]) throws -> Void
  ) throws -> Int {
    var best = Duration.seconds(3600)
    for _ in 0..<5 {
      let time = try ContinuousClock().measure { for link in links { try body(link) } }
      best = min(best, time)
    }
    return Int(best / .nanoseconds(1)) / links.count
  }
}
