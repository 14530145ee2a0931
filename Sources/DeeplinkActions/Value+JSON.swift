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
