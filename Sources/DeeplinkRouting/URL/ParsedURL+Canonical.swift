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
    let set = ByteSet.canonical
    let host = hostRange
    if !hasIPLiteral {
      for index in host where !set.contains(bytes[index]) || bytes[index].isASCIICapital {
        return false
      }
    }
    for index in 0..<host.lowerBound where !set.contains(bytes[index]) { return false }
    for index in host.upperBound..<Int(marks.fragment) where !set.contains(bytes[index]) {
      return false
    }
    if let fragmentRange {
      for index in fragmentRange where !set.contains(bytes[index]) { return false }
    }
    return true
  }

  private func canonicalize(
    _ range: Range<Int>, isHost: Bool, into output: inout [UInt8], noting remarks: inout RemarkSet
  ) {
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        if index + 2 < range.upperBound, let high = bytes[index + 1].hexValue,
          let low = bytes[index + 2].hexValue
        {
          let decoded = high << 4 | low
          let start = output.count
          if ByteSet.canonicalUnescaped.contains(decoded) {
            output.append(isHost ? decoded.asciiLowercased : decoded)
          } else {
            output.appendEscape(of: decoded)
          }
          if !output[start...].elementsEqual(bytes[index...index + 2]) { remarks.insert(.escapes) }
          index += 3
          continue
        }
        output.appendEscape(of: byte)
        remarks.insert(.lonePercent)
      } else if ByteSet.canonical.contains(byte) {
        output.append(isHost ? byte.asciiLowercased : byte)
      } else {
        output.appendEscape(of: byte)
        remarks.insert(.rawCharacters)
      }
      index += 1
    }
  }
}
