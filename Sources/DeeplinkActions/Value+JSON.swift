import DeeplinkBus
import DeeplinkRouting

// The contract's table: string `s`, integer `x`, number `d`, boolean `b`, array `av`, object
// `a{sv}`; null members are left out.

extension Value {
  /// Nil for null, which D-Bus has no type for.
  public init?(json: JSONValue) {
    switch json {
    case .null: return nil
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .int64(value)
    case .number(let value): self = .double(value)
    // D-Bus has no NUL in a string, and JSON does.
    case .string(let value):
      self = .string(value.utf8.contains(0) ? value.split(separator: "\0").joined() : value)
    case .array(let elements):
      self = .array(of: "v", elements.compactMap { Value(json: $0).map { .variant($0) } })
    case .object(let members):
      self = .options(
        Dictionary(
          members.compactMap { key, value in
            Value(json: value).map { (key.utf8.contains(0) ? "" : key, $0) }
          }, uniquingKeysWith: { first, _ in first }))
    }
  }
}

extension JSONValue {
  /// Nil for a value that JSON has no form for: a descriptor, or a number that is not finite.
  public init?(value: DeeplinkBus.Value) {
    switch value {
    case .byte(let number): self = .integer(Int64(number))
    case .boolean(let flag): self = .boolean(flag)
    case .int16(let number): self = .integer(Int64(number))
    case .uint16(let number): self = .integer(Int64(number))
    case .int32(let number): self = .integer(Int64(number))
    case .uint32(let number): self = .integer(Int64(number))
    case .int64(let number): self = .integer(number)
    case .uint64(let number):
      self = Int64(exactly: number).map { .integer($0) } ?? .number(Double(number))
    case .double(let number):
      guard number.isFinite else { return nil }
      self = .number(number)
    case .string(let text): self = .string(text)
    case .objectPath(let path): self = .string(path.text)
    case .signature(let signature): self = .string(signature.text)
    case .variant(let inner): self.init(value: inner)
    case .array(_, let values), .structure(let values):
      self = .array(values.compactMap(JSONValue.init(value:)))
    case .dictionary(_, _, let entries):
      var members: [String: JSONValue] = [:]
      for entry in entries {
        guard let key = JSONValue(value: entry.key), let value = JSONValue(value: entry.value)
        else {
          continue
        }
        members[key.string ?? key.description] = value
      }
      self = .object(members)
    case .fileDescriptor: return nil
    }
  }
}
