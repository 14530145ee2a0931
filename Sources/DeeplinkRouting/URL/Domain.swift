internal import CDeeplinkIDN2

/// Domains of special schemes (URL Standard, section 3.3), through libidn2.
///
/// The standard asks for Unicode's ToASCII (UTS 46, non-transitional) with hyphens unchecked and
/// lengths unverified. libidn2 differs in this: it refuses labels that are not ASCII and begin or
/// end with a hyphen, have two of them in the third and fourth place, or are longer than 63 bytes;
/// and it knows only the Unicode version it was built with. Such hosts are refused, never guessed.
enum Domain {
  /// The domain parser, not strict; takes decoded bytes.
  static func ascii(of bytes: [UInt8]) throws(URLParseError) -> [UInt8] {
    let result: [UInt8]
    if bytes.allSatisfy({ $0 < 128 }) {
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
      let isASCII = bytes.allSatisfy { $0 < 128 }
      let lowerCase = bytes.map(\.asciiLowercased)
      if isASCII, !lowerCase.starts(with: "xn--".utf8) {
        if isBidirectional, !satisfiesBidiRule(lowerCase) { throw .invalidDomain }
        result += lowerCase
      } else {
        result += try lookUp(label, bytes)
      }
    }
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
    // on bidirectional labels, so those are not tried.
    guard status == IDN2_DISALLOWED.rawValue || status == IDN2_UNASSIGNED.rawValue,
      !label.contains(where: { isDeviation($0) || isRightToLeft($0) })
    else { throw .invalidDomain }
    let transitional = UInt32(IDN2_NFC_INPUT.rawValue | IDN2_TRANSITIONAL.rawValue)
    guard let result = call(bytes, transitional).result else { throw .invalidDomain }
    return result
  }

  /// The one call into libidn2. The bytes are valid UTF-8 without NUL; the result is a C string
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
