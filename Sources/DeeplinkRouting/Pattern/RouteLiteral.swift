/// The fixed text of a route's pattern in the canonical form that URLs have when they are matched.
enum RouteLiteral {
  /// The parts of a path; a rooted one has no dot segments.
  static func path(_ parts: [PatternPart], rooted: Bool) -> [PatternPart] {
    parts.indices.map { index in
      var part = parts[index]
      part.value = canonical(part.value)
      part.prefix = canonical(part.prefix)
      part.suffix = canonical(part.suffix)
      if rooted, part.kind == .fixedText {
        part.value = withoutDots(part.value, isLast: index == parts.count - 1)
      }
      return part
    }
  }

  /// The parts of a host, in lower case; text that no host can hold is an error.
  static func host(_ parts: [PatternPart]) throws(PatternError) -> [PatternPart] {
    let isIPv6 = (parts.first.map { $0.value + $0.prefix })?.first == "["
    var result: [PatternPart] = []
    for part in parts {
      var part = part
      for text in [\PatternPart.value, \.prefix, \.suffix] {
        let literal = part[keyPath: text]
        let isValid = literal.unicodeScalars.allSatisfy { scalar in
          isIPv6
            ? scalar.properties.isASCIIHexDigit || "[]:.".unicodeScalars.contains(scalar)
            : !" #/:<>?@[\\]^|%".unicodeScalars.contains(scalar) && scalar.value > 0x20
        }
        guard isValid else { throw PatternError(.host(literal), at: part.offset) }
        part[keyPath: text] = isIPv6 ? literal.lowercased() : canonical(literal.lowercased())
      }
      result.append(part)
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

  private static func canonical(_ text: String) -> String { text }

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
