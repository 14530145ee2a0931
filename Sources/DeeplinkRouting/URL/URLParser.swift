/// The basic URL parser of the WHATWG URL Standard, section 4.4, for absolute URLs.
///
/// The standard describes a machine that looks at one code point after the other. Without a base
/// URL its states run in one order, so this parser goes through the components in that order:
///
/// ```
/// scheme ─┬─ special ── slashes ─────────────── authority ─┐
///         ├─ file ──── slashes, host or drive letter ──────┼─ path ─┬─ query ─ fragment
///         ├─ "//" ─────────────────────────────── authority ┤       │
///         ├─ "/" ──────────────────────────────────────────┘        │
///         └─ anything else ── opaque path ──────────────────────────┘
/// ```
///
/// It writes the serialisation as it reads, and notes where components begin. All delimiters are
/// ASCII and all of UTF-8 above ASCII is percent-encoded byte by byte, so bytes are enough.
struct URLParser {
  let input: [UInt8]
  var position: Int
  let end: Int

  var output: [UInt8] = []
  var marks = ParsedURL.Marks()
  var remarks = RemarkSet()

  /// Takes valid UTF-8; spaces and controls around it and tabs and line ends in it do not count.
  init(_ bytes: [UInt8]) {
    let range = Self.trimmedRange(of: bytes)
    if range.count < bytes.count { remarks.insert(.surroundingSpace) }
    if bytes.contains(where: Self.isTabOrNewline) {
      input = bytes[range].filter { !Self.isTabOrNewline($0) }
      (position, end) = (0, input.count)
    } else {
      input = bytes
      (position, end) = (range.lowerBound, range.upperBound)
    }
    output.reserveCapacity(end - position + 16)
  }

  /// Takes one component of a URL, from which nothing is trimmed.
  init(component: [UInt8]) {
    (input, position, end) = (component, 0, component.count)
  }

  /// Without leading and trailing C0 controls and spaces.
  static func trimmedRange(of bytes: [UInt8]) -> Range<Int> {
    var (start, end) = (0, bytes.count)
    while start < end, bytes[start] <= 0x20 { start += 1 }
    while start < end, bytes[end - 1] <= 0x20 { end -= 1 }
    return start..<end
  }

  static func isTabOrNewline(_ byte: UInt8) -> Bool {
    byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  mutating func parse() throws(URLParseError) -> ParsedURL {
    try parseScheme()
    let kind = SchemeKind(output.dropLast())
    switch kind {
    case .special:
      while isSlash(position) { position += 1 }
      try parseAuthority(kind)
      parsePath(kind)
    case .file:
      try parseFileHost(kind)
      parsePath(kind)
    case .other:
      if isAt("/"), position + 1 < end, input[position + 1] == UInt8(ascii: "/") {
        position += 2
        try parseAuthority(kind)
        if isAt("/") { parsePath(kind) } else { markPath() }
      } else if isAt("/") {
        markNoAuthority()
        parsePath(kind)
        guardPathFromAuthority()
      } else {
        markNoAuthority()
        parseOpaquePath()
      }
    }
    parseQuery(kind)
    parseFragment()
    return ParsedURL(bytes: output, marks: marks)
  }

  @inline(__always)
  func isAt(_ character: Unicode.Scalar) -> Bool {
    position < end && input[position] == UInt8(ascii: character)
  }

  /// Copies a range of the input, escaping what is in the set.
  mutating func append(_ range: Range<Int>, escaping set: ByteSet) {
    var run = range.lowerBound
    for index in range where set.contains(input[index]) {
      output.append(contentsOf: input[run..<index])
      output.appendEscape(of: input[index])
      run = index + 1
    }
    output.append(contentsOf: input[run..<range.upperBound])
  }

  // MARK: scheme start, scheme and no scheme states

  private mutating func parseScheme() throws(URLParseError) {
    guard position < end, input[position].isASCIILetter else { throw .missingScheme }
    while position < end, ByteSet.scheme.contains(input[position]) {
      if input[position].isASCIICapital { remarks.insert(.schemeCapitals) }
      output.append(input[position].asciiLowercased)
      position += 1
    }
    guard isAt(":") else { throw .missingScheme }
    marks.schemeEnd = Int32(truncatingIfNeeded: output.count)
    output.append(UInt8(ascii: ":"))
    position += 1
  }

  // MARK: authority, host and port states

  private mutating func parseAuthority(_ kind: SchemeKind) throws(URLParseError) {
    openAuthority()
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

  private mutating func markNoAuthority() {
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

  // MARK: file, file slash and file host states

  private mutating func parseFileHost(_ kind: SchemeKind) throws(URLParseError) {
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

  private func isSlash(_ index: Int) -> Bool {
    index < end && (input[index] == UInt8(ascii: "/") || input[index] == UInt8(ascii: "\\"))
  }

  /// A Windows drive letter: `C:` or `C|`.
  func isDriveLetter(_ range: Range<Int>) -> Bool {
    guard range.count == 2, input[range.lowerBound].isASCIILetter else { return false }
    let second = input[range.lowerBound + 1]
    return second == UInt8(ascii: ":") || second == UInt8(ascii: "|")
  }

  // MARK: query and fragment states

  private mutating func parseQuery(_ kind: SchemeKind) {
    marks.query = here
    if isAt("?") {
      let queryEnd = input[position..<end].firstIndex(of: UInt8(ascii: "#")) ?? end
      output.append(UInt8(ascii: "?"))
      append(position + 1..<queryEnd, escaping: kind.isSpecial ? .specialQuery : .query)
      position = queryEnd
    }
    marks.fragment = here
  }

  private mutating func parseFragment() {
    guard position < end else { return }
    output.append(UInt8(ascii: "#"))
    append(position + 1..<end, escaping: .fragment)
  }

  var here: Int32 { Int32(truncatingIfNeeded: output.count) }
}

extension ParsedURL {
  /// Parses an absolute URL as the standard does, without a base.
  ///
  /// Bytes that are no UTF-8 count as U+FFFD. The gate for links is stricter: `Link.init(admitting:)`.
  public static func parse(_ bytes: some Collection<UInt8>) throws(URLParseError) -> ParsedURL {
    var bytes = Array(bytes)
    if !bytes.isValidUTF8 { bytes = Array(String(decoding: bytes, as: UTF8.self).utf8) }
    var parser = URLParser(bytes)
    return try parser.parse()
  }

  /// Parses an absolute URL as the standard does, without a base.
  public static func parse(_ text: String) throws(URLParseError) -> ParsedURL {
    var parser = URLParser(Array(text.utf8))
    return try parser.parse()
  }
}

extension [UInt8] {
  var isValidUTF8: Bool {
    allSatisfy { $0 < 128 } || String(validating: self, as: UTF8.self) != nil
  }
}
