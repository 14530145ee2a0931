import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting

/// The desktop's notifications, as far as a question needs them (Desktop Notifications
/// Specification 1.2).
@LoopActor struct NotificationService {
  private let connection: Connection
  /// The connection itself, not the name: whoever is on the bus can send us a signal directly, and no
  /// other's word counts.
  private let owner: UniqueName
  private let readsMarkup: Bool

  private static let name: WellKnownName = "org.freedesktop.Notifications"
  private static let path: ObjectPath = "/org/freedesktop/Notifications"
  private static let interface: InterfaceName = "org.freedesktop.Notifications"
  private static let patience = Duration.seconds(5)

  /// The service, where it has buttons and does not keep quiet; the bus may start it.
  static func found(on connection: Connection) async -> NotificationService? {
    let capabilities = try? await connection.call(
      MethodCall(to: .wellKnown(name), path: path, interface: interface, member: "GetCapabilities"),
      timeout: patience)
    guard let words = capabilities?.first?.strings, words.contains("actions"),
      let owner = try? await connection.owner(of: name)
    else { return nil }
    let isQuiet = try? await connection.call(
      MethodCall(
        to: .unique(owner), path: path, interface: "org.freedesktop.DBus.Properties",
        member: "Get", arguments: [.string(interface.text), .string("Inhibited")]),
      timeout: patience)
    if isQuiet?.first == .variant(.boolean(true)) { return nil }
    return NotificationService(
      connection: connection, owner: owner, readsMarkup: words.contains("body-markup"))
  }

  /// Shows the question; false where the service would not.
  func show(_ question: Question, limit: Duration, _ asking: Asking) async -> Bool {
    let shown = Shown(connection, owner, asking)
    do throws(BusError) {
      try await shown.listen()
      let reply = try await connection.call(
        MethodCall(
          to: .unique(owner), path: Self.path, interface: Self.interface, member: "Notify",
          arguments: arguments(question, limit)), timeout: Self.patience)
      guard let id = reply.first?.uint32 else {
        throw .unexpectedReply(signature: reply.signature.text)
      }
      shown.isShown(id)
      return true
    } catch {
      shown.stop()
      return false
    }
  }

  private func arguments(_ question: Question, _ limit: Duration) -> [Value] {
    let actions =
      ["once", Answer.onceLabel]
      + (question.offersAlways ? ["always", Answer.alwaysLabel] : []) + ["deny", Answer.noLabel]
    return [
      .string("deeplinkd"), .uint32(0), .string(question.icon ?? ""), .string(question.title),
      .string(readsMarkup ? question.body.markupEscaped : question.body), .strings(actions),
      .options([
        "desktop-entry": .string("org.deeplinkd.Deeplinkd"),
        // It stays until it is answered (section "Urgency Levels").
        "urgency": .byte(2),
      ]),
      .int32(Int32(clamping: limit.components.seconds * 1000)),
    ]
  }

  /// One notification and the signals about it.
  @LoopActor private final class Shown {
    private let connection: Connection
    private let owner: UniqueName
    private let asking: Asking
    private var subscriptions: [Subscription] = []
    private var id: UInt32?
    private var isClosed = false
    private var token: String?
    /// What came before the answer to Notify said which notification is ours.
    private var early: [Signal] = []

    init(_ connection: Connection, _ owner: UniqueName, _ asking: Asking) {
      self.connection = connection
      self.owner = owner
      self.asking = asking
    }

    func listen() async throws(BusError) {
      for member: MemberName in ["ActivationToken", "ActionInvoked", "NotificationClosed"] {
        let rule = MatchRule(
          sender: .unique(owner), path: path, interface: interface, member: member)
        subscriptions.append(try await connection.subscribe(rule) { [self] in received($0) })
      }
    }

    func isShown(_ id: UInt32) {
      self.id = id
      asking.isShown { [self] in stop() }
      for signal in early where !asking.isOver { received(signal) }
      early = []
    }

    func stop() {
      for subscription in subscriptions { subscription.cancel() }
      subscriptions = []
      guard let id, !isClosed else { return }
      isClosed = true
      connection.call(
        MethodCall(
          to: .unique(owner), path: path, interface: interface, member: "CloseNotification",
          arguments: [.uint32(id)])
      ) { _ in }
    }

    private func received(_ signal: Signal) {
      guard let id else {
        if early.count < 64 { early.append(signal) }
        return
      }
      guard signal.arguments.count == 2, signal.arguments[0].uint32 == id else { return }
      switch (signal.member, signal.arguments[1]) {
      case ("ActivationToken", .string(let text)):
        token = text.isEmpty || text.utf8.count > 4096 ? nil : text
      case ("ActionInvoked", .string("once")): asking.answer(.once(token: token))
      case ("ActionInvoked", .string("always")): asking.answer(.always(token: token))
      case ("ActionInvoked", .string("deny")): asking.answer(.no)
      case ("NotificationClosed", .uint32(let reason)):
        isClosed = true
        // 2: the person closed it. Else nobody said anything.
        asking.answer(reason == 2 ? .no : .silence)
      default: break
      }
    }
  }
}
