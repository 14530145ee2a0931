/// A URL record of the WHATWG URL Standard, section 4.1, kept as its serialisation.
///
/// The whole record is one array of ASCII bytes and the places where its components begin and
/// end; a component becomes a `String` when it is asked for. Two records are equal if and only
/// if their serialisations are, so the bytes alone are compared.
public struct ParsedURL: Sendable {
  /// The serialisation, ASCII.
  public let bytes: [UInt8]
  let marks: Marks

  /// Offsets into the serialisation.
  ///
  /// ```
  /// myapp://user:pw@host:8080/path?query#fragment
  ///      |      |   |   |    |    |     |
  ///      |      |   |   |    path query fragment (the places of their delimiters)
  ///      |      |   |   hostEnd
  ///      |      |   host
  ///      |      usernameEnd
  ///      schemeEnd
  /// ```
  ///
  /// Without an authority `usernameEnd`, `host` and `hostEnd` are `schemeEnd + 1`; a missing
  /// query begins where the fragment does, a missing fragment at the end.
  struct Marks: Hashable, Sendable {
    var schemeEnd: Int32 = 0
    var usernameEnd: Int32 = 0
    var host: Int32 = 0
    var hostEnd: Int32 = 0
    var path: Int32 = 0
    var query: Int32 = 0
    var fragment: Int32 = 0
    var port: UInt16 = 0
    var hasAuthority = false
    var hasPort = false
  }

  public var href: String { text(0..<bytes.count) }
  public var scheme: String { text(schemeRange) }
  /// Empty where there is none.
  public var username: String { text(usernameRange) }
  /// Empty where there is none.
  public var password: String { text(passwordRange) }
  /// Serialised; nil and empty are two things (`s:/p` and `s:///p`).
  public var host: String? { marks.hasAuthority ? text(hostRange) : nil }
  /// Nil where there is none or it is the scheme's default.
  public var port: Int? { marks.hasPort ? Int(marks.port) : nil }
  /// The serialised URL path, without the `/.` that keeps it apart from an authority.
  public var path: String { text(pathRange) }
  /// Without `?`; nil and empty are two things.
  public var query: String? { queryRange.map(text) }
  /// Without `#`; nil and empty are two things.
  public var fragment: String? { fragmentRange.map(text) }

  /// The path is one opaque string, not a list of segments: `mailto:a@example.com`.
  public var hasOpaquePath: Bool {
    !marks.hasAuthority && (pathRange.isEmpty || bytes[pathRange.lowerBound] != UInt8(ascii: "/"))
  }

  public var hasCredentials: Bool { !usernameRange.isEmpty || !passwordRange.isEmpty }

  /// The scheme is one of http, https, ws, wss, ftp and file.
  public var isSpecial: Bool { kind.isSpecial }
}

extension ParsedURL {
  var kind: SchemeKind { SchemeKind(bytes[schemeRange]) }

  // The components as ranges of `bytes`, for those who work on bytes.

  public var schemeRange: Range<Int> { 0..<Int(marks.schemeEnd) }

  public var usernameRange: Range<Int> {
    let start = Int(marks.schemeEnd) + (marks.hasAuthority ? 3 : 1)
    return start..<max(start, Int(marks.usernameEnd))
  }

  public var passwordRange: Range<Int> {
    let start = Int(marks.usernameEnd)
    // `:password@` is never shorter than three bytes; `@` alone follows a user without password.
    return start + 2 < Int(marks.host)
      ? start + 1..<Int(marks.host) - 1 : start..<start
  }

  public var hostRange: Range<Int> { Int(marks.host)..<Int(marks.hostEnd) }
  public var pathRange: Range<Int> { Int(marks.path)..<Int(marks.query) }

  public var queryRange: Range<Int>? {
    marks.query < marks.fragment ? Int(marks.query) + 1..<Int(marks.fragment) : nil
  }

  public var fragmentRange: Range<Int>? {
    Int(marks.fragment) < bytes.count ? Int(marks.fragment) + 1..<bytes.count : nil
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }
}

extension ParsedURL: Hashable {
  public static func == (a: ParsedURL, b: ParsedURL) -> Bool { a.bytes == b.bytes }
  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension ParsedURL: CustomStringConvertible {
  public var description: String { href }
}
