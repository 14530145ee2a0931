import DeeplinkRouting
import Foundation
import Testing

/// web-platform-tests' suite for the URL Standard, those of its cases that need no base URL.
@Suite(
  .enabled(
    if: WebPlatformTestData.has("urltestdata.json"),
    "no urltestdata.json in \(WebPlatformTestData.folder.path): set DEEPLINK_WPT_DATA"))
struct URLStandardTests {
  struct Case: Decodable {
    var input: String
    var base: String?
    var failure: Bool?
    var href, username, password, host, hostname, port, pathname, search, hash: String?
    var `protocol`: String?

    /// The scheme of an absolute input, in lower case.
    var scheme: String? {
      let trimmed = input.unicodeScalars.drop { $0.value <= 0x20 }
        .filter { ![9, 10, 13].contains($0.value) }
      guard let colon = trimmed.firstIndex(of: ":") else { return nil }
      return Scheme(String(String.UnicodeScalarView(trimmed[..<colon])))?.text
    }

    /// A special URL without slashes is relative to a base of the same scheme.
    var needsBase: Bool {
      guard let scheme, let base else { return false }
      return base.hasPrefix(scheme + ":") && !input.lowercased().contains(scheme + "://")
    }

    /// The standard's getters, as the suite writes them.
    func differences(from url: ParsedURL) -> [String] {
      let host = url.host ?? ""
      let port = url.port.map { String($0) } ?? ""
      let query = url.query ?? ""
      let fragment = url.fragment ?? ""
      let components: [(name: String, expected: String?, actual: String)] = [
        ("href", href, url.href),
        ("protocol", `protocol`, url.scheme + ":"),
        ("username", username, url.username),
        ("password", password, url.password),
        ("host", self.host, port.isEmpty ? host : "\(host):\(port)"),
        ("hostname", hostname, host),
        ("port", self.port, port),
        ("pathname", pathname, url.path),
        ("search", search, query.isEmpty ? "" : "?" + query),
        ("hash", hash, fragment.isEmpty ? "" : "#" + fragment),
      ]
      return components.filter { $0.expected != $0.actual }
        .map { "\($0.name): \($0.actual), expected \($0.expected ?? "none")" }
    }

    /// Where the parser is not the standard's, nil where it agrees.
    var disagreement: String? {
      do {
        let url = try ParsedURL.parse(input)
        if failure == true { return "parsed as \(url.href)" }
        let differences = differences(from: url)
        return differences.isEmpty ? nil : differences.joined(separator: "; ")
      } catch {
        return failure == true ? nil : "\(error)"
      }
    }
  }

  enum Entry: Decodable {
    case comment
    case test(Case)

    init(from decoder: any Decoder) throws {
      self =
        if (try? decoder.singleValueContainer().decode(String.self)) != nil {
          .comment
        } else {
          .test(try Case(from: decoder))
        }
    }
  }

  let cases: [Case]
  let special: Set = ["http", "https", "ws", "wss", "ftp", "file"]

  init() throws {
    let entries = try JSONDecoder().decode(
      [Entry].self, from: try WebPlatformTestData.data("urltestdata.json"))
    cases = entries.compactMap { if case .test(let test) = $0 { test } else { nil } }
  }

  private func disagreements(_ cases: [Case]) -> [String: String] {
    var found: [String: String] = [:]
    for test in cases { found[test.input] = test.disagreement }
    return found
  }

  @Test func `every custom scheme is parsed as the standard says`() {
    let subset = cases.filter { test in test.scheme.map { !special.contains($0) } ?? false }
    #expect(subset.count == 217)
    #expect(disagreements(subset) == [:])
  }

  @Test func `the gate refuses the cases with raw controls and no other that parses`() {
    let subset = cases.filter { test in test.scheme.map { !special.contains($0) } ?? false }
    var refused: [String] = []
    for test in subset where test.failure != true {
      do {
        let link = try Link(admitting: Array(test.input.utf8))
        #expect(link.url.href == test.href)
      } catch {
        #expect(error.code == .controlCharacter, "\(test.input)")
        refused.append(test.input)
      }
    }
    #expect(refused.count == 17)
  }

  @Test func `every http and https URL is parsed as the standard says, base or not`() {
    let subset = cases.filter { ["http", "https"].contains($0.scheme) && !$0.needsBase }
    #expect(subset.count == 381)
    #expect(disagreements(subset) == [:])
  }

  @Test func `every other special URL without a base is parsed as the standard says`() {
    let subset = cases.filter {
      $0.base == nil && ["ws", "wss", "ftp", "file"].contains($0.scheme)
    }
    #expect(subset.count == 80)
    #expect(disagreements(subset) == [:])
  }

  @Test func `what has no scheme fails without a base`() {
    let subset = cases.filter { $0.scheme == nil }
    #expect(subset.count == 172)
    for test in subset {
      #expect(throws: URLParseError.missingScheme, "\(test.input)") {
        try ParsedURL.parse(test.input)
      }
    }
  }
}
