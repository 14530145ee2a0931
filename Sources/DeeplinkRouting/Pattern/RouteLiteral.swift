/// The fixed text of a route's pattern in the canonical form that URLs have when they are matched.
enum RouteLiteral {
  /// The parts of a path; a rooted one has no dot segments.
  static func path(_ parts: [PatternPart], rooted: Bool) -> [PatternPart] {
    parts.indices.map { index in
      var part = parts[index]
      part.mapText { canonical($0, escaping: .endsPath) }
      if rooted, part.kind == .fixedText {
        part.value = withoutDots(part.value, isLast: index == parts.count - 1)
      }
      return part
    }
  }

  /// The parts of a fragment.
  static func fragment(_ parts: [PatternPart]) -> [PatternPart] {
    parts.map { part in
      var part = part
      part.mapText { canonical($0, escaping: .endsFragment) }
      return part
    }
  }

  /// The parts of a host, in lower case; text that no host can hold is an error.
  static func host(_ parts: [PatternPart]) throws(PatternError) -> [PatternPart] {
    // Of an IPv6 address that groups are part of, the pieces are none; see the standard's
    // "canonicalize an IPv6 hostname".
    let isWhole = parts.count == 1 && parts[0].kind == .fixedText
    let isIPv6 = (parts.first.map { $0.value + $0.prefix })?.utf8.first == UInt8(ascii: "[")
    var result = parts
    for index in parts.indices {
      for text in [\PatternPart.value, \.prefix, \.suffix] {
        let literal = parts[index][keyPath: text]
        if literal.isEmpty { continue }
        let encoded =
          isIPv6 && !isWhole
          ? try? URLComponentEncoder.ipv6Hostname(literal) : canonicalHost(literal)
        guard let encoded else { throw PatternError(.host(literal), at: parts[index].offset) }
        result[index][keyPath: text] = encoded
      }
    }
    return result
  }

  /// The parts of a port, digits alone.
  static func port(_ parts: [PatternPart]) throws(PatternError) -> [PatternPart] {
    for part in parts {
      let text = part.value + part.prefix + part.suffix
      let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
      guard text.isEmpty || isNumber && UInt16(text) != nil else {
        throw PatternError(.port(text), at: part.offset)
      }
    }
    guard parts.count == 1, let port = UInt16(parts[0].value) else { return parts }
    var part = parts[0]
    part.value = String(port)
    return [part]
  }

  /// The text as it stands in the path or, if `?` need not be escaped, fragment of a canonical URL.
  private static func canonical(_ text: String, escaping set: ByteSet) -> String {
    if text.isEmpty { return text }
    // The hyphens keep what is at the ends from being trimmed.
    var bytes = Array("s:#-".utf8)
    PercentEncoding.encode(text.utf8, escaping: set, into: &bytes)
    bytes.append(UInt8(ascii: "-"))
    // A fragment takes everything: parsing cannot fail, and changes nothing but single characters.
    let fragment = (try? ParsedURL.parse(bytes))?.canonical.fragment
    return fragment.map { String($0.dropFirst().dropLast()) } ?? text
  }

  /// The text as it stands in the host of a canonical URL; nil if it cannot.
  private static func canonicalHost(_ text: String) -> String? {
    let isLiteral = text.utf8.first == UInt8(ascii: "[")
    let isPossible = text.utf8.allSatisfy { isLiteral || !ByteSet.forbiddenInHost.contains($0) }
    guard isPossible, let url = try? ParsedURL.parse("s://" + text).canonical,
      url.pathRange.isEmpty, url.port == nil, !url.hasCredentials
    else { return nil }
    return url.host
  }

  /// Resolves `.` and `..` where they are whole segments of the text.
  private static func withoutDots(_ text: String, isLast: Bool) -> String {
    let segments = text.split(separator: "/", omittingEmptySubsequences: false)
    var result: [Substring] = []
    for (index, segment) in segments.enumerated() {
      let isEnd = index == segments.count - 1
      let isWhole = index > 0 && (!isEnd || isLast)
      guard isWhole, segment == "." || segment == ".." else {
        result.append(segment)
        continue
      }
      if segment == "..", result.count > 1 { result.removeLast() }
      if isEnd { result.append("") }
    }
    return result.joined(separator: "/")
  }
}

extension PatternPart {
  fileprivate mutating func mapText(_ transform: (String) -> String) {
    value = transform(value)
    prefix = transform(prefix)
    suffix = transform(suffix)
  }
}

extension ByteSet {
  /// What the parser takes away, and what ends a path.
  fileprivate static let endsPath = c0Control.union("?#")
  /// What the parser takes away, and what no canonical fragment holds.
  fileprivate static let endsFragment = c0Control.union("#")
}
