import Testing

@testable import DeeplinkRouting

/// Which routes fit a URL, in which order, and at what cost.
@Suite struct FormTreeTests {
  private func url(_ text: String) throws -> ParsedURL {
    try Link(admitting: Array(text.utf8)).canonical
  }

  /// A tree of the forms of patterns, each the payload of its route.
  private func tree(_ patterns: [String]) throws -> FormTree<String> {
    var tree = FormTree<String>()
    for (order, text) in patterns.enumerated() {
      for form in try RoutePattern(text).forms {
        try tree.insert(form, payload: text, requiredParameters: 0, order: order)
      }
    }
    return tree
  }

  struct Contest: Sendable, CustomTestStringConvertible {
    let winner: String
    let loser: String
    let url: String

    init(_ winner: String, _ loser: String, _ url: String) {
      (self.winner, self.loser, self.url) = (winner, loser, url)
    }

    var testDescription: String { "\(winner) before \(loser)" }
  }

  static let contests = [
    // literal > literal with a name > name > + > *
    Contest("/ab", "/a:x", "s:/ab"), Contest("/a", "/:x", "s:/a"),
    Contest("/a", "/:x+", "s:/a"), Contest("/a", "/*", "s:/a"), Contest("/a:x", "/:x", "s:/ab"),
    Contest("/a:x", "/:x+", "s:/ab"), Contest("/a:x", "/*", "s:/ab"),
    Contest("/:x", "/:x+", "s:/a"), Contest("/:x", "/*", "s:/a"), Contest("/:x+", "/*", "s:/a"),
    Contest("/:x", "/a*", "s:/ab"), Contest("/:x+", "/a*", "s:/ab"),
    Contest("a", ":x", "s:a"), Contest(":x", "*", "s:a"), Contest("a-:x", ":x", "s:a-b"),
    Contest("/a{/b}?", "/a{/b}+", "s:/a/b"), Contest("/a/:x", "/a{/b}+", "s:/a/b"),
    Contest("/a{/b}+", "/a/*", "s:/a/b"),
    // from the left
    Contest("/a/:x", "/:x/b", "s:/a/b"), Contest("/a/*", "/:x/b", "s:/a/b"),
    Contest("/a:x/*", "/:x/b", "s:/ab/b"), Contest("/:x/b", "/:x/:y", "s:/a/b"),
    Contest("/:x/*", "/:x+/b", "s:/a/b"), Contest("/a/:x/:y", "/a/:x+", "s:/a/b/c"),
    Contest("/a/b/*", "/a/:x/c", "s:/a/b/c"), Contest("/a/", "/a/*", "s:/a/"),
    // a form that goes on
    Contest("/*/b", "/*", "s:/a/b"), Contest("/:x+/b", "/:x+", "s:/a/b"),
    Contest("/*/:x", "/*", "s:/a/b"), Contest("/a/*/c", "/a/*", "s:/a/b/c"),
    // longer literal text
    Contest("/img-:x", "/i:x", "s:/img-1"), Contest("/:x.html", "/:x.:y", "s:/a.html"),
    Contest("/a*", "/*", "s:/ab"), Contest("/abc*", "/a*", "s:/abcd"),
    // the host first, its labels from the left, then the port, then the path
    Contest("//h/*", "//:x/a", "s://h/a"), Contest("//h/:x", "//*/a", "s://h/a"),
    Contest("//:x.h/*", "//*/a", "s://g.h/a"), Contest("//g.:x/*", "//:x.h/a", "s://g.h/a"),
    Contest("//h:1/*", "//h::x/a", "s://h:1/a"), Contest("//h::x/*", "//h:*/a", "s://h:1/a"),
    Contest("//h/*", "//h:*/a", "s://h/a"), Contest("//h/", "//h/*", "s://h/"),
    Contest("//h", "//h/*", "s://h/"), Contest("//h", "//:x", "s://h"),
    Contest("//h/", "//h", "s://h/"), Contest("///a", "//*/a", "s:///a"),
  ]

  @Test(arguments: contests)
  func `the more specific of two routes goes first, whichever was added first`(
    _ contest: Contest
  ) throws {
    let url = try url(contest.url)
    for patterns in [[contest.winner, contest.loser], [contest.loser, contest.winner]] {
      let found = try tree(patterns).matches(url: url).map(\.payload)
      #expect(found == [contest.winner, contest.loser])
    }
  }

  @Test func `the table of contests is whole`() { #expect(Self.contests.count == 46) }

  @Test func `what is equally specific is decided by required parameters, then the order`() throws {
    let url = try url("s:/a")
    let routes = [("many", "/:x", 2, 3), ("first", "/:y", 1, 1), ("second", "/:z", 1, 2)]
    for routes in [routes, routes.reversed()] {
      var tree = FormTree<String>()
      for (name, pattern, required, order) in routes {
        let form = try RoutePattern(pattern).forms[0]
        try tree.insert(form, payload: name, requiredParameters: required, order: order)
      }
      let matches = tree.matches(url: url)
      #expect(matches.map(\.payload) == ["many", "first", "second"])
      #expect(matches.flatMap { $0.captures.map(\.name) } == ["x", "y", "z"])
    }
  }

  @Test func `64 routes share a form and no more`() throws {
    var tree = FormTree<Int>()
    for index in 0..<64 {
      let form = try RoutePattern("//h/:x\(index)").forms[0]
      try tree.insert(form, payload: index, requiredParameters: 0, order: index)
    }
    let form = try RoutePattern("//h/{:other}").forms[0]
    #expect(tree.routesSharing(form) == Array(0..<64))
    #expect(throws: FormTree<Int>.TooManyRoutes.self) {
      try tree.insert(form, payload: 64, requiredParameters: 0, order: 64)
    }
    #expect(tree.matches(url: try url("s://h/a")).count == 64)
    #expect(tree.routesSharing(try RoutePattern("//h/:x+").forms[0]) == [])
    #expect(tree.routesSharing(try RoutePattern("//h/:x/a").forms[0]) == [])
    #expect(tree.routesSharing(try RoutePattern("/:x").forms[0]) == [])
  }

