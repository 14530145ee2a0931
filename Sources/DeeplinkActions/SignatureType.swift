import DeeplinkBus
import DeeplinkRouting

/// One complete type of a signature (D-Bus specification, "Type System"), to make values for.
indirect enum SignatureType: Hashable, Sendable {
  case basic(Unicode.Scalar)
  case variant
  case array(SignatureType)
  case structure([SignatureType])
  case dictionary(key: SignatureType, value: SignatureType)

  /// The types of a valid signature, which is at most 255 bytes and 64 levels.
  static func all(of signature: Signature) -> [SignatureType] {
    var letters = Array(signature.text.unicodeScalars)[...]
    var types: [SignatureType] = []
    while let type = next(&letters) { types.append(type) }
    return types
  }

  private static func next(_ letters: inout ArraySlice<Unicode.Scalar>) -> SignatureType? {
    switch letters.popFirst() {
    case nil, ")", "}": return nil
    case "v": return .variant
    case "(":
      var members: [SignatureType] = []
      while let member = next(&letters) { members.append(member) }
      return .structure(members)
    case "a":
      guard letters.first == "{" else { return next(&letters).map { .array($0) } }
      letters.removeFirst()
      guard let key = next(&letters), let value = next(&letters) else { return nil }
      _ = letters.popFirst()
      return .dictionary(key: key, value: value)
    case let letter?: return .basic(letter)
    }
  }

  var signature: Signature {
    switch self {
    case .basic(let letter): Signature(unchecked: String(letter))
    case .variant: "v"
    case .array(let element): Signature(unchecked: "a\(element.signature)")
    case .structure(let members):
      Signature(unchecked: "(\(members.map(\.signature.text).joined()))")
    case .dictionary(let key, let value):
      Signature(unchecked: "a{\(key.signature)\(value.signature)}")
    }
  }

  /// The value of this type that `json` stands for; throws where there is none.
  func value(of json: JSONValue) throws(BusError) -> Value {
    switch (self, json) {
    case (.variant, _):
      guard let value = Value(json: json) else { throw mismatch(json) }
      return .variant(value)
    case (.array(let element), .array(let list)):
      var values: [Value] = []
      for item in list { values.append(try element.value(of: item)) }
      return .array(of: element.signature, values)
    case (.structure(let members), .array(let list)) where list.count == members.count:
      var values: [Value] = []
      for (member, item) in zip(members, list) { values.append(try member.value(of: item)) }
      return .structure(values)
    case (.dictionary(let key, let value), .object(let members)):
      var entries: [Value.Entry] = []
      for (name, item) in members.sorted(by: { $0.key < $1.key }) {
        entries.append(
          Value.Entry(try key.value(of: .string(name)), try value.value(of: item)))
      }
      return .dictionary(key: key.signature, value: value.signature, entries)
    case (.basic(let letter), _):
      guard let value = try Self.basic(letter, json) else { throw mismatch(json) }
      return value
    default: throw mismatch(json)
    }
  }

  private static func basic(
    _ letter: Unicode.Scalar, _ json: JSONValue
  ) throws(BusError) -> Value? {
    switch letter {
    case "s": json.string.map { .string($0) }
    case "o": try json.string.map { (text) throws(BusError) in .objectPath(try ObjectPath(text)) }
    case "g": try json.string.map { (text) throws(BusError) in .signature(try Signature(text)) }
    case "b": json.boolean.map { .boolean($0) }
    case "d": json.number.map { .double($0) }
    case "y": json.integer.flatMap(UInt8.init(exactly:)).map { .byte($0) }
    case "n": json.integer.flatMap(Int16.init(exactly:)).map { .int16($0) }
    case "q": json.integer.flatMap(UInt16.init(exactly:)).map { .uint16($0) }
    case "i": json.integer.flatMap(Int32.init(exactly:)).map { .int32($0) }
    case "u": json.integer.flatMap(UInt32.init(exactly:)).map { .uint32($0) }
    case "x": json.integer.map { .int64($0) }
    case "t": json.integer.flatMap(UInt64.init(exactly:)).map { .uint64($0) }
    default: nil
    }
  }

  /// Names the kinds alone: values of links stand in no message.
  private func mismatch(_ json: JSONValue) -> BusError {
    .invalidValue("\(json.kind) in the place of a value of type '\(signature)'")
  }
}
