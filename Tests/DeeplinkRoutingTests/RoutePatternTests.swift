import Foundation
import Testing

@testable import DeeplinkRouting

/// What routes' patterns match, and what they say of what they do not take.
@Suite struct RoutePatternTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let pattern: String
    let url: String
    /// `name=value` in the order of the pattern, joined by blanks; nil: no match.
    let captures: String?

    init(_ pattern: String, _ url: String, _ captures: String?) {
      (self.pattern, self.url, self.captures) = (pattern, url, captures)
    }

    var testDescription: String { "\(pattern) \(url)" }
  }

  static let cases = [
    // The four beginnings are told apart.
    Case("a", "s:a", ""), Case("a", "s:/a", nil), Case("a", "s://a", nil),
    Case("a", "s:///a", nil),
    Case("/a", "s:a", nil), Case("/a", "s:/a", ""), Case("/a", "s://a", nil),
    Case("/a", "s:///a", nil),
    Case("//a", "s:a", nil), Case("//a", "s:/a", nil), Case("//a", "s://a", ""),
    Case("//a", "s:///a", nil),
    Case("///a", "s:a", nil), Case("///a", "s:/a", nil), Case("///a", "s://a", nil),
    Case("///a", "s:///a", ""),
    Case("", "s:", ""), Case("", "s:a", nil), Case("*", "s:", ""), Case("*", "s:/", nil),
    Case("{/}?a", "s:a", ""), Case("{/}?a", "s:/a", ""), Case("{/}?a", "s://a", nil),
    Case("\\//a", "s:/.//a", ""), Case("\\//a", "s://a", nil),

    // Names stop at slashes, in opaque paths too.
    Case(":album", "photos:Vacation", "album=Vacation"), Case(":album", "photos:", nil),
    Case(":album", "photos:a/b", nil), Case(":a/:b", "s:x/y", "a=x b=y"),
    Case("//album/:album", "photos://album/Vacation", "album=Vacation"),
    Case("/:a", "s:/x", "a=x"), Case("/:a", "s:/x/", nil), Case("/:a", "s:/", nil),
    Case("/:a/", "s:/x/", "a=x"), Case("/a/:b/c", "s:/a//c", nil),
    Case("/:a.:ext", "s:/x.tar.gz", "a=x ext=tar.gz"),
    Case("/:a-:b", "s:/1-2-3", "a=1 b=2-3"), Case("/:a-:b", "s:/1-", nil),
    Case("/v:major", "s:/v2", "major=2"), Case("/v:major", "s:/v", nil),
    Case("/:größe", "s:/7", "größe=7"),
    Case("/user\\:name", "s:/user:name", ""), Case("/{:a}b", "s:/xb", "a=x"),

    // Modifiers; a slash before a group goes with it.
    Case("/a/:b?", "s:/a", ""), Case("/a/:b?", "s:/a/x", "b=x"), Case("/a/:b?", "s:/a/", nil),
    Case("/a/{:b}?", "s:/a/", ""), Case("/a/{:b}?", "s:/a", nil),
    Case("/a/:b+", "s:/a/x/y", "b=x/y"), Case("/a/:b+", "s:/a", nil),
    Case("/a/:b+", "s:/a/x//y", nil), Case("/a/:b+/c", "s:/a/x/y/c", "b=x/y"),
    Case("/a/:b*", "s:/a", ""), Case("/a/:b*", "s:/a/x/y", "b=x/y"), Case("/a/:b*", "s:/a/", nil),
    Case("/a{/b}?", "s:/a", ""), Case("/a{/b}?", "s:/a/b", ""), Case("/a{/b}?", "s:/a/b/b", nil),
    Case("/a{/b}*/c", "s:/a/b/b/c", ""), Case("/a{/b}+", "s:/a", nil),
    Case("/a{/b}+", "s:/a/b/b", ""), Case("/a{/b}+", "s:/a/b/bb", nil),
    Case("/a{-:b}*", "s:/a-1-2", "b=1-2"), Case("/a{-:b}*", "s:/a", ""),
    Case("/{x:a;}+", "s:/x1;x2;", "a=1;x2"),
    Case("/:a?/:b?", "s:/x", "a=x"), Case("/:a?/:b?", "s:/x/y", "a=x b=y"),
    Case(":a?", "s:", ""), Case(":a+", "s:xy", "a=xy"), Case(":a+", "s:x/y", nil),

    // Wildcards take everything to the end of their component, and are no captures.
    Case("/a/*", "s:/a/", ""), Case("/a/*", "s:/a/b/c", ""), Case("/a/*", "s:/a", nil),
    Case("/a*", "s:/ab/c", ""), Case("/*/c", "s:/a/b/c", ""), Case("/*/:a", "s:/x/y/z", "a=z"),
    Case("/a/*?", "s:/a", ""), Case("/a/**", "s:/a/b/c", ""), Case("*", "s:a/b", ""),
    Case("//*/a", "s:///a", ""), Case("//*", "s://a.b", ""), Case("//*", "s://a.b/c", nil),

    // Hosts.
    Case("//h", "s://h", ""), Case("//h", "s://h/", ""), Case("//h", "s://h//", nil),
    Case("//h", "s://h/a", nil), Case("//h/", "s://h/", ""), Case("//h/", "s://h", nil),
    Case("//h/:a?", "s://h", ""), Case("//h/:a?", "s://h/", ""), Case("//h/:a?", "s://h/x", "a=x"),
    Case("//H/A", "s://h/A", ""), Case("//H/A", "s://h/a", nil), Case("//h", "S://H", ""),
    Case("//:a", "s://x", "a=x"), Case("//:a", "s://x.y", nil), Case("//:a.y", "s://x.y", "a=x"),
    Case("//{:a.}?y", "s://y", ""), Case("//{:a.}?y", "s://x.y", "a=x"),
    Case("//*.y", "s://w.x.y", ""), Case("//{:a.}+y", "s://w.x.y", "a=w.x"),
    Case("//münchen", "s://m%C3%BCnchen", ""), Case("//%41", "s://a", ""),
    Case("//[\\:\\:1]/a", "s://[0:0::1]/a", ""), Case("//[\\:\\::a]", "s://[::1]", "a=1"),
    Case("//{[\\:\\::a\\:1]}", "s://[::ab:1]", "a=ab"), Case("//[*]", "s://[::1]", ""),
    Case("//*.0.0.1", "s://127.0.0.1", ""), Case("//h*", "s://h.i", ""),
    Case("//:a*", "s://h", "a=h"),
    Case("//h/a", "s://h/a?b#c", ""), Case("/a", "s:/a?b#c", ""), Case("a", "s:a?b", ""),

    // Ports.
    Case("//h", "s://h:80", nil), Case("//h:80", "s://h:80", ""), Case("//h:80", "s://h", nil),
    Case("//h:080/a", "s://h:80/a", ""), Case("//h:", "s://h", ""), Case("//h:", "s://h:1", nil),
    Case("//h:*", "s://h:80", ""), Case("//h:*", "s://h", ""), Case("//h::p/a", "s://h:8/a", "p=8"),
    Case("//h::p", "s://h", nil), Case("//h:8{0}?", "s://h:8", ""),
    Case("//:h::p", "s://a:1", "h=a p=1"),

    // Fixed text is canonical.
    Case("/a b", "s:/a%20b", ""), Case("/a%20b", "s:/a b", ""), Case("a b", "s:a%20b", ""),
    Case("/caf%c3%a9", "s:/café", ""), Case("/café", "s:/caf%C3%A9", ""),
    Case("/%61", "s:/a", ""), Case("/a%2fb", "s:/a%2Fb", ""), Case("/a%2fb", "s:/a/b", nil),
    Case("/100%", "s:/100%25", ""), Case("/a\\?b", "s:/a%3Fb", ""), Case("/a\\#b", "s:/a%23b", ""),
    Case("/a\\{b", "s:/a{b", ""), Case("/a\\\\b", "s:/a\\b", ""), Case("/[a]", "s:/%5Ba%5D", ""),
    Case("/a/./b", "s:/a/b", ""), Case("/a/../b", "s:/b", ""), Case("/a/..", "s:/", ""),
    Case("/a/%2e%2e/b", "s:/b", ""), Case("/a/.:b", "s:/a/.x", "b=x"), Case("./a", "s:./a", ""),
    Case("/:a/..:b", "s:/x/..y", "a=x b=y"), Case("/a b/:c", "s:/a b/%20", "c=%20"),
  ]

  @Test(arguments: cases)
  func `a pattern takes what it describes and nothing else`(_ item: Case) throws {
    let pattern = try RoutePattern(item.pattern)
    let link = try Link(admitting: Array(item.url.utf8))
    let captures = pattern.match(link.canonical)?.map { "\($0.name)=\($0.value)" }
      .joined(separator: " ")
    #expect(captures == item.captures)
  }

  @Test func `the table of patterns is whole`() { #expect(Self.cases.count == 147) }

  struct Fault: Sendable, CustomTestStringConvertible {
    let pattern: String
    let reason: PatternError.Reason
    let offset: Int

    init(_ pattern: String, _ reason: PatternError.Reason, _ offset: Int) {
      (self.pattern, self.reason, self.offset) = (pattern, reason, offset)
    }

    var testDescription: String { String(pattern.prefix(40)) }
  }

  static let faults = [
    Fault("/:id(\\d+)", .regexpGroup, 4), Fault("/é(a)", .regexpGroup, 2),
    Fault("//h(a)/b", .regexpGroup, 3), Fault("/a(", .regexpGroup, 2),
    Fault("{(a)}", .regexpGroup, 1), Fault("//h:(80)", .regexpGroup, 4),
    Fault("/a\\", .loneBackslash, 2), Fault("photos://album", .missingName, 6),
    Fault("/:", .missingName, 1), Fault("/a:1", .missingName, 2), Fault("/:é:", .missingName, 3),
    Fault("/:a/:a", .duplicateName("a"), 4), Fault("//:a/:a", .duplicateName("a"), 5),
    Fault("//:a:*/b{-:a}?", .duplicateName("a"), 8),
    Fault("/{a", .unclosedGroup, 1), Fault("/a}b", .unopenedGroup, 2),
    Fault("/{a{b}}", .nestedGroup, 3), Fault("/{:a:b}", .crowdedGroup, 4),
    Fault("/{:a*}", .crowdedGroup, 4), Fault("/{a?}", .misplacedModifier("?"), 3),
    Fault("/a?b=:c", .misplacedModifier("?"), 2), Fault("/a+", .misplacedModifier("+"), 2),
    Fault("/:a??", .misplacedModifier("?"), 4), Fault("//h?a", .misplacedModifier("?"), 3),
    Fault("/a#b", .fragment, 2), Fault("//me@h", .credentials, 4),
    Fault("//a b", .host("a b"), 2), Fault("//h{/a}?", .host("/a"), 3),
    Fault("//[\\:\\:x]", .host("[::x]"), 2), Fault("//a]", .host("a]"), 2),
    Fault("//h:80a", .port("80a"), 4), Fault("//h:65536", .port("65536"), 4),
    Fault("//h:{-80}?", .port("-80"), 4),
    Fault("/:a?/:b?/:c?/:d?/:e?/:f?", .tooManyForms, 21),
    Fault(String(repeating: "/*", count: 65), .tooManyGroups, 129),
    Fault("/" + String(repeating: "a", count: 4096), .tooLong, 4096),
  ]

  @Test(arguments: faults)
  func `a fault is named with its place`(_ fault: Fault) throws {
    let error = #expect(throws: PatternError.self) { try RoutePattern(fault.pattern) }
    #expect(error?.reason == fault.reason)
    #expect(error?.offset == fault.offset)
  }

  @Test func `the table of faults is whole`() { #expect(Self.faults.count == 36) }

  @Test func `each fault has a sentence, and what can be mended a hint`() {
    for fault in Self.faults {
      let error = PatternError(fault.reason, at: fault.offset)
      #expect(error.description.first?.isLowercase == true || error.description.hasPrefix("'"))
      #expect(error.hint != nil)
    }
    let error = PatternError(.regexpGroup, at: 0)
    #expect(error.description == "a pattern takes no regular expression '(…)'")
    #expect(error.hint == "use a parameter's pattern; a literal parenthesis is '\\('")
  }

  @Test func `captures say where they are, whether they span segments and may be absent`() throws {
    let pattern = try RoutePattern("//:h.x::p/:a/:b?/:c*/d:e/{-:f}+/*")
    #expect(
      pattern.captures == [
        Capture(name: "h", place: .host, spansSegments: false, optional: false),
        Capture(name: "p", place: .port, spansSegments: false, optional: false),
        Capture(name: "a", place: .path, spansSegments: false, optional: false),
        Capture(name: "b", place: .path, spansSegments: false, optional: true),
        Capture(name: "c", place: .path, spansSegments: true, optional: true),
        Capture(name: "e", place: .path, spansSegments: false, optional: false),
        Capture(name: "f", place: .path, spansSegments: true, optional: false),
      ])
    #expect(pattern.forms.map(\.names.count) == [7, 6, 6, 5])
    #expect(pattern.forms.allSatisfy { $0.kind == .authority })
  }

  @Test func `optional groups make at most 32 forms, equal ones once`() throws {
    #expect(try RoutePattern("/:a?-{b}?c{d}?e{f}?g{h}?").forms.count == 32)
    // With one of the two absent the other is the same but for its name.
    let forms = try RoutePattern("/:a?/:b?").forms
    #expect(forms.map(\.names) == [["a", "b"], ["a"], []])
    #expect(try RoutePattern("{/}?:a").forms.map(\.kind) == [.rooted, .opaque])
  }

  @Test func `shapes are equal where only names and braces differ`() throws {
    func shape(_ text: String) throws -> FormShape { try RoutePattern(text).forms[0].shape }
    #expect(try shape("/a/:b") == shape("/{a}{/:c}"))
    #expect(try shape("//h/:b/*") == shape("//H/:c/{*}"))
    #expect(try shape("/é") == shape("/%c3%a9"))
    #expect(try shape("/a/:b") != shape("//a/:b"))
    #expect(try shape("/:b") != shape("/:b+"))
    #expect(try shape("//h") != shape("//h/"))
  }

  @Test func `a fragment's pattern takes the whole fragment`() throws {
    func match(_ pattern: String, _ fragment: String) throws -> [CapturedValue]? {
      try FragmentPattern(pattern).matches(fragment)
    }
    #expect(try match("t=:time", "t=1/2") == [CapturedValue(name: "time", value: "1/2")])
    #expect(try match("{a}?b", "ab") == [])
    #expect(try match("{a}?b", "a") == nil)
    #expect(try match("/é:a?", "/%C3%A9") == [])
  }

  /// Cases of web-platform-tests that our rules decide otherwise, by index.
  static let decidedOtherwise = [
    181: "fixed text is canonical, so escapes in small letters match"
  ]

  @Test(.enabled(if: WebPlatformTestData.has(WPTPatternCase.file), "set DEEPLINK_WPT_DATA"))
  func `web-platform-tests' cases of paths hold on a custom scheme`() throws {
    var failures: [String] = []
    var count = 0
    for item in try WPTPatternCase.load() where Self.decidedOtherwise[item.index] == nil {
      guard let path = item.path else { continue }
      count += 1
      let found: [CapturedValue]?
      do {
        let link = try Link(admitting: Array("s:\(path.input)".utf8))
        found = try RoutePattern(path.pattern).match(link.canonical)
      } catch {
        failures.append("case \(item.index): \(error)")
        continue
      }
      let values = found.map { Dictionary($0.map { ($0.name, $0.value) }) { first, _ in first } }
      if values != path.expected {
        failures.append("case \(item.index): \(values as Any), not \(path.expected as Any)")
      }
    }
    #expect(failures.joined(separator: "\n") == "")
    #expect(count == 100)
  }
}
