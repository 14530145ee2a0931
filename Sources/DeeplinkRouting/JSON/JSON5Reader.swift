// Foundation's JSONDecoder reads JSON5 as well, but its errors name no place ("The given data was
// not valid JSON"), a key that stands twice passes in silence, a broken string is reported as a
// wrong type, and it is half of the daemon's size. A manifest's author needs the place.

/// A recursive-descent reader of JSON5; depth is limited, so the stack is.
struct JSON5Reader {
  private let bytes: [UInt8]
  private let depthLimit: Int
  private var position = 0
  private var depth = 0

  init(bytes: [UInt8], depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
    // A byte order mark is white space in JSON5, and editors on other systems write it.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  mutating func document() throws(JSONError) -> JSONValue {
    try skipSpace()
    let value = try value()
    try skipSpace()
    guard position == bytes.count else { throw error("text after the end of the document") }
    return value
  }

  // MARK: values

  private mutating func value() throws(JSONError) -> JSONValue {
    guard let byte = peek else { throw error("the document ends where a value should be") }
    switch byte {
    case UInt8(ascii: "{"): return try nested { reader throws(JSONError) in try reader.object() }
    case UInt8(ascii: "["): return try nested { reader throws(JSONError) in try reader.array() }
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"),
      UInt8(ascii: "-"):
      return try number()
    default:
      let start = position
      switch identifier() {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      case "null": return .null
      case "NaN", "Infinity":
        position = start
        throw error("numbers must be finite")
      default:
        position = start
        throw error("expected a value")
      }
    }
  }

  private mutating func nested(
    _ body: (inout JSON5Reader) throws(JSONError) -> JSONValue
  ) throws(JSONError) -> JSONValue {
    guard depth < depthLimit else { throw error("nested deeper than \(depthLimit) levels") }
    depth += 1
    defer { depth -= 1 }
    position += 1
    return try body(&self)
  }

  private mutating func object() throws(JSONError) -> JSONValue {
    var members: [String: JSONValue] = [:]
    while true {
      try skipSpace()
      if take("}") { return .object(members) }
      let start = position
      let key = try self.key()
      guard members[key] == nil else {
        position = start
        throw error("the key '\(key)' stands twice in one object")
      }
      try skipSpace()
      guard take(":") else { throw error("expected ':' after the key '\(key)'") }
      try skipSpace()
      members[key] = try value()
      try skipSpace()
      if take(",") { continue }
      guard take("}") else { throw error("expected ',' or '}'") }
      return .object(members)
    }
  }

  private mutating func array() throws(JSONError) -> JSONValue {
    var elements: [JSONValue] = []
    while true {
      try skipSpace()
      if take("]") { return .array(elements) }
      elements.append(try value())
      try skipSpace()
      if take(",") { continue }
      guard take("]") else { throw error("expected ',' or ']'") }
      return .array(elements)
    }
  }

  private mutating func key() throws(JSONError) -> String {
    if peek == UInt8(ascii: "\"") || peek == UInt8(ascii: "'") { return try string() }
    let name = identifier()
    guard !name.isEmpty, name.utf8.first.map(isDigit) == false else {
      throw error("expected a key or '}'")
    }
    return name
  }

  /// ASCII names alone; a key with other letters is written in quotes.
  private mutating func identifier() -> String {
    let start = position
    while let byte = peek, isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "$") {
      position += 1
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
  }

