/// A method call to be sent, as a value.
public struct MethodCall: Hashable, Sendable {
  public var destination: Destination
  public var path: ObjectPath
  public var interface: InterfaceName
  public var member: MemberName
  public var arguments: [Value]
  /// Whether the bus may start the destination; the flag NO_AUTO_START is its negation.
  public var mayStartDestination: Bool

  public init(
    to destination: Destination, path: ObjectPath, interface: InterfaceName, member: MemberName,
    arguments: [Value] = [], mayStartDestination: Bool = true
  ) {
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
    self.mayStartDestination = mayStartDestination
  }

  /// A method of the message bus itself (D-Bus specification, "Message Bus Messages").
  static func toBus(_ member: MemberName, _ arguments: Value...) -> MethodCall {
    MethodCall(
      to: .wellKnown("org.freedesktop.DBus"), path: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus", member: member, arguments: arguments)
  }
}

/// A signal to be sent, or one that came.
public struct Signal: Hashable, Sendable {
  public var path: ObjectPath
  public var interface: InterfaceName
  public var member: MemberName
  public var arguments: [Value]
  /// Who sent it; nil in a signal to be sent.
  public var sender: Destination?

  public init(
    path: ObjectPath, interface: InterfaceName, member: MemberName, arguments: [Value] = []
  ) {
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }
}
