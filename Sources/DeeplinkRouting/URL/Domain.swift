internal import CDeeplinkIDN2

/// Domains of special schemes (URL Standard, section 3.3), through libidn2.
///
/// The standard asks for Unicode's ToASCII (UTS 46, non-transitional) with hyphens and punctuation
/// unchecked and lengths unverified. libidn2 checks more, so it gets one label at a time, with
/// digits in place of punctuation. What is left: labels that are not ASCII are refused when they
/// are longer than 63 bytes, when they mix punctuation with letters from right to left, or when
/// they hold characters younger than the Unicode version that libidn2 was built with. Such hosts
/// are refused, never guessed.
enum Domain {
  /// The domain parser, not strict; takes decoded bytes.
  static func ascii(of bytes: [UInt8]) throws(URLParseError) -> [UInt8] {
    let result: [UInt8]
    if bytes.isASCII {
      result = bytes.map(\.asciiLowercased)
    } else {
      guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidDomain }
      result = try toASCII(text)
    }
    guard !result.isEmpty else { throw .invalidDomain }
    guard !result.contains(where: { ByteSet.forbiddenInDomain.contains($0) }) else {
      throw .forbiddenHostCharacter
    }
    return result
  }

  /// Each label by itself: libidn2 would check hyphens and lengths of the ASCII ones too.
  private static func toASCII(_ text: String) throws(URLParseError) -> [UInt8] {
    let labels = text.unicodeScalars.split(omittingEmptySubsequences: false) {
      ".\u{3002}\u{FF0E}\u{FF61}".unicodeScalars.contains($0)
    }
    let isBidirectional = text.unicodeScalars.contains(where: isRightToLeft)
    var result: [UInt8] = []
    for (index, label) in labels.enumerated() {
      if index > 0 { result.append(UInt8(ascii: ".")) }
      let bytes = Array(String(label).utf8)
      let lowerCase = bytes.map(\.asciiLowercased)
      if bytes.isASCII, !lowerCase.starts(with: "xn--".utf8) {
        if isBidirectional, !satisfiesBidiRule(lowerCase) { throw .invalidDomain }
        result += lowerCase
      } else {
        result += try lookUp(label)
      }
    }
    return result
  }

  /// Looks up a label whose punctuation and hyphens libidn2 would refuse.
  ///
  /// Punycode keeps ASCII characters as they are and counts their places alone, so punctuation can
  /// be put in afterwards: where the answers for two different digits in its place differ.
  private static func lookUp(
    _ label: Substring.UnicodeScalarView
  ) throws(URLParseError) -> [UInt8] {
    let bytes = Array(String(label).utf8)
    let punctuation = bytes.filter { $0 < 128 && !ByteSet.alphanumeric.contains($0) }
    // An A-label is libidn2's to check, digits have rules in right-to-left labels, and U+0338
    // would combine with some punctuation.
    if punctuation.isEmpty || bytes.map(\.asciiLowercased).starts(with: "xn--".utf8)
      || label.contains(where: { isRightToLeft($0) || $0 == "\u{338}" })
    {
      return try lookUp(label, bytes)
    }
    func masked(by digit: UInt8) throws(URLParseError) -> [UInt8] {
      try lookUp(
        label, bytes.map { $0 < 128 && !ByteSet.alphanumeric.contains($0) ? digit : $0 })
    }
    var result = try masked(by: UInt8(ascii: "0"))
    let other = try masked(by: UInt8(ascii: "1"))
    guard result.count == other.count else { throw .invalidDomain }
    let places = result.indices.filter { result[$0] != other[$0] }
    guard places.count == punctuation.count else { throw .invalidDomain }
    for (place, character) in zip(places, punctuation) { result[place] = character }
    // Mapping may have made an A-label, of `ｘn--` say; what begins with a letter that is neither
    // ASCII nor mapped is none.
    let isEncoded = other.starts(with: "xn--".utf8)
    guard
      !result.dropFirst(isEncoded ? 4 : 0).starts(with: "xn--".utf8)
        || label.first.map({ !$0.isASCII && !$0.properties.changesWhenNFKCCaseFolded }) == true
    else { throw .invalidDomain }
    return result
  }

  private static func lookUp(
    _ label: Substring.UnicodeScalarView, _ bytes: [UInt8]
  ) throws(URLParseError) -> [UInt8] {
    let flags = UInt32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
    let (result, status) = call(bytes, flags)
    if let result { return result }
    // Without transitional processing libidn2 applies IDNA 2008, which has no symbols (☕.example).
    // With it, it does not, and the two differ in four characters alone; it leaves out the rule
    // on bidirectional labels, so those are not tried. The check that it leads back is left out:
    // it would refuse punctuation, which the caller looks at.
    guard status == IDN2_DISALLOWED.rawValue || status == IDN2_UNASSIGNED.rawValue,
      !label.contains(where: { isDeviation($0) || isRightToLeft($0) })
    else { throw .invalidDomain }
    let transitional = UInt32(
      IDN2_NFC_INPUT.rawValue | IDN2_TRANSITIONAL.rawValue | IDN2_NO_ALABEL_ROUNDTRIP.rawValue)
    guard let result = call(bytes, transitional).result else { throw .invalidDomain }
    return result
  }

  /// The one call into libidn2.
  ///
  /// The bytes are valid UTF-8 without NUL; the result is a C string
  /// of libidn2's own allocation.
  private static func call(_ bytes: [UInt8], _ flags: UInt32) -> (result: [UInt8]?, status: Int32) {
    guard !bytes.contains(0) else { return (nil, IDN2_ENCODING_ERROR.rawValue) }
    var pointer: UnsafeMutablePointer<UInt8>?
    let status = unsafe idn2_lookup_u8(bytes + [0], &pointer, Int32(bitPattern: flags))
    defer { unsafe idn2_free(pointer) }
    guard status == IDN2_OK.rawValue, let pointer = unsafe pointer else { return (nil, status) }
    var result: [UInt8] = []
    var next = unsafe pointer
    while unsafe next.pointee != 0 {
      result.append(unsafe next.pointee)
      unsafe next += 1
    }
    return (result, status)
  }

  /// The characters that transitional processing maps and the standard keeps (UTS 46, section 2.3).
  private static func isDeviation(_ scalar: Unicode.Scalar) -> Bool {
    "\u{DF}\u{1E9E}\u{3C2}\u{200C}\u{200D}".unicodeScalars.contains(scalar)
  }

  /// The blocks of the scripts written from right to left.
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF:
      true
    default: false
    }
  }

  /// RFC 5893, section 2, for a label of ASCII in a domain that has another one from right to left.
  private static func satisfiesBidiRule(_ label: [UInt8]) -> Bool {
    guard let first = label.first, let last = label.last else { return true }
    return first.isASCIILetter && (last.isASCIILetter || last.isASCIIDigit)
  }
}
