/// A parameter's value after decoding and checking.
public enum ParameterValue: Sendable, Hashable {
  case string(String)
  case integer(Int64)
  case number(Double)
  case boolean(Bool)
  /// A flag without a value, where `null` is among the declared types.
  case null
  case array([ParameterValue])
}

extension ParameterValue {
  public var json: JSONValue {
    switch self {
    case .string(let value): .string(value)
    case .integer(let value): .integer(value)
    case .number(let value): .number(value)
    case .boolean(let value): .boolean(value)
    case .null: .null
    case .array(let elements): .array(elements.map(\.json))
    }
  }

  /// The value as a template writes it: strings as they are, `null` as nothing, arrays joined.
  ///
  /// `separator` is `/` for a name that spans segments, so that `{path}` is the path again.
  public func text(separator: String = ",") -> String {
    switch self {
    case .string(let value): value
    case .integer(let value): String(value)
    case .number(let value): JSONValue.number(value).description
    case .boolean(let value): value ? "true" : "false"
    case .null: ""
    case .array(let elements):
      elements.map { $0.text(separator: separator) }.joined(separator: separator)
    }
  }

  /// Whole numbers compare exactly with whole numbers, all others as floating-point values.
  static func isLess(_ first: ParameterValue, _ second: ParameterValue) -> Bool {
    if case .integer(let first) = first, case .integer(let second) = second {
      return first < second
    }
    guard let first = first.double, let second = second.double else { return false }
    return first < second
  }

  private var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }
}
