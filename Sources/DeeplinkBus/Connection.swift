import CDeeplinkDBus
import DeeplinkLoop

/// One private connection to a message bus, on the event loop's thread.
///
/// libdbus' watches are the loop's watches; its timeouts are not used, every call has a timer of
/// the loop instead. Nothing of libdbus leaves this module.
@safe @LoopActor public final class Connection {
  /// The name that the bus gave this connection.
  public private(set) var uniqueName: UniqueName
  /// False once the connection has ended, by `close()` or by the bus.
  public private(set) var isOpen = true

  // Sent nowhere: `nonisolated` is for `deinit`, which may run on any thread.
  private nonisolated(unsafe) let pointer: OpaquePointer
  private var watches: [OpaquePointer: LoopSources.Watch] = unsafe [:]
  private var isDispatching = false
  private var closing: [@LoopActor () -> Void] = []

  let objects = ObjectTree()
  let subscriptions = Subscriptions()
  var pending = PendingCalls()

  // MARK: Opening

  /// Connects to the session bus.
  public static func session() throws(BusError) -> Connection {
    try unsafe open(address: nil) { error in unsafe dbus_bus_get_private(DBUS_BUS_SESSION, error) }
  }

  /// Connects to the message bus at `address` (D-Bus specification, "Server Addresses").
  public static func open(address: String) throws(BusError) -> Connection {
    guard !address.utf8.contains(0) else { throw .invalidValue("an address with a NUL") }
    return try unsafe open(address: address) { error in
      guard let pointer = unsafe dbus_connection_open_private(address, error) else { return nil }
      guard unsafe dbus_bus_register(pointer, error) != 0 else {
        unsafe dbus_connection_close(pointer)
        unsafe dbus_connection_unref(pointer)
        return nil
      }
      return unsafe pointer
    }
  }

  private static func open(
    address: String?, _ connect: (UnsafeMutablePointer<DBusError>) -> OpaquePointer?
  ) throws(BusError) -> Connection {
    var error = unsafe DBusError()
    unsafe dbus_error_init(&error)
    defer { unsafe dbus_error_free(&error) }
    // Read as an optional, and the error first: libdbus gives NULL and says why.
    guard let pointer = unsafe connect(&error) else {
      throw .cannotConnect(
        address: address, name: unsafe error.name.map { unsafe String(cString: $0) } ?? "",
        message: unsafe error.message.map { unsafe String(cString: $0) } ?? "")
    }
    unsafe dbus_connection_set_exit_on_disconnect(pointer, 0)
    // None yet where `open(address:limit:)` asks for it.
    let name = unsafe dbus_bus_get_unique_name(pointer).map { unsafe String(cString: $0) } ?? ""
    let connection = unsafe Connection(pointer, uniqueName: UniqueName(unchecked: name))
    try connection.attach()
    return connection
  }

  /// Connects to the bus at `address` like `open(address:)`, but never makes the loop wait for the bus:
  /// it authenticates and says `Hello` (D-Bus specification, "Message Bus Messages") as any other call.
  public static func open(
    address: String, limit: Duration
  ) async throws(BusError) -> Connection {
    guard !address.utf8.contains(0) else { throw .invalidValue("an address with a NUL") }
    let connection = try unsafe open(address: address) { error in
      unsafe dbus_connection_open_private(address, error)
    }
    do throws(BusError) {
      let answer = try await connection.call(.toBus("Hello"), timeout: limit)
      connection.uniqueName = UniqueName(unchecked: answer.first?.string ?? "")
      return connection
    } catch {
      connection.close()
      throw error
    }
  }

  private init(_ pointer: OpaquePointer, uniqueName: UniqueName) {
    unsafe self.pointer = pointer
    self.uniqueName = uniqueName
  }

  deinit { unsafe dbus_connection_unref(pointer) }

  // MARK: Closing

  /// Ends the connection; every call that waits ends with `BusError.disconnected`.
  public func close() {
    guard isOpen else { return }
    unsafe dbus_connection_close(pointer)
    ended()
  }

  /// Calls `handler` once, when the connection has ended.
  public func onClose(_ handler: @escaping @LoopActor () -> Void) {
    isOpen ? closing.append(handler) : handler()
  }

  /// Sends what waits to be sent, now; for the last words of a program.
  public func flush() { unsafe dbus_connection_flush(pointer) }

  private func ended() {
    guard isOpen else { return }
    isOpen = false
    unsafe dbus_connection_set_watch_functions(pointer, nil, nil, nil, nil, nil)
    unsafe dbus_connection_remove_filter(
      pointer, Self.filter, Unmanaged.passUnretained(self).toOpaque())
    let active = unsafe Array(watches.values)
    for watch in active { watch.cancel() }
    unsafe watches = [:]
    pending.failAll(.disconnected)
    subscriptions.removeAll()
    let handlers = closing
    closing = []
    for handler in handlers { handler() }
  }

  // MARK: Sending

  /// Sends a message: libdbus writes it at once where the socket takes it, and queues the rest.
  func send(_ message: Message) throws(BusError) {
    guard isOpen else { throw .disconnected }
    guard unsafe dbus_connection_send(pointer, message.pointer, nil) != 0 else {
      throw .outOfMemory
    }
  }

