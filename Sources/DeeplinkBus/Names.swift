import CDeeplinkDBus

/// A string that the D-Bus specification restricts ("Message Protocol", "Valid Names").
///
/// libdbus ends the process when it is given an invalid one, so every name is a value of one of
/// these types before it reaches libdbus, checked by libdbus' own validators.
public protocol BusString: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  var text: String { get }
  init(unchecked text: String)
  /// What it is, for error messages: "bus name".
  static var kind: String { get }
  static func isValid(_ text: String) -> Bool
}

extension BusString {
  /// Throws `BusError.invalidName` if `text` is not one.
  public init(_ text: String) throws(BusError) {
    guard !text.utf8.contains(0), Self.isValid(text) else {
      throw .invalidName(kind: Self.kind, text)
    }
    self.init(unchecked: text)
  }

  /// For literals in our own code: an invalid one is our own mistake.
  public init(stringLiteral text: String) {
    precondition(!text.utf8.contains(0) && Self.isValid(text), "'\(text)' is no \(Self.kind)")
    self.init(unchecked: text)
  }

  public var description: String { text }
}

/// A name that a service owns, such as `org.freedesktop.Notifications`.
public struct WellKnownName: BusString {
  public let text: String
  public init(unchecked text: String) { self.text = text }
  public static let kind = "well-known bus name"
  public static func isValid(_ text: String) -> Bool {
    !text.hasPrefix(":") && (unsafe dbus_validate_bus_name(text, nil)) != 0
  }

  /// The path that the Desktop Entry specification ("D-Bus Activation") makes of a name: dots
  /// become slashes, `-` becomes `_`.
  public var applicationPath: ObjectPath {
    ObjectPath(
      unchecked: "/"
        + String(text.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
  }
}

/// The name of one connection, such as `:1.42`; never used twice in the life of a bus.
public struct UniqueName: BusString {
  public let text: String
  public init(unchecked text: String) { self.text = text }
  public static let kind = "unique bus name"
  public static func isValid(_ text: String) -> Bool {
    text.hasPrefix(":") && (unsafe dbus_validate_bus_name(text, nil)) != 0
  }
}

public struct InterfaceName: BusString {
  public let text: String
  public init(unchecked text: String) { self.text = text }
  public static let kind = "interface name"
  public static func isValid(_ text: String) -> Bool {
    (unsafe dbus_validate_interface(text, nil)) != 0
  }
}

/// The name of a method, signal or property.
public struct MemberName: BusString {
  public let text: String
  public init(unchecked text: String) { self.text = text }
  public static let kind = "member name"
  public static func isValid(_ text: String) -> Bool {
    (unsafe dbus_validate_member(text, nil)) != 0
  }
}

public struct ErrorName: BusString {
  public let text: String
  public init(unchecked text: String) { self.text = text }
  public static let kind = "error name"
  public static func isValid(_ text: String) -> Bool {
    (unsafe dbus_validate_error_name(text, nil)) != 0
  }
}

public struct ObjectPath: BusString {
  public let text: String
  public init(unchecked text: String) { self.text = text }
  public static let kind = "object path"
  public static func isValid(_ text: String) -> Bool {
    (unsafe dbus_validate_path(text, nil)) != 0
  }
}

/// Zero or more complete types, such as `sa{sv}`.
public struct Signature: BusString {
  public let text: String
  public init(unchecked text: String) { self.text = text }
  public static let kind = "signature"
  public static func isValid(_ text: String) -> Bool {
    (unsafe dbus_signature_validate(text, nil)) != 0
  }
}

/// Where a message goes to: a name that is owned by whoever owns it, or one connection.
public enum Destination: Hashable, Sendable, CustomStringConvertible {
  case wellKnown(WellKnownName)
  case unique(UniqueName)

  public var description: String {
    switch self {
    case .wellKnown(let name): name.text
    case .unique(let name): name.text
    }
  }
}
