import CDeeplinkDBus
import CDeeplinkLinux

extension StaticString {
  /// For C: literals end with a NUL.
  var cString: UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// The few steps of libdbus that a blocking call takes.
enum Bus {
  @safe enum Answer {
    case reply(OpaquePointer)
    /// An error reply that refuses the link, or says that there is no daemon: told, with its status.
    case failed(Int32)
    /// The daemon or the bus went away before the answer: whether it acted is unknown.
    case lost
  }

  /// Connects to the session bus; nil, and told, when there is none.
  static func connect() -> OpaquePointer? {
    var error = unsafe DBusError()
    unsafe dbus_error_init(&error)
    defer { unsafe dbus_error_free(&error) }
    // Read as an optional, and the error first: libdbus gives NULL and says why.
    guard let bus = unsafe dbus_bus_get_private(DBUS_BUS_SESSION, &error) else {
      Message.error("there is no session bus to reach the deep-link daemon on")
      if let words = unsafe error.message { unsafe Message.error("the bus library says: ", words) }
      Message.hint("run this inside a desktop session, or under dbus-run-session")
      return nil
    }
    unsafe dbus_connection_set_exit_on_disconnect(bus, 0)
    return unsafe bus
  }

  static func close(_ bus: OpaquePointer) {
    unsafe dbus_connection_close(bus)
    unsafe dbus_connection_unref(bus)
  }

  static func call(_ interface: StaticString, _ member: StaticString) -> OpaquePointer? {
    unsafe dbus_message_new_method_call(
      Contract.busName.cString, Contract.path.cString, interface.cString, member.cString)
  }

  static func send(_ call: OpaquePointer, on bus: OpaquePointer, until deadline: Deadline) -> Answer
  {
    var error = unsafe DBusError()
    unsafe dbus_error_init(&error)
    defer { unsafe dbus_error_free(&error) }
    let reply = unsafe dbus_connection_send_with_reply_and_block(
      bus, call, deadline.millisecondsLeft, &error)
    if let reply = unsafe reply { return unsafe .reply(reply) }
    if unsafe has(error, "org.freedesktop.DBus.Error.NoReply")
      || has(error, "org.freedesktop.DBus.Error.Disconnected")
    {
      return .lost
    }
    let words = unsafe UnsafePointer(error.message) ?? StaticString("").cString
    // Our own errors refuse a link; every other one means that no daemon answered.
    if unsafe isRefusal(error) {
      unsafe Message.error("", words)
      return .failed(ExitCode.refused)
    }
    unsafe Message.error("the deep-link daemon cannot be reached: ", words)
    if unsafe has(error, "org.freedesktop.DBus.Error.ServiceUnknown") {
      Message.hint("is deeplinkd installed where this session's bus looks for services?")
    }
    return .failed(ExitCode.unreachable)
  }

  private static func has(_ error: DBusError, _ name: StaticString) -> Bool {
    var error = unsafe error
    return unsafe dbus_error_has_name(&error, name.cString) != 0
  }

  private static func isRefusal(_ error: DBusError) -> Bool {
    guard let name = unsafe error.name else { return false }
    let prefix = Contract.errorPrefix
    return unsafe strncmp(name, prefix.cString, prefix.utf8CodeUnitCount) == 0
  }
}

/// Writing `a{sv}` into a message.
enum Dictionary {
  static func append(_ text: UnsafePointer<CChar>, to body: inout DBusMessageIter) -> Bool {
    var text: UnsafePointer<CChar>? = unsafe text
    return unsafe dbus_message_iter_append_basic(&body, Int32(UInt8(ascii: "s")), &text) != 0
  }

  static func append(
    to body: inout DBusMessageIter, _ fill: (inout DBusMessageIter) -> Bool
  ) -> Bool {
    unsafe container("a", "{sv}", in: &body, fill)
  }

  static func entry(
    _ key: StaticString, _ value: UnsafePointer<CChar>, in dictionary: inout DBusMessageIter
  ) -> Bool {
    unsafe entry(key, "s", in: &dictionary) { inner in unsafe append(value, to: &inner) }
  }

  static func entry(
    _ key: StaticString, _ value: UInt32, in dictionary: inout DBusMessageIter
  ) -> Bool {
    unsafe entry(key, "u", in: &dictionary) { inner in
      var value = value
      return unsafe dbus_message_iter_append_basic(&inner, Int32(UInt8(ascii: "u")), &value) != 0
    }
  }

  static func entry(
    _ key: StaticString, _ value: Bool, in dictionary: inout DBusMessageIter
  ) -> Bool {
    unsafe entry(key, "b", in: &dictionary) { inner in
      var value: UInt32 = value ? 1 : 0
      return unsafe dbus_message_iter_append_basic(&inner, Int32(UInt8(ascii: "b")), &value) != 0
    }
  }

  static func entry(
    _ key: StaticString, _ signature: StaticString, in dictionary: inout DBusMessageIter,
    _ fill: (inout DBusMessageIter) -> Bool
  ) -> Bool {
    unsafe container("e", nil, in: &dictionary) { pair in
      unsafe append(key.cString, to: &pair) && container("v", signature, in: &pair, fill)
    }
  }

  static func container(
    _ type: Unicode.Scalar, _ signature: StaticString?, in body: inout DBusMessageIter,
    _ fill: (inout DBusMessageIter) -> Bool
  ) -> Bool {
    var inner = unsafe DBusMessageIter()
    guard
      unsafe dbus_message_iter_open_container(
        &body, Int32(type.value), signature?.cString, &inner) != 0
    else { return false }
    guard unsafe fill(&inner) else {
      unsafe dbus_message_iter_abandon_container(&body, &inner)
      return false
    }
    return unsafe dbus_message_iter_close_container(&body, &inner) != 0
  }
}
