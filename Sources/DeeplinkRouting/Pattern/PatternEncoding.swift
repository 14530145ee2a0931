/// The encoding callbacks of the URLPattern Standard, with its errors as those of a pattern.
enum PatternEncoding {
  static func scheme(_ text: String) throws(PatternError) -> String {
    try valid(text, URLComponentEncoder.scheme)
  }

  static func username(_ text: String) throws(PatternError) -> String {
    URLComponentEncoder.username(text)
  }

  static func password(_ text: String) throws(PatternError) -> String {
    URLComponentEncoder.password(text)
  }

  static func hostname(_ text: String) throws(PatternError) -> String {
    try valid(text, URLComponentEncoder.hostname)
  }

  static func ipv6(_ text: String) throws(PatternError) -> String {
    try valid(text, URLComponentEncoder.ipv6Hostname)
  }

  static func port(_ text: String) throws(PatternError) -> String { try port(text, scheme: nil) }

  static func port(_ text: String, scheme: String?) throws(PatternError) -> String {
    try valid(text) { text throws(URLParseError) in
      try URLComponentEncoder.port(text, scheme: scheme)
    }
  }

  static func pathname(_ text: String) throws(PatternError) -> String {
    URLComponentEncoder.pathname(text)
  }

  static func opaquePathname(_ text: String) throws(PatternError) -> String {
    URLComponentEncoder.opaquePathname(text)
  }

  static func search(_ text: String) throws(PatternError) -> String {
    URLComponentEncoder.search(text)
  }

  static func hash(_ text: String) throws(PatternError) -> String {
    URLComponentEncoder.hash(text)
  }

  private static func valid(
    _ text: String, _ encode: (String) throws(URLParseError) -> String
  ) throws(PatternError) -> String {
    do throws(URLParseError) {
      return try encode(text)
    } catch {
      throw PatternError(.component(text), at: 0)
    }
  }
}

extension ParsedURL {
  /// Parses a URL that may be relative to a base URL.
  ///
  /// The text that the reference stands for is put together and parsed, which is what the URL
  /// Standard's states for relative URLs come to but for `file:` and for a scheme without slashes.
  static func resolve(_ text: String, against base: String?) -> ParsedURL? {
    guard let base else { return try? parse(text) }
    guard let base = try? parse(base) else { return nil }
    let scheme = text.utf8.prefix { ByteSet.scheme.contains($0) }
    if scheme.first?.isASCIILetter == true, text.utf8.dropFirst(scheme.count).first == 0x3A {
      return try? parse(text)
    }
    let path = base.bytes[..<base.pathRange.upperBound]
    let head: ArraySlice<UInt8>
    switch text.utf8.first {
    case UInt8(ascii: "#"): head = base.bytes[..<(base.queryRange ?? base.pathRange).upperBound]
    case _ where base.hasOpaquePath: return nil
    case UInt8(ascii: "?"): head = path
    case nil: head = base.bytes[..<(base.queryRange ?? base.pathRange).upperBound]
    case UInt8(ascii: "/") where text.utf8.dropFirst().first == UInt8(ascii: "/"):
      head = base.bytes[...base.schemeRange.upperBound]
    case UInt8(ascii: "/"): head = base.bytes[..<base.pathRange.lowerBound]
    default:
      let slash = base.bytes[base.pathRange].lastIndex(of: UInt8(ascii: "/"))
      head = base.bytes[..<(slash.map { $0 + 1 } ?? base.pathRange.lowerBound)]
    }
    return try? parse(Array(head) + text.utf8)
  }
}
