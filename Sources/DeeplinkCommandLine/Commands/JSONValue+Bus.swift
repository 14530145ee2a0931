import DeeplinkBus
import DeeplinkRouting

extension JSONValue {
  /// A value of the bus as JSON, the other way of the table in `org.deeplinkd.Handler1`.
  init(bus value: DeeplinkBus.Value) {
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
    case .double(let number): self = .number(number)
    case .string(let text): self = .string(text)
    case .objectPath(let path): self = .string(path.text)
    case .signature(let signature): self = .string(signature.text)
    case .array(_, let elements), .structure(let elements):
      self = .array(elements.map(JSONValue.init(bus:)))
    case .dictionary(_, _, let entries):
      self = .object(
        Dictionary(
          entries.map { entry in
            let key = JSONValue(bus: entry.key)
            return (key.string ?? key.description, JSONValue(bus: entry.value))
          }, uniquingKeysWith: { $1 }))
    case .variant(let value): self = JSONValue(bus: value)
    case .fileDescriptor: self = .null
    }
  }
}