  /// Queues a call; libdbus hands its reply to `notify`.
  func sendWithReply(
    _ message: Message, _ notify: DBusPendingCallNotifyFunction, _ context: UnsafeMutableRawPointer
  ) throws(BusError) -> OpaquePointer {
    guard isOpen else { throw .disconnected }
    var call: OpaquePointer?
    // INT_MAX is libdbus' "no limit"; the limit is the loop's timer.
    guard
      unsafe dbus_connection_send_with_reply(pointer, message.pointer, &call, .max) != 0
    else { throw .outOfMemory }
    // No pending call and no failure: the connection ended in between.
    guard let call = unsafe call else { throw .disconnected }
    guard unsafe dbus_pending_call_set_notify(call, notify, context, nil) != 0 else {
      unsafe dbus_pending_call_cancel(call)
      unsafe dbus_pending_call_unref(call)
      throw .outOfMemory
    }
    return unsafe call
  }

  // MARK: libdbus on the loop

  private func attach() throws(BusError) {
    // Unretained, as `ended()` takes them back: an open connection is kept alive below.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe dbus_connection_set_watch_functions(
      pointer, Self.addWatch, Self.removeWatch, Self.toggleWatch, context, nil)
    unsafe dbus_connection_set_dispatch_status_function(
      pointer, Self.dispatchStatusChanged, context, nil)
    guard unsafe dbus_connection_add_filter(pointer, Self.filter, context, nil) != 0 else {
      throw .outOfMemory
    }
    let id = ObjectIdentifier(self)
    Self.openConnections[id] = self
    onClose { Self.openConnections[id] = nil }
    scheduleDispatch()
  }

  /// Keeps open connections alive, as libdbus holds plain pointers to them.
  private static var openConnections: [ObjectIdentifier: Connection] = [:]

  private func scheduleDispatch() {
    guard isOpen, !isDispatching else { return }
    isDispatching = true
    EventLoop.shared.eachRound { [weak self] in self?.dispatch() ?? true }
  }

  /// Hands over some of the messages that were read; true when none is left.
  private func dispatch() -> Bool {
    var left = 64
    while isOpen, left > 0,
      unsafe dbus_connection_get_dispatch_status(pointer) == DBUS_DISPATCH_DATA_REMAINS
    {
      unsafe dbus_connection_dispatch(pointer)
      left -= 1
    }
    guard isOpen, left == 0 else {
      isDispatching = false
      return true
    }
    return false
  }

  /// Runs the body of a libdbus callback, all of which come on the loop's thread.
  private nonisolated static func onLoop<T: Sendable>(
    _ pointer: OpaquePointer?, _ context: UnsafeMutableRawPointer?, otherwise: T,
    _ body: @LoopActor (Connection, OpaquePointer) -> T
  ) -> T {
    guard let pointer = unsafe pointer, let context = unsafe context else { return otherwise }
    nonisolated(unsafe) let argument = unsafe pointer
    nonisolated(unsafe) let connection = unsafe context
    return LoopActor.assumeIsolated {
      unsafe body(Unmanaged.fromOpaque(connection).takeUnretainedValue(), argument)
    }
  }

  private static let dispatchStatusChanged: DBusDispatchStatusFunction = {
    pointer, status, context in
    guard status == DBUS_DISPATCH_DATA_REMAINS else { return }
    unsafe onLoop(pointer, context, otherwise: ()) { connection, _ in
      connection.scheduleDispatch()
    }
  }

  private static let addWatch: DBusAddWatchFunction = { watch, context in
    unsafe onLoop(watch, context, otherwise: 0) { connection, watch in
      let descriptor = unsafe dbus_watch_get_unix_fd(watch)
      let loopWatch = EventLoop.shared.watch(descriptor, unsafe interest(of: watch)) {
        [weak connection] readiness in
        guard connection?.isOpen == true else { return }
        var flags: UInt32 = 0
        if readiness.contains(.readable) { flags |= DBUS_WATCH_READABLE.rawValue }
        if readiness.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if readiness.contains(.ended) { flags |= DBUS_WATCH_HANGUP.rawValue }
        unsafe dbus_watch_handle(watch, flags)
      }
      guard let loopWatch else { return 0 }
      unsafe connection.watches[watch] = loopWatch
      return 1
    }
  }

  private static let removeWatch: DBusRemoveWatchFunction = { watch, context in
    unsafe onLoop(watch, context, otherwise: ()) { connection, watch in
      unsafe connection.watches.removeValue(forKey: watch)?.cancel()
    }
  }

  private static let toggleWatch: DBusWatchToggledFunction = { watch, context in
    unsafe onLoop(watch, context, otherwise: ()) { connection, watch in
      unsafe connection.watches[watch]?.setInterest(interest(of: watch))
    }
  }

  private static func interest(of watch: OpaquePointer) -> Readiness {
    guard unsafe dbus_watch_get_enabled(watch) != 0 else { return [] }
    let flags = unsafe dbus_watch_get_flags(watch)
    var interest: Readiness = []
    if flags & DBUS_WATCH_READABLE.rawValue != 0 { interest.insert(.readable) }
    if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.writable) }
    return interest
  }

  private static let filter: DBusHandleMessageFunction = { _, message, context in
    unsafe onLoop(message, context, otherwise: DBUS_HANDLER_RESULT_NOT_YET_HANDLED) {
      connection, message in
      connection.received(unsafe Message(sharing: message))
    }
  }

  private func received(_ message: Message) -> DBusHandlerResult {
    switch message.type {
    case DBUS_MESSAGE_TYPE_METHOD_CALL:
      objects.handle(IncomingCall(message, on: self))
    case DBUS_MESSAGE_TYPE_SIGNAL:
      // libdbus makes this one up when the socket ends; it never comes over the bus.
      if message.interface == "org.freedesktop.DBus.Local" {
        if message.member == "Disconnected" { ended() }
      } else {
        subscriptions.handle(message)
      }
    default: break
    }
    return DBUS_HANDLER_RESULT_HANDLED
  }
}
