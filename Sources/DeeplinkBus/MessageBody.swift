import CDeeplinkDBus

/// What a message carries, from libdbus to values and back.
///
/// Both directions are bounded by the D-Bus specification ("Valid Signatures": 32 arrays and 32
/// structures deep; libdbus: 64 in all with variants), so recursion is.
enum MessageBody {
  /// How many values of one message are taken apart.
  ///
  /// A message may hold 64 Mi bytes in one array, which as values would be gigabytes; nothing that
  /// this project sends or takes comes near this.
  static let maximumValues = 65_536

  /// DBUS_TYPE_INVALID, a macro that Swift does not see.
  private static let endOfValues: Int32 = 0

  // MARK: Reading

  static func values(of message: OpaquePointer) throws(BusError) -> [Value] {
    var iterator = unsafe DBusMessageIter()
    guard unsafe dbus_message_iter_init(message, &iterator) != 0 else { return [] }
    var budget = maximumValues
    return try unsafe values(at: &iterator, &budget)
  }

  private static func values(
    at iterator: inout DBusMessageIter, _ budget: inout Int
  ) throws(BusError) -> [Value] {
    var values: [Value] = []
    while unsafe dbus_message_iter_get_arg_type(&iterator) != endOfValues {
      values.append(try unsafe value(at: &iterator, &budget))
      unsafe dbus_message_iter_next(&iterator)
    }
    return values
  }

