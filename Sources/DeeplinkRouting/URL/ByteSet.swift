/// A set of bytes in four machine words: of ASCII any, of what is above ASCII all or none.
///
/// Membership is a load, a shift and a test, so that the parsers can ask it of every byte.
struct ByteSet: Sendable {
  private var words: InlineArray<4, UInt64>

  init(_ members: some Sequence<UInt8>, nonASCII: Bool = false) {
    words = nonASCII ? [0, 0, .max, .max] : [0, 0, 0, 0]
    for byte in members where byte < 128 { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
  }

  init(_ members: String, nonASCII: Bool = false) {
    self.init(members.utf8, nonASCII: nonASCII)
  }

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    (words[Int(byte >> 6)] &>> UInt64(byte & 63)) & 1 == 1
  }

  func union(_ members: String) -> ByteSet {
    ByteSet((0..<128).filter(contains) + Array(members.utf8), nonASCII: contains(0x80))
  }

  /// Everything that is not in this set, bytes above ASCII included.
  var inverted: ByteSet {
    ByteSet((0..<128).filter { !contains($0) }, nonASCII: !contains(0x80))
  }
}

extension ByteSet {
  private static let digits = "0123456789"
  private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

  static let alphanumeric = ByteSet(letters + digits)

  /// What may follow the first letter of a scheme (RFC 3986 section 3.1).
  static let scheme = alphanumeric.union("+-.")

  // The percent-encode sets of the URL Standard, section 1.3.
  static let c0Control = ByteSet(Array(0...0x1F) + [0x7F], nonASCII: true)
  static let fragment = c0Control.union(" \"<>`")
  static let query = c0Control.union(" \"#<>")
  static let specialQuery = query.union("'")
  static let path = query.union("?^`{}")
  static let userinfo = path.union("/:;=@[\\]|")
  static let component = userinfo.union("$%&+,")

  // The path's set and what ends a segment.
  static let pathStops = path.union("/")
  static let specialPathStops = path.union("/\\")

  // The URL Standard, section 3.2.
  static let forbiddenInHost = ByteSet("\0\t\n\r #/:<>?@[\\]^|")
  static let forbiddenInDomain = ByteSet(
    Array(0...0x20) + Array("#/:<>?@[\\]^|%".utf8) + [0x7F])
  /// What a domain may be copied of, with capitals made small, before anything is decoded.
  static let plainDomain = ByteSet((0..<128).filter { !forbiddenInDomain.contains($0) })

  // The canonical form.
  static let canonical = alphanumeric.union("-_.~!*'();/?:@&=+$,")
  static let notCanonical = canonical.inverted
  static let notCanonicalInHost = notCanonical.union("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
  static let canonicalUnescaped = alphanumeric.union("-._~!*'()")
}

extension UInt8 {
  @inline(__always) var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }
  @inline(__always) var isASCIICapital: Bool { self &- UInt8(ascii: "A") < 26 }
  @inline(__always) var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }
  @inline(__always) var asciiLowercased: UInt8 { isASCIICapital ? self | 0x20 : self }

  /// The value of a hexadecimal digit, nil for every other byte.
  @inline(__always) var hexValue: UInt8? {
    if isASCIIDigit { return self &- UInt8(ascii: "0") }
    let letter = (self | 0x20) &- UInt8(ascii: "a")
    return letter < 6 ? letter + 10 : nil
  }
}

extension [UInt8] {
  /// The first of a set's bytes in a range, or its end.
  @inline(__always)
  func firstIndex(of set: ByteSet, in range: Range<Int>) -> Int {
    let bytes = span.extracting(range)
    for index in bytes.indices where set.contains(bytes[index]) { return range.lowerBound + index }
    return range.upperBound
  }

  var isValidUTF8: Bool {
    isASCII || String(validating: self, as: UTF8.self) != nil
  }

  // Without a way out of the loop, so that it takes many bytes at a time.

  var isASCII: Bool {
    let bytes = span
    var union: UInt8 = 0
    for index in bytes.indices { union |= bytes[index] }
    return union < 128
  }

  /// There is a C0 control or DEL.
  var hasControls: Bool {
    let bytes = span
    var found: UInt8 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      found |= (byte < 0x20 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
    }
    return found != 0
  }
}
