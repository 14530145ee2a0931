import CDeeplinkDBus
import DeeplinkLoop

/// A reference to one libdbus message, given back when the last owner is gone.
///
/// The one place where a message pointer lives. It stays on the loop's thread with its connection.
@safe @LoopActor final class Message {
  // Sent nowhere: `nonisolated` is for `deinit`, which may run on any thread.
  nonisolated(unsafe) let pointer: OpaquePointer

  /// Takes over a reference that the caller owns.
  init?(owning pointer: OpaquePointer?) {
    guard let pointer = unsafe pointer else { return nil }
    unsafe self.pointer = pointer
  }

  /// Adds a reference to a message that somebody else owns.
  init(sharing pointer: OpaquePointer) {
    unsafe self.pointer = unsafe dbus_message_ref(pointer)
  }

  deinit { unsafe dbus_message_unref(pointer) }

  static func methodCall(_ call: MethodCall) throws(BusError) -> Message {
    guard
      let message = unsafe Message(
        owning: dbus_message_new_method_call(
          call.destination.description, call.path.text, call.interface.text, call.member.text))
    else { throw .outOfMemory }
    unsafe dbus_message_set_auto_start(message.pointer, call.mayStartDestination ? 1 : 0)
    try unsafe MessageBody.append(call.arguments, to: message.pointer)
    return message
  }

  static func signal(_ signal: Signal, to destination: Destination?) throws(BusError) -> Message {
    guard
      let message = unsafe Message(
        owning: dbus_message_new_signal(
          signal.path.text, signal.interface.text, signal.member.text))
    else { throw .outOfMemory }
    if let destination {
      guard unsafe dbus_message_set_destination(message.pointer, destination.description) != 0
      else { throw .outOfMemory }
    }
    try unsafe MessageBody.append(signal.arguments, to: message.pointer)
    return message
  }

  /// The answer to the call `serial` of `sender`.
  static func reply(
    to serial: UInt32, _ sender: UniqueName?, _ values: [Value]
  ) throws(BusError) -> Message {
    let reply = try answer(DBUS_MESSAGE_TYPE_METHOD_RETURN, to: serial, sender)
    try unsafe MessageBody.append(values, to: reply.pointer)
    return reply
  }

  /// The longest text of an error, in bytes: some of them quote what the caller sent.
  private static let maximumErrorText = 1024

  static func errorReply(
    to serial: UInt32, _ sender: UniqueName?, _ name: ErrorName, _ text: String
  ) throws(BusError) -> Message {
    let reply = try answer(DBUS_MESSAGE_TYPE_ERROR, to: serial, sender)
    guard unsafe dbus_message_set_error_name(reply.pointer, name.text) != 0 else {
      throw .outOfMemory
    }
    var words = Substring(text.prefix { $0 != "\0" })
    if words.utf8.count > maximumErrorText {
      words = Substring(String(decoding: words.utf8.prefix(maximumErrorText), as: UTF8.self) + "…")
    }
    try unsafe MessageBody.append([.string(String(words))], to: reply.pointer)
    return reply
  }

  private static func answer(
    _ type: Int32, to serial: UInt32, _ sender: UniqueName?
  ) throws(BusError) -> Message {
    guard let reply = unsafe Message(owning: dbus_message_new(type)),
      unsafe dbus_message_set_reply_serial(reply.pointer, serial) != 0
    else { throw .outOfMemory }
    unsafe dbus_message_set_no_reply(reply.pointer, 1)
    if let sender {
      guard unsafe dbus_message_set_destination(reply.pointer, sender.text) != 0 else {
        throw .outOfMemory
      }
    }
    return reply
  }

  // MARK: Header

  var serial: UInt32 { unsafe dbus_message_get_serial(pointer) }
  var type: Int32 { unsafe dbus_message_get_type(pointer) }
  var expectsReply: Bool { unsafe dbus_message_get_no_reply(pointer) == 0 }
  var path: ObjectPath? {
    (unsafe text(dbus_message_get_path(pointer))).map(ObjectPath.init(unchecked:))
  }
  var interface: InterfaceName? {
    (unsafe text(dbus_message_get_interface(pointer))).map(InterfaceName.init(unchecked:))
  }
  var member: MemberName? {
    (unsafe text(dbus_message_get_member(pointer))).map(MemberName.init(unchecked:))
  }
  var errorName: ErrorName? {
    (unsafe text(dbus_message_get_error_name(pointer))).map(ErrorName.init(unchecked:))
  }
  var signature: Signature {
    Signature(unchecked: (unsafe text(dbus_message_get_signature(pointer))) ?? "")
  }
  /// A unique name for every message but the bus's own, which says "org.freedesktop.DBus".
  var sender: Destination? {
    (unsafe text(dbus_message_get_sender(pointer))).map {
      $0.hasPrefix(":")
        ? .unique(UniqueName(unchecked: $0)) : .wellKnown(WellKnownName(unchecked: $0))
    }
  }

  func values() throws(BusError) -> [Value] { try unsafe MessageBody.values(of: pointer) }

  /// The result of a call: its values, or the error that it carries.
  func result() throws(BusError) -> [Value] {
    guard type == DBUS_MESSAGE_TYPE_ERROR else { return try values() }
    // An error's first value is its sentence, by convention alone.
    let text = (try? values())?.first?.string ?? ""
    throw .remote(name: errorName ?? .failed, message: text)
  }

  private func text(_ bytes: UnsafePointer<CChar>?) -> String? {
    guard let bytes = unsafe bytes else { return nil }
    return unsafe String(cString: bytes)
  }
}
