/// What a value must be: the words of JSON Schema that a parameter declares.
public struct ValueRule: Sendable, Hashable {
  public indirect enum Kind: Sendable, Hashable {
    case string, integer, number, boolean
    case array(of: ValueRule)
  }

  public var kind: Kind
  /// `"type": ["string", "null"]`.
  public var allowsNull = false
  public var format: ValueFormat?
  /// Of a `uri`, in lower case; nil allows every scheme.
  public var schemes: [String]?
  /// The `enum`; nil allows every value.
  public var allowed: [ParameterValue]?
  public var minimum: ParameterValue?
  public var maximum: ParameterValue?
  /// Both count code points, as JSON Schema does.
  public var minLength: Int?
  public var maxLength: Int?
  public var pattern: RegularExpression?
  /// Whether a string may hold tabs and line ends.
  public var allowsLines = false

  public init(_ kind: Kind) { self.kind = kind }

  public var isArray: Bool { if case .array = kind { true } else { false } }

  /// The value that a decoded text stands for.
  func value(of text: String) throws(Violation) -> ParameterValue {
    guard !text.unicodeScalars.contains(where: { isForbidden($0) }) else {
      throw .controlCharacter
    }
    let value: ParameterValue
    switch kind {
    case .string:
      try checkString(text)
      value = .string(text)
    case .integer:
      guard Self.isNumber(text, isWhole: true), let number = Int64(text) else {
        throw .wrongType("a whole number")
      }
      value = .integer(number)
    case .number:
      guard Self.isNumber(text, isWhole: false), let number = Double(text), number.isFinite else {
        throw .wrongType("a number")
      }
      value = .number(number)
    case .boolean:
      switch text {
      case "true", "1": value = .boolean(true)
      case "false", "0": value = .boolean(false)
      default: throw .wrongType("true or false")
      }
    case .array(let items): value = .array([try items.value(of: text)])
    }
    try check(value)
    return value
  }

  /// What a typed value must fulfil beyond its type.
  func check(_ value: ParameterValue) throws(Violation) {
    if let minimum, ParameterValue.isLess(value, minimum) { throw .below(minimum) }
    if let maximum, ParameterValue.isLess(maximum, value) { throw .above(maximum) }
    if let allowed, !allowed.contains(value) { throw .notAllowed }
  }

  private func checkString(_ text: String) throws(Violation) {
    let length = minLength == nil && maxLength == nil ? 0 : text.unicodeScalars.count
    if let minLength, length < minLength { throw .tooShort(minLength) }
    if let maxLength, length > maxLength { throw .tooLong(maxLength) }
    if let format {
      guard format.accepts(text) else { throw .format(format) }
      if format == .uri, let schemes {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard schemes.contains(scheme) else { throw .scheme(schemes) }
      }
    }
    if let pattern, !pattern.matches(text) { throw .pattern }
  }

  /// C0, DEL and C1; a terminal, a log line and an argument all take some of them for orders.
  private func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D: !allowsLines
    case 0..<0x20, 0x7F...0x9F: true
    default: false
    }
  }

  /// JSON's numbers, leading zeros allowed: no plus, no blanks, no hexadecimal, no `inf`.
  private static func isNumber(_ text: String, isWhole: Bool) -> Bool {
    var rest = text.utf8[...]
    func skipDigits() -> Bool {
      let end = rest.firstIndex { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      defer { rest = rest[(end ?? rest.endIndex)...] }
      return rest.startIndex != (end ?? rest.endIndex)
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    guard skipDigits() else { return false }
    guard !isWhole else { return rest.isEmpty }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard skipDigits() else { return false }
    }
    if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if let sign = rest.first, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign) {
        rest.removeFirst()
      }
      guard skipDigits() else { return false }
    }
    return rest.isEmpty
  }
}

/// The rule that a value did not fulfil; it never holds the value, which may be a secret.
public enum Violation: Error, Sendable, Hashable {
  case missing
  case twice
  case wrongType(String)
  case below(ParameterValue)
  case above(ParameterValue)
  case notAllowed
  case tooShort(Int)
  case tooLong(Int)
  case format(ValueFormat)
  case scheme([String])
  case pattern
  case controlCharacter
  case notUTF8
  /// Given, but not declared, where additional parameters are refused.
  case undeclared

  /// What the parameter must be or is, to be put after its name.
  public var text: String {
    switch self {
    case .missing: "is missing"
    case .twice: "is given more than once"
    case .wrongType(let kind): "must be \(kind)"
    case .below(let limit): "must be at least \(limit.text())"
    case .above(let limit): "must be at most \(limit.text())"
    case .notAllowed: "is none of the values it can have"
    case .tooShort(let length): "must have at least \(length) characters"
    case .tooLong(let length): "must have at most \(length) characters"
    case .format(let format): "must be in the format '\(format.rawValue)'"
    case .scheme(let schemes): "must be a URL with the scheme \(schemes.joined(separator: " or "))"
    case .pattern: "does not match its pattern"
    case .controlCharacter: "holds a control character"
    case .notUTF8: "is not UTF-8 when it is decoded"
    case .undeclared: "is not known to the route"
    }
  }
}
