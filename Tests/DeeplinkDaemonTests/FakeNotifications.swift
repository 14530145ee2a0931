import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting

/// A notification service of the test's own, with a person who presses what the test says.
@LoopActor final class FakeNotifications {
  struct Shown {
    let id: UInt32
    let title: String
    let body: String
    /// Keys and labels, in turn.
    let actions: [String]
  }

  let client: Client
  private let shown: AsyncStream<Shown>
  private var lastID: UInt32 = 0
  private(set) var closed: [UInt32] = []
  var isQuiet = false

  private static let path: ObjectPath = "/org/freedesktop/Notifications"
  private static let interface: InterfaceName = "org.freedesktop.Notifications"

  init(_ desktop: Desktop, capabilities: [String] = ["actions", "body"]) async throws {
    client = try Client(desktop)
    let (shown, feed) = AsyncStream.makeStream(of: Shown.self)
    self.shown = shown
    let notify = Method(
      "Notify",
      in: [
        Argument("app_name", "s"), Argument("replaces_id", "u"), Argument("app_icon", "s"),
        Argument("summary", "s"), Argument("body", "s"), Argument("actions", "as"),
        Argument("hints", "a{sv}"), Argument("expire_timeout", "i"),
      ], out: [Argument("id", "u")]
    ) { [unowned self] call in
      lastID += 1
      feed.yield(
        Shown(
          id: lastID, title: call.arguments[3].string ?? "", body: call.arguments[4].string ?? "",
          actions: call.arguments[5].strings ?? []))
      call.reply(.uint32(lastID))
    }
    client.connection.export(
      [
        Interface(
          Self.interface,
          methods: [
            notify,
            Method("GetCapabilities", out: [Argument("capabilities", "as")]) { call in
              call.reply(.strings(capabilities))
            },
            Method("CloseNotification", in: [Argument("id", "u")]) { [unowned self] call in
              closed.append(call.arguments[0].uint32 ?? 0)
              call.reply()
            },
          ],
          properties: [Property("Inhibited", "b") { [unowned self] in .boolean(isQuiet) }])
      ], at: Self.path)
    _ = try await client.connection.requestName("org.freedesktop.Notifications")
  }

  func next() async -> Shown? {
    for await one in shown { return one }
    return nil
  }

  func press(_ key: String, on shown: Shown, token: String? = nil) throws {
    if let token { try emit("ActivationToken", .uint32(shown.id), .string(token)) }
    try emit("ActionInvoked", .uint32(shown.id), .string(key))
  }

  func close(_ shown: Shown, reason: UInt32) throws {
    try emit("NotificationClosed", .uint32(shown.id), .uint32(reason))
  }

  func emit(_ member: MemberName, _ arguments: Value...) throws {
    try client.connection.emit(
      Signal(path: Self.path, interface: Self.interface, member: member, arguments: arguments))
  }
}
