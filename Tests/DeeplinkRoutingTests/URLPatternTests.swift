import Foundation
import Testing

@testable import DeeplinkRouting

/// The URLPattern suite of web-platform-tests against the bare standard.
@Suite(
  .enabled(
    if: WebPlatformTestData.has(WPTPatternCase.file),
    "no \(WPTPatternCase.file) in \(WebPlatformTestData.folder.path): set DEEPLINK_WPT_DATA"))
struct URLPatternTests {
  /// Cases that are not run, by index, with the reason.
  static let exceptions = [
    213: "components with a base URL beside them: no such method here, a matter of types",
    283: "components with a base URL beside them: no such initialiser here, a matter of types",
    347: "options before the base URL: no such initialiser here, a matter of types",
  ]

  @Test
  func `every case of web-platform-tests without a regexp group holds`() throws {
    let cases = try WPTPatternCase.load()
    #expect(cases.count == 369)
    let withoutRegexp = cases.filter { !$0.hasRegexpGroup }
    var failures: [String] = []
    var count = 0
    for item in withoutRegexp where Self.exceptions[item.index] == nil {
      count += 1
      if let failure = item.failure() { failures.append("case \(item.index): \(failure)") }
    }
    #expect(failures.joined(separator: "\n") == "")
    #expect(withoutRegexp.count == 297)
    #expect(count == 294)
  }

  @Test
  func `every case of web-platform-tests with a regexp group is refused`() throws {
    let cases = try WPTPatternCase.load().filter(\.hasRegexpGroup)
    for item in cases {
      #expect(throws: PatternError.self, "case \(item.index)") { try item.pattern() }
    }
    #expect(cases.count == 72)
  }
}
