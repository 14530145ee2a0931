/// Percent-encoding and -decoding of bytes (URL Standard, section 1.3).
public enum PercentEncoding {
  /// Every `%XX` turned into its byte; a lone `%` stays.
  public static func decode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let decoded = escape(atStartOf: rest) {
        output.append(decoded)
        rest = rest.dropFirst(2)
      } else {
        output.append(byte)
      }
    }
    return output
  }

  /// The decoded text, nil where the decoded bytes are no UTF-8.
  public static func decodeStrict(_ bytes: some Collection<UInt8>) -> String? {
    String(validating: decode(bytes), as: UTF8.self)
  }

  /// The text with all but `A-Z a-z 0-9 - _ . ! ~ * ' ( )` escaped, as `encodeURIComponent` does:
  /// it can be put into a path segment, a query value, a fragment or an opaque host.
  public static func encodeComponent(_ text: String) -> String {
    var output: [UInt8] = []
    encode(text.utf8, escaping: .component, into: &output)
    return String(decoding: output, as: UTF8.self)
  }

  static func encode(
    _ bytes: some Sequence<UInt8>, escaping set: ByteSet, into output: inout [UInt8]
  ) {
    for byte in bytes {
      if set.contains(byte) { output.appendEscape(of: byte) } else { output.append(byte) }
    }
  }

  /// The byte that the two hexadecimal digits at the start stand for.
  private static func escape(atStartOf bytes: some Collection<UInt8>) -> UInt8? {
    guard let high = bytes.first?.hexValue, let low = bytes.dropFirst().first?.hexValue else {
      return nil
    }
    return high << 4 | low
  }
}

extension [UInt8] {
  /// Appends `%XX` with capital digits.
  @inline(__always)
  mutating func appendEscape(of byte: UInt8) {
    append(UInt8(ascii: "%"))
    append(Self.hexDigit(byte >> 4))
    append(Self.hexDigit(byte & 15))
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
