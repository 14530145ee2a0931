/// An IPv4 address as the URL Standard reads it, section 3.5: one to four numbers, each decimal,
/// octal (`017`) or hexadecimal (`0x0F`).
struct IPv4Address {
  private let value: UInt32

  /// The "ends in a number" checker: a domain whose last label is a number has to be an address.
  static func isExpected(in domain: ArraySlice<UInt8>) -> Bool {
    let labels = domain.last == UInt8(ascii: ".") ? domain.dropLast() : domain
    let dot = labels.lastIndex(of: UInt8(ascii: "."))
    let last = dot.map { labels[($0 + 1)...] } ?? labels
    guard let first = last.first, first.isASCIIDigit else { return false }
    return last.allSatisfy(\.isASCIIDigit) || number(last) != nil
  }

  init?(_ domain: ArraySlice<UInt8>) {
    let labels = domain.last == UInt8(ascii: ".") ? domain.dropLast() : domain
    var numbers: [UInt64] = []
    for part in labels.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard numbers.count < 4, let number = Self.number(part) else { return nil }
      numbers.append(number)
    }
    guard let last = numbers.popLast(), last < 1 << (8 * UInt64(4 - numbers.count)) else {
      return nil
    }
    var value = last
    for (index, number) in numbers.enumerated() {
      guard number < 256 else { return nil }
      value += number << (8 * UInt64(3 - index))
    }
    self.value = UInt32(truncatingIfNeeded: value)
  }

  func append(to output: inout [UInt8]) {
    for shift in [24, 16, 8, 0] as [UInt32] {
      output.append(contentsOf: String(value >> shift & 255).utf8)
      if shift > 0 { output.append(UInt8(ascii: ".")) }
    }
  }

  /// The IPv4 number parser; what is greater than an address counts as just greater.
  private static func number(_ part: ArraySlice<UInt8>) -> UInt64? {
    guard let first = part.first else { return nil }
    var digits = part
    var radix: UInt64 = 10
    if part.count > 1, first == UInt8(ascii: "0") {
      let isHexadecimal = part[part.startIndex + 1] | 0x20 == UInt8(ascii: "x")
      digits = part.dropFirst(isHexadecimal ? 2 : 1)
      radix = isHexadecimal ? 16 : 8
    }
    var value: UInt64 = 0
    for byte in digits {
      guard let digit = byte.hexValue, digit < radix else { return nil }
      value = min(value * radix + UInt64(digit), 1 << 32)
    }
    return value
  }
}

/// An IPv6 address as the URL Standard reads and writes it, sections 3.5 and 3.6.
struct IPv6Address {
  private var pieces: [UInt16] = []

  /// Takes what stands between the brackets.
  init?(_ text: ArraySlice<UInt8>) {
    // `::` stands for one piece at least, and grows after it.
    var compress: Int?
    var index = text.startIndex
    func byte(_ index: Int) -> UInt8? { index < text.endIndex ? text[index] : nil }

    if byte(index) == UInt8(ascii: ":") {
      guard byte(index + 1) == UInt8(ascii: ":") else { return nil }
      index += 2
      pieces.append(0)
      compress = 1
    }
    while let current = byte(index) {
      if pieces.count == 8 { return nil }
      if current == UInt8(ascii: ":") {
        if compress != nil { return nil }
        index += 1
        pieces.append(0)
        compress = pieces.count
        continue
      }
      let start = index
      var value: UInt16 = 0
      while index < start + 4, let digit = byte(index)?.hexValue {
        value = value << 4 | UInt16(digit)
        index += 1
      }
      if byte(index) == UInt8(ascii: ".") {
        guard index > start, pieces.count <= 6, let tail = Self.dottedTail(text[start...]) else {
          return nil
        }
        pieces += tail
        break
      }
      if byte(index) == UInt8(ascii: ":") {
        index += 1
        if index == text.endIndex { return nil }
      } else if index < text.endIndex {
        return nil
      }
      pieces.append(value)
    }
    if let compress {
      pieces.insert(contentsOf: Array(repeating: 0, count: 8 - pieces.count), at: compress)
    }
    if pieces.count != 8 { return nil }
  }

  /// The four decimal numbers that may stand for the last two pieces.
  private static func dottedTail(_ text: ArraySlice<UInt8>) -> [UInt16]? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var numbers: [UInt16] = []
    for part in parts {
      guard (1...3).contains(part.count), part.allSatisfy(\.isASCIIDigit),
        part.count == 1 || part.first != UInt8(ascii: "0")
      else { return nil }
      let value = part.reduce(0 as UInt16) { $0 * 10 + UInt16($1 - UInt8(ascii: "0")) }
      guard value < 256 else { return nil }
      numbers.append(value)
    }
    return [numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]]
  }

  func append(to output: inout [UInt8]) {
    let zeros = longestRunOfZeros
    output.append(UInt8(ascii: "["))
    var index = 0
    while index < 8 {
      if index == zeros.lowerBound, zeros.count > 1 {
        output.append(contentsOf: (index == 0 ? "::" : ":").utf8)
        index = zeros.upperBound
        continue
      }
      output.append(contentsOf: String(pieces[index], radix: 16).utf8)
      index += 1
      if index < 8 { output.append(UInt8(ascii: ":")) }
    }
    output.append(UInt8(ascii: "]"))
  }

  /// The first of the longest ones.
  private var longestRunOfZeros: Range<Int> {
    var longest = 0..<0
    var start = 0
    for index in 0..<8 {
      if pieces[index] != 0 { start = index + 1 }
      if index + 1 - start > longest.count { longest = start..<index + 1 }
    }
    return longest
  }
}
