/// A set of ASCII bytes in two machine words, with one answer for everything above ASCII.
///
/// Membership is two shifts, so that the parsers can ask it of every byte.
struct ByteSet: Sendable {
  private let low: UInt64
  private let high: UInt64
  private let nonASCII: Bool

  init(_ members: some Sequence<UInt8>, nonASCII: Bool = false) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    for byte in members where byte < 128 {
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }
    (self.low, self.high, self.nonASCII) = (low, high, nonASCII)
  }

  init(_ members: String, nonASCII: Bool = false) {
    self.init(members.utf8, nonASCII: nonASCII)
  }

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    let word = byte & 64 == 0 ? low : high
    return byte < 128 ? (word &>> UInt64(byte)) & 1 == 1 : nonASCII
  }

  func union(_ members: String) -> ByteSet {
    ByteSet((0..<128).filter(contains) + Array(members.utf8), nonASCII: nonASCII)
  }

  /// Everything that is not in this set, bytes above ASCII included.
  var inverted: ByteSet {
    ByteSet((0..<128).filter { !contains($0) }, nonASCII: !nonASCII)
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
  static let plainDomain = ByteSet(
    forbiddenInDomain.inverted.asciiMembers, nonASCII: false)

  // The canonical form.
  static let canonical = alphanumeric.union("-_.~!*'();/?:@&=+$,")
  static let canonicalUnescaped = alphanumeric.union("-._~!*'()")

  private var asciiMembers: [UInt8] { (0..<128).filter(contains) }
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
