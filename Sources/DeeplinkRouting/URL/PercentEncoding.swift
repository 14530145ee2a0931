/// Percent-encoding and -decoding of bytes (URL Standard, section 1.3).
public enum PercentEncoding {
  /// Every `%XX` turned into its byte; a lone `%` stays.
  public static func decode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var output = Array(bytes)
    let percent = UInt8(ascii: "%")
    guard var end = output.firstIndex(of: percent) else { return output }
    // In place: what is decoded is never longer than what stood there.
    var index = end
    while index < output.count {
      var byte = output[index]
      if byte == percent, index + 2 < output.count, let high = output[index + 1].hexValue,
        let low = output[index + 2].hexValue
      {
        byte = high << 4 | low
        index += 2
      }
      output[end] = byte
      end += 1
      index += 1
    }
    output.removeSubrange(end...)
    return output
  }

  /// The decoded text, nil where the decoded bytes are no UTF-8.
  public static func decodeStrict(_ bytes: some Collection<UInt8>) -> String? {
    // `String(validating:as:)` does both, but is not specialised for arrays, and much slower.
    let decoded = decode(bytes)
    return decoded.isValidUTF8 ? String(decoding: decoded, as: UTF8.self) : nil
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
