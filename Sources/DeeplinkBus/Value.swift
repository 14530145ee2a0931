/// One value of the D-Bus type system (D-Bus specification, "Type System").
public indirect enum Value: Hashable, Sendable {
  case byte(UInt8)
  case boolean(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case objectPath(ObjectPath)
  case signature(Signature)
  case array(of: Signature, [Value])
  case structure([Value])
  /// In the order of the message; a key may stand there twice.
  case dictionary(key: Signature, value: Signature, [Entry])
  case variant(Value)
  /// A descriptor was sent; it is not taken from the message and closes with it.
  case fileDescriptor

  public struct Entry: Hashable, Sendable {
    public var key: Value
    public var value: Value
    public init(_ key: Value, _ value: Value) {
      self.key = key
      self.value = value
    }
  }

  /// An `a{sv}`, with its keys in alphabetical order, so that equal ones are sent equal.
  public static func options(_ members: [String: Value]) -> Value {
    .dictionary(
      key: "s", value: "v",
      members.sorted { $0.key < $1.key }.map { Entry(.string($0.key), .variant($0.value)) })
  }

  public static func strings(_ strings: [String]) -> Value {
    .array(of: "s", strings.map { .string($0) })
  }

  public var signature: Signature {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .variant: "v"
    case .fileDescriptor: "h"
    case .array(let element, _): Signature(unchecked: "a\(element)")
    case .structure(let members):
      Signature(unchecked: "(\(members.map(\.signature.text).joined()))")
    case .dictionary(let key, let value, _): Signature(unchecked: "a{\(key)\(value)}")
    }
  }
}

extension Value {
  /// Roughly what it takes in memory and on the bus, in bytes.
  public var size: Int {
    switch self {
    case .string(let text): 8 + text.utf8.count
    case .objectPath(let path): 8 + path.text.utf8.count
    case .signature(let signature): 8 + signature.text.utf8.count
    case .array(_, let values), .structure(let values): 8 + values.reduce(0) { $0 + $1.size }
    case .dictionary(_, _, let entries):
      8 + entries.reduce(0) { $0 + $1.key.size + $1.value.size }
    case .variant(let inner): 8 + inner.size
    default: 8
    }
  }

  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  public var uint32: UInt32? { if case .uint32(let value) = self { value } else { nil } }
  public var uint64: UInt64? { if case .uint64(let value) = self { value } else { nil } }

  /// The strings of an `as`.
  public var strings: [String]? {
    guard case .array(of: "s", let values) = self else { return nil }
    return values.compactMap(\.string)
  }

  /// The members of an `a{sv}` without their variants; of a key that stands twice, the last.
  public var options: [String: Value]? {
    guard case .dictionary(key: "s", value: "v", let entries) = self else { return nil }
    var members: [String: Value] = [:]
    for entry in entries {
      guard let key = entry.key.string, case .variant(let value) = entry.value else { continue }
      members[key] = value
    }
    return members
  }

  /// The members of an `a{ss}`.
  public var stringPairs: [String: String]? {
    guard case .dictionary(key: "s", value: "s", let entries) = self else { return nil }
    return entries.reduce(into: [:]) { pairs, entry in
      if let key = entry.key.string { pairs[key] = entry.value.string }
    }
  }
}

extension [Value] {
  public var signature: Signature { Signature(unchecked: map(\.signature.text).joined()) }
}