  private static func value(
    at iterator: inout DBusMessageIter, _ budget: inout Int
  ) throws(BusError) -> Value {
    budget -= 1
    guard budget > 0 else { throw .tooLarge }
    let type = unsafe dbus_message_iter_get_arg_type(&iterator)
    switch type {
    case Int32(UInt8(ascii: "y")): return .byte(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "b")): return .boolean(unsafe basic(&iterator, UInt32(0)) != 0)
    case Int32(UInt8(ascii: "n")): return .int16(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "q")): return .uint16(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "i")): return .int32(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "u")): return .uint32(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "x")): return .int64(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "t")): return .uint64(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "d")): return .double(unsafe basic(&iterator, 0))
    case Int32(UInt8(ascii: "s")): return .string(unsafe text(&iterator))
    case Int32(UInt8(ascii: "o")): return .objectPath(ObjectPath(unchecked: unsafe text(&iterator)))
    case Int32(UInt8(ascii: "g")): return .signature(Signature(unchecked: unsafe text(&iterator)))
    case Int32(UInt8(ascii: "h")): return .fileDescriptor
    case Int32(UInt8(ascii: "v")):
      var inner = unsafe DBusMessageIter()
      unsafe dbus_message_iter_recurse(&iterator, &inner)
      return .variant(try unsafe value(at: &inner, &budget))
    case Int32(UInt8(ascii: "r")):
      var inner = unsafe DBusMessageIter()
      unsafe dbus_message_iter_recurse(&iterator, &inner)
      return .structure(try unsafe values(at: &inner, &budget))
    case Int32(UInt8(ascii: "a")):
      return try unsafe array(at: &iterator, &budget)
    default:
      throw .unexpectedReply(signature: String(UnicodeScalar(UInt8(clamping: type))))
    }
  }

  private static func array(
    at iterator: inout DBusMessageIter, _ budget: inout Int
  ) throws(BusError) -> Value {
    let whole = unsafe signature(at: &iterator)
    var inner = unsafe DBusMessageIter()
    unsafe dbus_message_iter_recurse(&iterator, &inner)
    guard unsafe dbus_message_iter_get_element_type(&iterator) == Int32(UInt8(ascii: "e")) else {
      let element = Signature(unchecked: String(whole.dropFirst()))
      return .array(of: element, try unsafe values(at: &inner, &budget))
    }
    var entries: [Value.Entry] = []
    while unsafe dbus_message_iter_get_arg_type(&inner) != endOfValues {
      var pair = unsafe DBusMessageIter()
      unsafe dbus_message_iter_recurse(&inner, &pair)
      let both = try unsafe values(at: &pair, &budget)
      guard both.count == 2 else { throw .unexpectedReply(signature: whole) }
      entries.append(Value.Entry(both[0], both[1]))
      unsafe dbus_message_iter_next(&inner)
    }
    // "a{" KEY VALUE "}": a key is always one letter.
    return .dictionary(
      key: Signature(unchecked: String(whole.dropFirst(2).prefix(1))),
      value: Signature(unchecked: String(whole.dropFirst(3).dropLast())), entries)
  }

  private static func basic<T: BitwiseCopyable>(_ iterator: inout DBusMessageIter, _ zero: T) -> T {
    var value = zero
    unsafe dbus_message_iter_get_basic(&iterator, &value)
    return value
  }

  private static func text(_ iterator: inout DBusMessageIter) -> String {
    var bytes: UnsafePointer<CChar>?
    unsafe dbus_message_iter_get_basic(&iterator, &bytes)
    guard let bytes = unsafe bytes else { return "" }
    return unsafe String(cString: bytes)
  }

  private static func signature(at iterator: inout DBusMessageIter) -> String {
    guard let bytes = unsafe dbus_message_iter_get_signature(&iterator) else { return "" }
    defer { unsafe dbus_free(bytes) }
    return unsafe String(cString: bytes)
  }

  // MARK: Writing

  static func append(_ values: [Value], to message: OpaquePointer) throws(BusError) {
    // Checked as a whole first: a container that is left open makes libdbus end the process.
    for value in values { try check(value) }
    var iterator = unsafe DBusMessageIter()
    unsafe dbus_message_iter_init_append(message, &iterator)
    for value in values { try unsafe append(value, to: &iterator) }
  }

  /// Refuses what libdbus would end the process for.
  private static func check(_ value: Value, depth: Int = 0) throws(BusError) {
    guard depth < 32 else { throw .invalidValue("a value nested deeper than 32") }
    switch value {
    case .string(let text):
      if text.utf8.contains(0) { throw .invalidValue("a string with a NUL") }
    case .array(let element, let values):
      for value in values {
        guard value.signature == element else {
          throw .invalidValue("\(value.signature) in an array of \(element)")
        }
        try check(value, depth: depth + 1)
      }
    case .dictionary(let key, let element, let entries):
      for entry in entries {
        guard entry.key.signature == key, entry.value.signature == element else {
          throw .invalidValue("an entry that is not \(key)\(element)")
        }
        try check(entry.key, depth: depth + 1)
        try check(entry.value, depth: depth + 1)
      }
    case .structure(let members):
      guard !members.isEmpty else { throw .invalidValue("an empty structure") }
      for member in members { try check(member, depth: depth + 1) }
    case .variant(let inner): try check(inner, depth: depth + 1)
    case .fileDescriptor: throw .invalidValue("a descriptor")
    default: break
    }
  }

  private static func append(
    _ value: Value, to iterator: inout DBusMessageIter
  ) throws(BusError) {
    switch value {
    case .byte(let value): try unsafe basic(value, "y", &iterator)
    case .boolean(let value): try unsafe basic(UInt32(value ? 1 : 0), "b", &iterator)
    case .int16(let value): try unsafe basic(value, "n", &iterator)
    case .uint16(let value): try unsafe basic(value, "q", &iterator)
    case .int32(let value): try unsafe basic(value, "i", &iterator)
    case .uint32(let value): try unsafe basic(value, "u", &iterator)
    case .int64(let value): try unsafe basic(value, "x", &iterator)
    case .uint64(let value): try unsafe basic(value, "t", &iterator)
    case .double(let value): try unsafe basic(value, "d", &iterator)
    case .string(let value): try unsafe text(value, "s", &iterator)
    case .objectPath(let value): try unsafe text(value.text, "o", &iterator)
    case .signature(let value): try unsafe text(value.text, "g", &iterator)
    case .variant(let inner):
      try unsafe container("v", inner.signature.text, &iterator) {
        (nested: inout DBusMessageIter) throws(BusError) in
        try unsafe append(inner, to: &nested)
      }
    case .structure(let members):
      try unsafe container("r", nil, &iterator) {
        (nested: inout DBusMessageIter) throws(BusError) in
        for member in members { try unsafe append(member, to: &nested) }
      }
    case .array(let element, let values):
      try unsafe container("a", element.text, &iterator) {
        (nested: inout DBusMessageIter) throws(BusError) in
        for value in values { try unsafe append(value, to: &nested) }
      }
    case .dictionary(let key, let element, let entries):
      try unsafe container("a", "{\(key)\(element)}", &iterator) {
        (nested: inout DBusMessageIter) throws(BusError) in
        for entry in entries {
          try unsafe container("e", nil, &nested) {
            (pair: inout DBusMessageIter) throws(BusError) in
            try unsafe append(entry.key, to: &pair)
            try unsafe append(entry.value, to: &pair)
          }
        }
      }
    case .fileDescriptor:
      throw .invalidValue("a descriptor")
    }
  }

  private static func basic<T: BitwiseCopyable>(
    _ value: T, _ type: Unicode.Scalar, _ iterator: inout DBusMessageIter
  ) throws(BusError) {
    var value = value
    guard unsafe dbus_message_iter_append_basic(&iterator, Int32(type.value), &value) != 0 else {
      throw .outOfMemory
    }
  }

  private static func text(
    _ value: String, _ type: Unicode.Scalar, _ iterator: inout DBusMessageIter
  ) throws(BusError) {
    let done = unsafe value.withCString { bytes in
      var bytes: UnsafePointer<CChar>? = unsafe bytes
      return unsafe dbus_message_iter_append_basic(&iterator, Int32(type.value), &bytes)
    }
    guard done != 0 else { throw .outOfMemory }
  }

  private static func container(
    _ type: Unicode.Scalar, _ signature: String?, _ iterator: inout DBusMessageIter,
    _ fill: (inout DBusMessageIter) throws(BusError) -> Void
  ) throws(BusError) {
    var nested = unsafe DBusMessageIter()
    guard
      unsafe dbus_message_iter_open_container(
        &iterator, Int32(type.value), signature, &nested) != 0
    else { throw .outOfMemory }
    do throws(BusError) {
      try unsafe fill(&nested)
    } catch {
      unsafe dbus_message_iter_abandon_container(&iterator, &nested)
      throw error
    }
    guard unsafe dbus_message_iter_close_container(&iterator, &nested) != 0 else {
      throw .outOfMemory
    }
  }
}
