import DeeplinkRouting
import Testing

/// Properties of parsing and of the canonical form that hold for every string.
@Suite struct URLPropertyTests {
  /// Always the same sequence (SplitMix64).
  struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  static let starts = [
    "s:", "s:/", "s://", "s:///", "S://", "http://", "https:", "ws:/", "file:", "file://",
    "file:///", "FTP:\\", "a+b-c.d:", "s://user:pw@", "s:/.//",
  ]
  static let pieces = [
    "%", "%%", "%4", "%41", "%2e", "%2E%2e", "%2f", "%25", "%00", "%c3%a9", "%FF", ".", "..", "/",
    "//", "/./", "/../", "\\", "?", "#", ":", "@", "[", "]", "[::1]", "[1::2:0:0]", "1.2.3", "0x7f",
    "256", "C|", "C:", "|", "^", "{", "}", "<", ">", "\"", "'", "`", " ", "  ", "a", "A", "é", "É",
    "€", "\u{1F600}", "\u{202E}", "\u{200B}", "ß", "☃", "\u{AD}", "。", "xn--", "-", "_", "~", "!",
    "$", "&", "(", ")", "*", "+", ",", ";", "=", "host", "80", "65536", "localhost",
  ]

  private func strings(_ count: Int, seed: UInt64) -> [String] {
    var generator = Generator(state: seed)
    return (0..<count).map { _ in
      let length = Int.random(in: 0...10, using: &generator)
      return (0..<length).reduce(
        into: Self.starts[Int.random(in: 0..<Self.starts.count, using: &generator)]
      ) { text, _ in
        text += Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &generator)]
      }
    }
  }

  @Test func `what is canonical stays as it is, and is valid`() throws {
    var admitted = 0
    for text in strings(60_000, seed: 1) {
      guard let link = try? Link(admitting: Array(text.utf8)) else { continue }
      admitted += 1
      let href = link.canonical.href
      let again = try #require(try? Link(admitting: Array(href.utf8)), "\(text)")
      try #require(again.canonical.href == href, "\(text)")
      try #require(link.canonical.canonical == link.canonical, "\(text)")
      try #require(isRFC3986(href), "\(text) became \(href)")
      try #require(components(again.canonical) == components(link.canonical), "\(text)")
    }
    #expect(admitted > 25_000)
  }

  @Test func `what is serialised parses to the same record`() throws {
    var parsed = 0
    for text in strings(60_000, seed: 2) {
      guard let url = try? ParsedURL.parse(text) else { continue }
      parsed += 1
      let again = try #require(try? ParsedURL.parse(url.href), "\(text)")
      try #require(components(again) == components(url), "\(text)")
    }
    #expect(parsed > 25_000)
  }

  private func components(_ url: ParsedURL) -> [String?] {
    [
      url.href, url.scheme, url.username, url.password, url.host, url.port.map { "\($0)" },
      url.path, url.query, url.fragment, "\(url.hasOpaquePath)",
    ]
  }

  /// RFC 3986, appendix A, as far as it goes beyond a URL that has been parsed already.
  private func isRFC3986(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
    let pathLike = unreserved.union("!$&'()*+,;=:@/".utf8)
    func take(_ allowed: Set<UInt8>) -> Bool {
      while let byte = rest.first {
        if byte == UInt8(ascii: "%") {
          guard rest.count >= 3,
            rest.dropFirst().prefix(2).allSatisfy({
              Set("0123456789ABCDEF".utf8).contains($0)
            })
          else { return false }
          rest = rest.dropFirst(3)
        } else if allowed.contains(byte) {
          rest = rest.dropFirst()
        } else {
          return true
        }
      }
      return true
    }
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return false }
    rest = rest[(colon + 1)...]
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let authority = pathLike.subtracting("/".utf8)
      guard take(authority) else { return false }
      if rest.first == UInt8(ascii: "[") {
        rest = rest.dropFirst()
        guard take(Set("0123456789abcdef:".utf8)), rest.first == UInt8(ascii: "]") else {
          return false
        }
        rest = rest.dropFirst()
        guard take(Set(":0123456789".utf8)) else { return false }
      }
      guard rest.isEmpty || "/?#".utf8.contains(rest[rest.startIndex]) else { return false }
    }
    guard take(pathLike) else { return false }
    for delimiter in "?#".utf8 where rest.first == delimiter {
      rest = rest.dropFirst()
      guard take(pathLike.union("?".utf8)) else { return false }
    }
    return rest.isEmpty
  }
}
