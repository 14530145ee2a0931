extension ParsedURL {
  /// The canonical form: one spelling for what clients spell differently.
  ///
  /// In this order, in each component: a lone `%` becomes `%25`; every character but
  /// `A-Z a-z 0-9 - _ . ~ ! * ' ( ) ; / ? : @ & = + $ ,` is escaped where it is no delimiter;
  /// escapes of `A-Z a-z 0-9 - . _ ~ ! * ' ( )` are decoded; the letters of the host are made
  /// small; the digits of the other escapes are made capitals.
  ///
  /// The result is valid RFC 3986, and its own canonical form.
  public var canonical: ParsedURL {
    var remarks = RemarkSet()
    return canonical(noting: &remarks)
  }

  func canonical(noting remarks: inout RemarkSet) -> ParsedURL {
    if isCanonical { return self }
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + 16)
    var new = marks
    var copied = 0

    // What stands between two components, their delimiters, is copied.
    func copy(to end: Int) { output.append(contentsOf: bytes[copied..<end]) }
    func rewrite(_ range: Range<Int>, isHost: Bool = false) {
      copy(to: range.lowerBound)
      canonicalize(range, isHost: isHost, into: &output, noting: &remarks)
      copied = range.upperBound
    }
    var here: Int32 { Int32(truncatingIfNeeded: output.count) }

    rewrite(usernameRange)
    new.usernameEnd = here
    if !passwordRange.isEmpty { rewrite(passwordRange) }
    copy(to: hostRange.lowerBound)
    copied = hostRange.lowerBound
    new.host = here
    if !hasIPLiteral { rewrite(hostRange, isHost: true) } else { copy(to: hostRange.upperBound) }
    copied = hostRange.upperBound
    new.hostEnd = here
    copy(to: pathRange.lowerBound)
    copied = pathRange.lowerBound
    new.path = here
    rewrite(pathRange)
    new.query = here
    if let queryRange { rewrite(queryRange) }
    new.fragment = here
    if let fragmentRange { rewrite(fragmentRange) }
    copy(to: bytes.count)
    return ParsedURL(bytes: output, marks: new)
  }

  private var hasIPLiteral: Bool {
    !hostRange.isEmpty && bytes[hostRange.lowerBound] == UInt8(ascii: "[")
  }

  /// Nothing to escape, decode or make small: most links.
  private var isCanonical: Bool {
    let host = hostRange
    return isCanonical(0..<host.lowerBound, .notCanonical)
      && (hasIPLiteral || isCanonical(host, .notCanonicalInHost))
      && isCanonical(host.upperBound..<Int(marks.fragment), .notCanonical)
      && (fragmentRange.map { isCanonical($0, .notCanonical) } ?? true)
  }

  private func isCanonical(_ range: Range<Int>, _ stops: ByteSet) -> Bool {
    var index = range.lowerBound
    while true {
      index = bytes.firstIndex(of: stops, in: index..<range.upperBound)
      if index == range.upperBound { return true }
      guard bytes[index] == UInt8(ascii: "%"), index + 2 < range.upperBound,
        let high = bytes[index + 1].hexValue, let low = bytes[index + 2].hexValue,
        max(bytes[index + 1], bytes[index + 2]) < UInt8(ascii: "a"),
        !ByteSet.canonicalUnescaped.contains(high << 4 | low)
      else { return false }
      index += 3
    }
  }

  private func canonicalize(
    _ range: Range<Int>, isHost: Bool, into output: inout [UInt8], noting remarks: inout RemarkSet
  ) {
    // Capitals of a host are looked at too.
    let (bytes, unescaped) = (bytes, ByteSet.canonicalUnescaped)
    let stops: ByteSet = isHost ? .notCanonicalInHost : .notCanonical
    var index = range.lowerBound
    while index < range.upperBound {
      let stop = bytes.firstIndex(of: stops, in: index..<range.upperBound)
      output.append(contentsOf: bytes[index..<stop])
      guard stop < range.upperBound else { return }
      let byte = bytes[stop]
      index = stop + 1
      if byte == UInt8(ascii: "%"), stop + 2 < range.upperBound,
        let high = bytes[stop + 1].hexValue, let low = bytes[stop + 2].hexValue
      {
        let decoded = high << 4 | low
        let isCapital = max(bytes[stop + 1], bytes[stop + 2]) < UInt8(ascii: "a")
        if unescaped.contains(decoded) {
          output.append(isHost ? decoded.asciiLowercased : decoded)
          remarks.insert(.escapes)
        } else {
          output.appendEscape(of: decoded)
          if !isCapital { remarks.insert(.escapes) }
        }
        index += 2
      } else if byte.isASCIICapital {
        output.append(byte.asciiLowercased)
      } else {
        output.appendEscape(of: byte)
        remarks.insert(byte == UInt8(ascii: "%") ? .lonePercent : .rawCharacters)
      }
    }
  }
}