  private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  // MARK: numbers

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    let sign = take("-") ? "-" : ""
    if sign.isEmpty { _ = take("+") }
    let value: JSONValue? =
      if follows(Array("0x".utf8)) || follows(Array("0X".utf8)) { hexadecimalNumber(sign) } else {
        decimalNumber(sign)
      }
    guard let value, peek.map({ isLetter($0) || isDigit($0) }) != true else {
      position = start
      throw error("not a number that can be used")
    }
    return value
  }

  private mutating func hexadecimalNumber(_ sign: String) -> JSONValue? {
    position += 2
    return Int64(sign + identifier(), radix: 16).map(JSONValue.integer)
  }

  /// Numbers may begin or end with the point in JSON5, and may not begin with a needless zero.
  private mutating func decimalNumber(_ sign: String) -> JSONValue? {
    let whole = digits()
    let fraction = take(".") ? digits() : nil
    guard !whole.isEmpty || fraction?.isEmpty == false, whole.count < 2 || whole.first != "0" else {
      return nil
    }
    var exponent = ""
    if take("e") || take("E") {
      exponent = take("-") ? "e-" : "e"
      if exponent == "e" { _ = take("+") }
      let power = digits()
      guard !power.isEmpty else { return nil }
      exponent += power
    }
    if fraction == nil, exponent.isEmpty, let value = Int64(sign + whole) { return .integer(value) }
    let value = Double("\(sign)\(whole.isEmpty ? "0" : whole).\(fraction ?? "")0\(exponent)")
    return value.flatMap { $0.isFinite ? .number($0) : nil }
  }

  private mutating func digits() -> String {
    let start = position
    while let byte = peek, isDigit(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  // MARK: strings

  private mutating func string() throws(JSONError) -> String {
    let start = position
    let quote = bytes[position]
    position += 1
    var content: [UInt8] = []
    while let byte = peek {
      position += 1
      switch byte {
      case quote:
        guard let text = String(validating: content, as: UTF8.self) else {
          position = start
          throw error("a string that is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): try escape(into: &content)
      case 0..<0x20:
        position -= 1
        throw error("a raw control character in a string; write it as an escape")
      default: content.append(byte)
      }
    }
    position = start
    throw error("a string that does not end")
  }

  private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
    guard let byte = peek else { return }
    position += 1
    switch byte {
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "v"): content.append(0x0B)
    case UInt8(ascii: "0") where peek.map(isDigit) != true: content.append(0)
    case UInt8(ascii: "x"): try append(hexadecimal(2), to: &content)
    case UInt8(ascii: "u"):
      let unit = try hexadecimal(4)
      guard (0xD800..<0xDC00).contains(unit) else { return try append(unit, to: &content) }
      guard take("\\"), take("u") else { throw error("half of a surrogate pair") }
      let low = try hexadecimal(4)
      guard (0xDC00..<0xE000).contains(low) else { throw error("half of a surrogate pair") }
      try append(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00), to: &content)
    case UInt8(ascii: "1")...UInt8(ascii: "9"), UInt8(ascii: "0"):
      throw error("an escape of this kind does not exist")
    case 0x0A: break
    case 0x0D: _ = take("\n")
    default: content.append(byte)
    }
  }

  private func append(_ scalar: UInt32, to content: inout [UInt8]) throws(JSONError) {
    guard let scalar = Unicode.Scalar(scalar) else { throw error("half of a surrogate pair") }
    content.append(contentsOf: Array(String(scalar).utf8))
  }

  private mutating func hexadecimal(_ count: Int) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("expected \(count) hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  // MARK: what stands between values

  private mutating func skipSpace() throws(JSONError) {
    while let byte = peek {
      switch byte {
      case 0x20, 0x09...0x0D: position += 1
      case 0xC2 where follows([0xC2, 0xA0]): position += 2
      case 0xE2 where follows([0xE2, 0x80, 0xA8]) || follows([0xE2, 0x80, 0xA9]): position += 3
      case 0xEF where follows([0xEF, 0xBB, 0xBF]): position += 3
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(JSONError) {
    if follows(Array("//".utf8)) {
      while let byte = peek, byte != 0x0A, byte != 0x0D { position += 1 }
      return
    }
    guard follows(Array("/*".utf8)) else { throw error("expected a value") }
    let start = position
    position += 2
    while position < bytes.count {
      if follows(Array("*/".utf8)) {
        position += 2
        return
      }
      position += 1
    }
    position = start
    throw error("a comment that does not end")
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func follows(_ expected: [UInt8]) -> Bool {
    bytes[position...].starts(with: expected)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private func error(_ reason: String) -> JSONError {
    let before = bytes[..<min(position, bytes.count)]
    let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return JSONError(
      reason: reason, line: before.count { $0 == 0x0A } + 1, column: before.count - lineStart + 1)
  }
}
