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
    if bytes.hasControls, bytes.contains(where: Self.isTabOrNewline) {
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
    position = range.lowerBound
    append(upTo: range.upperBound, escaping: set)
  }

  /// Copies the input from here to an end or to a delimiter before it, escaping what is in the set,
  /// which has the delimiter.
  mutating func append(upTo end: Int, escaping set: ByteSet, delimiter: UInt8? = nil) {
    var index = position
    while index < end {
      let stop = input.firstIndex(of: set, in: index..<end)
      output.append(contentsOf: input[index..<stop])
      index = stop
      if stop == end || input[stop] == delimiter { break }
      appendEscape(of: input[stop])
      index += 1
    }
    position = index
  }

  mutating func appendEscape(of byte: UInt8) {
    output.appendEscape(of: byte)
    remarks.insert(.rawCharacters)
  }

  // MARK: scheme start, scheme and no scheme states

  private mutating func parseScheme() throws(URLParseError) {
    let (input, allowed, start) = (input, ByteSet.scheme, position)
    guard position < end, input[position].isASCIILetter else { throw .missingScheme }
    while position < end, allowed.contains(input[position]) { position += 1 }
    guard isAt(":") else { throw .missingScheme }
    output.append(contentsOf: input[start..<position])
    for index in output.indices where output[index].isASCIICapital {
      output[index] |= 0x20
      remarks.insert(.schemeCapitals)
    }
    marks.schemeEnd = Int32(truncatingIfNeeded: output.count)
    output.append(UInt8(ascii: ":"))
    position += 1
  }

  // MARK: query and fragment states

  private mutating func parseQuery(_ kind: SchemeKind) {
    marks.query = here
    if isAt("?") {
      output.append(UInt8(ascii: "?"))
      position += 1
      append(
        upTo: end, escaping: kind.isSpecial ? .specialQuery : .query, delimiter: UInt8(ascii: "#"))
    }
    marks.fragment = here
  }

  private mutating func parseFragment() {
    guard position < end else { return }
    output.append(UInt8(ascii: "#"))
    position += 1
    append(upTo: end, escaping: .fragment)
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
