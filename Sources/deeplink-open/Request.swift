import CDeeplinkDBus
import CDeeplinkLinux

/// One blocking call to the daemon, which the bus starts if it is not running.
enum Request {
  static func activate() -> Int32 {
    guard let bus = unsafe Bus.connect() else { return ExitCode.unreachable }
    defer { unsafe Bus.close(bus) }
    guard
      let call = unsafe Bus.call(Contract.Application.interface, Contract.Application.activate)
    else { return outOfMemory() }
    defer { unsafe dbus_message_unref(call) }
    var body = unsafe DBusMessageIter()
    unsafe dbus_message_iter_init_append(call, &body)
    guard unsafe Dictionary.append(to: &body, { _ in true }) else { return outOfMemory() }
    switch unsafe Bus.send(call, on: bus, until: .afterLimit) {
    case .reply(let reply):
      unsafe dbus_message_unref(reply)
      return ExitCode.accepted
    case .failed(let code): return code
    case .lost: return lost()
    }
  }

  static func open(_ url: UnsafePointer<CChar>, wait: Usage.Wait) -> Int32 {
    // libdbus ends the process over a string that is not UTF-8, so this is looked at before it.
    guard unsafe dbus_validate_utf8(url, nil) != 0 else {
      Message.error("the link is not valid UTF-8")
      Message.hint("other bytes have to be written as %XX in a URL")
      return ExitCode.refused
    }
    // The same in both tries: it makes the second one harmless where the first arrived.
    guard let request = unsafe RequestID.make() else {
      Message.error("the system gives no random bytes")
      return ExitCode.unreachable
    }
    let deadline = Deadline.afterLimit
    for attempt in 1...2 {
      guard let bus = unsafe Bus.connect() else { return ExitCode.unreachable }
      defer { unsafe Bus.close(bus) }
      guard let call = unsafe message(url, wait: wait, request: request) else {
        return outOfMemory()
      }
      defer { unsafe dbus_message_unref(call) }
      switch unsafe Bus.send(call, on: bus, until: deadline) {
      case .reply(let reply):
        defer { unsafe dbus_message_unref(reply) }
        if case .no = wait { return ExitCode.accepted }
        return unsafe Outcome.exitCode(of: reply)
      case .failed(let code): return code
      case .lost: if attempt == 2 || deadline.isOver { return lost() }
      }
    }
    return lost()
  }

  private static func message(
    _ url: UnsafePointer<CChar>, wait: Usage.Wait, request: UnsafePointer<CChar>
  ) -> OpaquePointer? {
    let member: StaticString
    var milliseconds: UInt32?
    switch wait {
    case .no: member = Contract.Dispatcher.submit
    case .seconds(let seconds):
      member = Contract.Dispatcher.open
      // Within the call's own limit, so that the answer is "pending" and no lost daemon.
      milliseconds = min(seconds ?? .max, UInt32(Limit.call - 5)) * 1000
    }
    guard let call = unsafe Bus.call(Contract.Dispatcher.interface, member) else { return nil }
    var body = unsafe DBusMessageIter()
    unsafe dbus_message_iter_init_append(call, &body)
    let done =
      unsafe Dictionary.append(url, to: &body)
      && Dictionary.append(to: &body) { options in
        var done = unsafe Dictionary.entry(Contract.Option.request, request, in: &options)
        if let milliseconds {
          done =
            unsafe done && Dictionary.entry(Contract.Option.timeout, milliseconds, in: &options)
        }
        if isatty(2) != 0 {
          done = unsafe done && Dictionary.entry(Contract.Option.interactive, true, in: &options)
        }
        unsafe Environment.forEachToken { key, value in
          done = unsafe done && Dictionary.entry(key, value, in: &options)
        }
        return unsafe done && Environment.append(to: &options)
      }
    guard done else {
      unsafe dbus_message_unref(call)
      return nil
    }
    return unsafe call
  }

  private static func outOfMemory() -> Int32 {
    Message.error("there is no memory left")
    return ExitCode.unreachable
  }

  private static func lost() -> Int32 {
    Message.error("the deep-link daemon went away before it answered")
    Message.hint("its own messages say why: journalctl --user -t deeplinkd")
    return ExitCode.unreachable
  }
}

/// When a request is given up: one limit for all of its tries.
struct Deadline {
  let nanoseconds: Int64

  static var afterLimit: Deadline {
    Deadline(nanoseconds: deeplink_monotonic_nanoseconds() + Int64(Limit.call) * 1_000_000_000)
  }

  var isOver: Bool { millisecondsLeft == 0 }

  var millisecondsLeft: Int32 {
    let left = (nanoseconds - deeplink_monotonic_nanoseconds()) / 1_000_000
    return left > 0 ? Int32(truncatingIfNeeded: left) : 0
  }
}

/// The option that names a request: 128 random bits in hexadecimal.
enum RequestID {
  static func make() -> UnsafePointer<CChar>? {
    let count = 16
    guard let text = unsafe malloc(2 * count + 1)?.assumingMemoryBound(to: UInt8.self) else {
      return nil
    }
    guard unsafe getrandom(text, count, 0) == count else { return nil }
    unsafe text[2 * count] = 0
    // From the back, as each byte makes room for two digits.
    for index in (0..<count).reversed() {
      let byte = unsafe text[index]
      unsafe text[2 * index] = digit(byte >> 4)
      unsafe text[2 * index + 1] = digit(byte & 15)
    }
    return unsafe UnsafePointer(UnsafeRawPointer(text).assumingMemoryBound(to: CChar.self))
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

extension Outcome {
  /// Reads `t id, s outcome, a{sv} result` and says how it ended.
  static func exitCode(of reply: OpaquePointer) -> Int32 {
    var iterator = unsafe DBusMessageIter()
    var text: UnsafePointer<CChar>?
    guard unsafe dbus_message_iter_init(reply, &iterator) != 0,
      unsafe dbus_message_iter_next(&iterator) != 0,
      unsafe dbus_message_iter_get_arg_type(&iterator) == Int32(UInt8(ascii: "s"))
    else {
      Message.error("the deep-link daemon answered in an unknown way")
      return ExitCode.unreachable
    }
    unsafe dbus_message_iter_get_basic(&iterator, &text)
    guard let text = unsafe text else { return ExitCode.unreachable }
    if unsafe equal(text, delivered) || equal(text, pending) { return ExitCode.accepted }
    unsafe Message.error("the link was accepted, and came to: ", text)
    return ExitCode.failed
  }

  private static func equal(_ text: UnsafePointer<CChar>, _ constant: StaticString) -> Bool {
    unsafe strcmp(text, constant.cString) == 0
  }
}
