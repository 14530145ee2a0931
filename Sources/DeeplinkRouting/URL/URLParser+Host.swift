/// The host parser of the URL Standard, section 3.5; it writes the host serialised.
extension URLParser {
  mutating func appendHost(_ range: Range<Int>, isOpaque: Bool) throws(URLParseError) {
    guard let first = range.first else { return }
    let input = input
    if range.contains(where: { input[$0].isASCIICapital }) { remarks.insert(.hostCapitals) }
    if input[first] == UInt8(ascii: "[") {
      guard range.count > 1, input[range.upperBound - 1] == UInt8(ascii: "]"),
        let address = IPv6Address(input[first + 1..<range.upperBound - 1])
      else { throw .invalidIPv6Address }
      address.append(to: &output)
    } else if isOpaque {
      let forbidden = ByteSet.forbiddenInHost
      guard !range.contains(where: { forbidden.contains(input[$0]) }) else {
        throw .forbiddenHostCharacter
      }
      append(range, escaping: .c0Control)
    } else {
      try appendDomainOrIPv4(range)
    }
  }

  private mutating func appendDomainOrIPv4(_ range: Range<Int>) throws(URLParseError) {
    let (input, plain) = (input, ByteSet.plainDomain)
    let start = output.count
    if range.allSatisfy({ plain.contains(input[$0]) }) {
      for index in range { output.append(input[index].asciiLowercased) }
    } else {
      output.append(contentsOf: try Domain.ascii(of: PercentEncoding.decode(input[range])))
    }
    guard IPv4Address.isExpected(in: output[start...]) else { return }
    guard let address = IPv4Address(output[start...]) else { throw .invalidIPv4Address }
    output.removeSubrange(start...)
    address.append(to: &output)
  }
}
