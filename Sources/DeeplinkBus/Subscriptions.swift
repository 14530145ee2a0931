import DeeplinkLoop

/// Which signals are wanted (D-Bus specification, "Match Rules").
public struct MatchRule: Hashable, Sendable {
  /// A connection, or `org.freedesktop.DBus`; of another well-known name its owner has to be given.
  public var sender: Destination?
  public var path: ObjectPath?
  public var interface: InterfaceName
  public var member: MemberName
  /// The value of the first argument, a string.
  public var firstArgument: String?

  public init(
    sender: Destination? = nil, path: ObjectPath? = nil, interface: InterfaceName,
    member: MemberName, firstArgument: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.firstArgument = firstArgument
  }

  /// Owners of `name` coming and going.
  public static func owner(of name: WellKnownName) -> MatchRule { owner(ofName: name.text) }

  /// The coming and going of one connection.
  static func owner(of name: UniqueName) -> MatchRule { owner(ofName: name.text) }

  private static func owner(ofName name: String) -> MatchRule {
    MatchRule(
      sender: .wellKnown("org.freedesktop.DBus"), interface: "org.freedesktop.DBus",
      member: "NameOwnerChanged", firstArgument: name)
  }

  /// The rule as the bus takes it.
  ///
  /// Names have no apostrophes; in an argument one is `'\''`.
  var text: String {
    var parts = ["type='signal'", "interface='\(interface)'", "member='\(member)'"]
    if let sender { parts.append("sender='\(sender)'") }
    if let path { parts.append("path='\(path)'") }
    if let firstArgument {
      let escaped = firstArgument.split(separator: "'", omittingEmptySubsequences: false)
      parts.append("arg0='\(escaped.joined(separator: #"'\''"#))'")
    }
    return parts.joined(separator: ",")
  }

  func matches(_ signal: Signal) -> Bool {
    guard signal.interface == interface, signal.member == member,
      path == nil || path == signal.path
    else { return false }
    // Anybody can send anybody a signal that no rule asked for, so the rule is no proof. The sender of
    // a signal is a unique name, or the bus: no other well-known name can be compared here.
    if let sender, sender != signal.sender { return false }
    return firstArgument == nil || signal.arguments.first?.string == firstArgument
  }
}

/// The signals that one connection asked for.
@LoopActor final class Subscriptions {
  private var entries: [Subscription] = []

  nonisolated init() {}

  func add(_ subscription: Subscription) { entries.append(subscription) }
  func remove(_ subscription: Subscription) { entries.removeAll { $0 === subscription } }
  func removeAll() { entries = [] }

  func handle(_ message: Message) {
    guard !entries.isEmpty, let path = message.path, let interface = message.interface,
      let member = message.member,
      entries.contains(where: { $0.rule.interface == interface && $0.rule.member == member }),
      let arguments = try? message.values()
    else { return }
    var signal = Signal(path: path, interface: interface, member: member, arguments: arguments)
    signal.sender = message.sender
    for entry in entries where entry.rule.matches(signal) { entry.handler(signal) }
  }
}

/// A wish for signals, until `cancel()`.
@LoopActor public final class Subscription {
  let rule: MatchRule
  let handler: @LoopActor (Signal) -> Void
  private weak var connection: Connection?

  init(
    _ rule: MatchRule, _ connection: Connection, _ handler: @escaping @LoopActor (Signal) -> Void
  ) {
    self.rule = rule
    self.connection = connection
    self.handler = handler
  }

  public func cancel() {
    guard let connection else { return }
    self.connection = nil
    connection.subscriptions.remove(self)
    connection.call(.toBus("RemoveMatch", .string(rule.text))) { _ in }
  }
}

extension Connection {
  /// Calls `handler` for every signal that fits `rule`; the bus knows the rule when this returns.
  public func subscribe(
    _ rule: MatchRule, _ handler: @escaping @LoopActor (Signal) -> Void
  ) async throws(BusError) -> Subscription {
    let subscription = Subscription(rule, self, handler)
    subscriptions.add(subscription)
    do throws(BusError) {
      _ = try await call(.toBus("AddMatch", .string(rule.text)))
    } catch {
      subscriptions.remove(subscription)
      throw error
    }
    return subscription
  }
}
