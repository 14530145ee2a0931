/// A plugin's identity in reverse DNS: `com.example.Photos`.
///
/// It names a folder, a desktop entry and a route in the settings, so it follows the rules of D-Bus
/// names: at least two elements of letters, digits, `_` and `-`, none of which begins with a digit. It
/// does not begin with `-`, since it also stands in commands.
public struct PluginID: Sendable, Hashable {
  /// Leaves room for `.Deeplinks.desktop` in a file name.
  public static let maximumLength = 200

  public struct Invalid: Error, Sendable, Hashable {
    public var text: String
    public var reason: String { "'\(text)' is no identity in reverse DNS, such as com.example.App" }
  }

  public let text: String

  public init(_ text: String) throws(Invalid) {
    guard text.utf8.count <= Self.maximumLength, BusNames.isWellKnownName(text),
      !text.hasPrefix("-")
    else {
      throw Invalid(text: text)
    }
    self.text = text
  }
}

extension PluginID: Comparable, CustomStringConvertible {
  public static func < (first: PluginID, second: PluginID) -> Bool { first.text < second.text }

  public var description: String { text }
}
