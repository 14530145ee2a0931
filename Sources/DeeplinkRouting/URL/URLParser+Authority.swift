/// What comes between scheme and path.
extension URLParser {
  /// The authority, host and port states.
  mutating func parseAuthority(_ kind: SchemeKind) throws(URLParseError) {
    openAuthority()
    let input = input
    let start = position
    var authorityEnd = start
    var lastAt: Int?
    while authorityEnd < end, !endsAuthority(input[authorityEnd], kind) {
      if input[authorityEnd] == UInt8(ascii: "@") { lastAt = authorityEnd }
      authorityEnd += 1
    }
    if let lastAt {
      guard lastAt + 1 < authorityEnd else { throw .missingHost }
      appendCredentials(start..<lastAt)
      position = lastAt + 1
    }
    marks.host = here

    var hostEnd = position
    var insideBrackets = false
    while hostEnd < authorityEnd {
      let byte = input[hostEnd]
      if byte == UInt8(ascii: ":"), !insideBrackets { break }
      if byte == UInt8(ascii: "[") { insideBrackets = true }
      if byte == UInt8(ascii: "]") { insideBrackets = false }
      hostEnd += 1
    }
    let hasColon = hostEnd < authorityEnd
    if position == hostEnd, hasColon || kind.isSpecial { throw .missingHost }
    try appendHost(position..<hostEnd, isOpaque: !kind.isSpecial)
    marks.hostEnd = here
    if hasColon { try appendPort(hostEnd + 1..<authorityEnd, kind) }
    position = authorityEnd
  }

  private func endsAuthority(_ byte: UInt8, _ kind: SchemeKind) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
      || (byte == UInt8(ascii: "\\") && kind.isSpecial)
  }

  private mutating func openAuthority() {
    marks.hasAuthority = true
    output.append(UInt8(ascii: "/"))
    output.append(UInt8(ascii: "/"))
    (marks.usernameEnd, marks.host, marks.hostEnd) = (here, here, here)
  }

  mutating func markNoAuthority() {
    (marks.usernameEnd, marks.host, marks.hostEnd) = (here, here, here)
  }

  /// The first colon parts user and password; every `@` but the last belongs to them.
  private mutating func appendCredentials(_ range: Range<Int>) {
    let colon = range.first { input[$0] == UInt8(ascii: ":") } ?? range.upperBound
    append(range.lowerBound..<colon, escaping: .userinfo)
    marks.usernameEnd = here
    if colon + 1 < range.upperBound {
      output.append(UInt8(ascii: ":"))
      append(colon + 1..<range.upperBound, escaping: .userinfo)
    }
    // Neither of them: the `@` goes too.
    if output.last != UInt8(ascii: "/") { output.append(UInt8(ascii: "@")) }
  }

  private mutating func appendPort(_ digits: Range<Int>, _ kind: SchemeKind) throws(URLParseError) {
    guard !digits.isEmpty else {
      remarks.insert(.emptyPort)
      return
    }
    guard digits.allSatisfy({ input[$0].isASCIIDigit }) else { throw .invalidPort }
    let port = try Self.port(ofDigits: input[digits])
    if case .special(port) = kind { return }
    marks.port = port
    marks.hasPort = true
    output.append(UInt8(ascii: ":"))
    output.append(contentsOf: String(port).utf8)
  }

  static func port(ofDigits digits: ArraySlice<UInt8>) throws(URLParseError) -> UInt16 {
    var value = 0
    for digit in digits {
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
      if value > 65_535 { throw .portOutOfRange }
    }
    return UInt16(value)
  }

  /// The file, file slash and file host states.
  mutating func parseFileHost(_ kind: SchemeKind) throws(URLParseError) {
    openAuthority()
    guard isSlash(position), isSlash(position + 1) else { return }
    position += 2
    let start = position
    var hostEnd = start
    while hostEnd < end, !endsAuthority(input[hostEnd], kind) { hostEnd += 1 }
    if start == hostEnd || isDriveLetter(start..<hostEnd) { return }
    try appendHost(start..<hostEnd, isOpaque: false)
    position = hostEnd
    if output[Int(marks.host)...].elementsEqual("localhost".utf8) {
      output.removeSubrange(Int(marks.host)...)
    }
    marks.hostEnd = here
  }

  func isSlash(_ index: Int) -> Bool {
    index < end && (input[index] == UInt8(ascii: "/") || input[index] == UInt8(ascii: "\\"))
  }

  /// A Windows drive letter: `C:` or `C|`.
  func isDriveLetter(_ range: Range<Int>) -> Bool {
    guard range.count == 2, input[range.lowerBound].isASCIILetter else { return false }
    let second = input[range.lowerBound + 1]
    return second == UInt8(ascii: ":") || second == UInt8(ascii: "|")
  }
}
