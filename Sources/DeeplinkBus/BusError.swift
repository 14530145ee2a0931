/// What can go wrong on the bus, as facts; sentences are made where the person is.
public enum BusError: Error, Hashable, Sendable {
  /// No connection to the bus at `address` (nil: the session's); the bus's own words.
  case cannotConnect(address: String?, name: String, message: String)
  /// The connection ended before the answer came: whether the other side acted is unknown.
  case disconnected
  /// The limit of a wait passed.
  case noReply(after: Duration)
  /// The other side, or the bus in its place, answered with an error.
  case remote(name: ErrorName, message: String)
  /// An answer that is not what its interface says.
  case unexpectedReply(signature: String)
  /// A text that is not what the D-Bus specification asks for.
  case invalidName(kind: String, String)
  /// A string with a NUL, which D-Bus cannot carry, or a value that does not fit its signature.
  case invalidValue(String)
  /// A message larger than this side is willing to take apart.
  case tooLarge
  case outOfMemory
}

extension BusError {
  /// The name of the error that came over the bus, nil for those of our own.
  public var remoteName: ErrorName? {
    if case .remote(let name, _) = self { name } else { nil }
  }
}

extension ErrorName {
  // D-Bus specification, and dbus-protocol.h where the specification names none.
  public static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
  public static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
  public static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
  public static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
  public static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
  public static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
  public static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
  public static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
  public static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
  public static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
  public static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
  public static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
  public static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
  public static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
}
