import DeeplinkBus

extension DeeplinkApp {
  /// A parameter of a link, or a member of a result: the values of JSON, without null.
  public enum Value: Sendable, Hashable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case array([Value])
    case object([String: Value])
  }
}

extension DeeplinkApp.Value {
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  public var array: [Self]? { if case .array(let value) = self { value } else { nil } }
  public var object: [String: Self]? { if case .object(let value) = self { value } else { nil } }

  public var integer: Int? { if case .integer(let value) = self { value } else { nil } }

  /// A whole number is a number too.
  public var number: Double? {
    switch self {
    case .number(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  /// For error messages.
  var kind: String {
    switch self {
    case .string: "text"
    case .integer: "a whole number"
    case .number: "a number"
    case .boolean: "true or false"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

extension DeeplinkApp.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(arrayLiteral elements: Self...) { self = .array(elements) }
  public init(dictionaryLiteral members: (String, Self)...) {
    self = .object(Dictionary(members, uniquingKeysWith: { $1 }))
  }
}

// Both ways over the bus, by the contract's table: string `s`, integer `x`, number `d`, boolean `b`,
// array `av`, object `a{sv}`.

extension DeeplinkApp.Value {
  /// Nil for a type that no parameter and no result has.
  init?(_ value: DeeplinkBus.Value) {
    switch value {
    case .string(let text): self = .string(text)
    case .int64(let number): self = .integer(Int(clamping: number))
    case .int32(let number): self = .integer(Int(number))
    case .uint32(let number): self = .integer(Int(clamping: number))
    case .double(let number): self = .number(number)
    case .boolean(let flag): self = .boolean(flag)
    case .variant(let inner): self.init(inner)
    case .array(_, let elements): self = .array(elements.compactMap(Self.init))
    case .dictionary:
      guard let members = value.options else { return nil }
      self = .object(members.compactMapValues(Self.init))
    default: return nil
    }
  }

  var onBus: DeeplinkBus.Value {
    switch self {
    case .string(let text): .string(text)
    case .integer(let number): .int64(Int64(number))
    case .number(let number): .double(number)
    case .boolean(let flag): .boolean(flag)
    case .array(let elements): .array(of: "v", elements.map { .variant($0.onBus) })
    case .object(let members): .options(members.mapValues(\.onBus))
    }
  }
}
