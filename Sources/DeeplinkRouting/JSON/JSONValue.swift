/// A JSON value as manifests, settings, workers and explanations exchange it.
///
/// Whole numbers that fit 64 bits are kept apart from other numbers, so that an `integer` parameter
/// never travels through a floating-point value.
public indirect enum JSONValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
}

extension JSONValue {
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  public var boolean: Bool? {
    if case .boolean(let value) = self { value } else { nil }
  }

  public var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int64(exactly: value)
    default: nil
    }
  }

  public var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  public var array: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  public var object: [String: JSONValue]? {
    if case .object(let value) = self { value } else { nil }
  }

  public subscript(key: String) -> JSONValue? { object?[key] }

  /// The value's kind in the words of JSON, for messages: `a string`, `an object`.
  public var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(nilLiteral: ()) { self = .null }

  /// Of a key that is written twice the last value counts, where a literal would trap.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }

  /// A string, or `null` where there is none.
  public init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }
}