  @Test func `the tree finds what each pattern finds for itself`() throws {
    var random = Numbers(state: 7)
    let pieces = [
      "/a", "/b", "/ab", "/:x", "/:x?", "/:x+", "/:x*", "/*", "a", "b", "-", "/", ":x-", "{/a}?",
      "{/a}+", "{/a}*", "{-:x}+", "*", "{:x/}*", "/a:x", "/:x.b", "{a}?",
    ]
    let heads = ["", "/", "/a", "//a", "//*", "//:h", "//:h.b", "//a:*", "//*.b", "//a:1", "///a"]
    var routes: [RoutePattern] = []
    while routes.count < 400 {
      var text = heads.randomElement(using: &random) ?? ""
      for number in 0..<Int.random(in: 0...4, using: &random) {
        // Each name once: `:x` becomes `:x0`, `:x1`, …
        let piece = pieces.randomElement(using: &random) ?? ""
        text += piece.replacing(":x", with: ":x\(number)")
      }
      if let route = try? RoutePattern(text) { routes.append(route) }
    }
    var tree = FormTree<Int>()
    var kept: [RoutePattern] = []
    for route in routes where route.forms.allSatisfy({ tree.routesSharing($0).count < 64 }) {
      for form in route.forms {
        try tree.insert(
          form, payload: kept.count, requiredParameters: 0, order: kept.count)
      }
      kept.append(route)
    }
    #expect(kept.count > 300)
    var fits = 0
    var different: [String] = []
    for _ in 0..<1000 {
      var text =
        ["s:", "s:/", "s:/a", "s://a", "s://b.b", "s://a:1", "s://ab", "s:///a"]
        .randomElement(using: &random) ?? ""
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        text += ["/", "a", "b", "-", ".b", "/a", "/ab"].randomElement(using: &random) ?? ""
      }
      guard let link = try? Link(admitting: Array(text.utf8)) else { continue }
      let found = tree.matches(url: link.canonical)
      fits += found.count
      for (index, route) in kept.enumerated() {
        let mine = found.filter { $0.payload == index }.map(\.captures)
        let forms = route.forms.compactMap { $0.captures(in: link.canonical) }
        if mine.count != forms.count || Set(mine) != Set(forms)
          || mine.first != route.match(link.canonical)
        {
          different.append("\(route) \(text)")
        }
      }
    }
    #expect(different == [])
    #expect(fits > 5000)
  }

  @Test func `the cost of a match does not grow with the number of routes`() throws {
    func steps(routes: Int, _ text: String) throws -> Int {
      var tree = FormTree<Int>()
      for index in 0..<routes {
        let pattern = ["/r\(index)/:x", "/r\(index)/:x/edit", "//h\(index)/:a?", "/:x/r\(index)"]
        for form in try RoutePattern(pattern[index % 4]).forms {
          try tree.insert(form, payload: index, requiredParameters: 0, order: index)
        }
      }
      var steps = 0
      #expect(tree.matches(url: try url(text), steps: &steps).count == 1)
      return steps
    }
    for text in ["s:/r4/x", "s:/r5/x/edit", "s://h2/x", "s:/x/r7"] {
      #expect(try steps(routes: 4000, text) <= 4 * steps(routes: 10, text))
    }
  }

  @Test func `no pattern and no URL makes a match costly`() throws {
    let length = 800
    let urls = [
      "s:/" + String(repeating: "a", count: length), "s:" + String(repeating: "/a", count: length),
      "s:/" + String(repeating: "a-", count: length),
      "s://" + String(repeating: "a.", count: length) + "a",
    ]
    let patterns = [
      String(repeating: "/*a", count: 32) + "b", "/" + String(repeating: "*a", count: 60) + "b",
      (0..<60).map { "/:x\($0)+" }.joined() + "/b",
      "/" + (0..<60).map { "{:x\($0)}-" }.joined() + "b",
      (0..<30).map { "{/a:x\($0)}+" }.joined() + "/b", String(repeating: "{/a}+", count: 60) + "/b",
      "//" + String(repeating: "*a.", count: 60) + "b", "/*a/*a/*a*" + "{/b}?",
    ]
    for text in urls {
      let url = try url(text)
      let size = url.bytes.count
      for pattern in patterns {
        let pattern = try RoutePattern(pattern)
        var tree = FormTree<Int>()
        for form in pattern.forms {
          try tree.insert(form, payload: 0, requiredParameters: 0, order: 0)
          var steps = 0
          _ = form.groups(in: FormTarget(url), steps: &steps)
          #expect(steps <= form.stepLimit(length: size))
        }
        var steps = 0
        _ = tree.matches(url: url, steps: &steps)
        // A node for each atom of a form at most, each entered once a place and asked before.
        #expect(steps <= 3 * 64 * pattern.forms.count * (size + 1))
      }
    }
  }
}

/// A generator that gives the same numbers in each run (SplitMix64).
private struct Numbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
