import DeeplinkRouting

/// The desktop entry that brings a plugin's links to us.
///
/// Its `Exec` is the only form that every launcher understands: an absolute path without blanks,
/// words without quotes, `%u` by itself.
public struct HandlerEntry: Hashable, Sendable {
  /// Its file name.
  public let id: String
  public let text: String

  public static let suffix = ".Deeplinks.desktop"

  public static func id(of plugin: PluginID) -> String { "\(plugin.text)\(suffix)" }

  /// Whether a path can stand in `Exec` without quotes.
  public static func isPlain(_ path: String) -> Bool {
    path.hasPrefix("/")
      && path.unicodeScalars.allSatisfy {
        $0.isASCII
          && ($0.properties.isAlphabetic || ("0"..."9").contains($0)
            || "/._+-".contains(Character($0)))
      }
  }

  /// - Parameters:
  ///   - opener: The absolute path of `deeplink-open`.
  ///   - schemes: Those whose links come to the plugin; none makes an entry that only hides another
  ///     of the same name.
  public init(_ plugin: Plugin, schemes: [Scheme], opener: String) {
    id = Self.id(of: plugin.id)
    var lines = [
      "[Desktop Entry]", "Type=Application", "Name=\(Self.escaped(plugin.name.standard))",
    ]
    for (locale, name) in plugin.name.translations.sorted(by: { $0.key < $1.key }) {
      lines.append("Name[\(locale)]=\(Self.escaped(name))")
    }
    if let icon = plugin.icon { lines.append("Icon=\(Self.escaped(icon))") }
    lines += [
      "Exec=\(opener) -- %u", "TryExec=\(opener)", "StartupNotify=true", "NoDisplay=true",
    ]
    if !schemes.isEmpty {
      lines.append("MimeType=\(schemes.map { "\($0.mimeType);" }.joined())")
    }
    text = lines.joined(separator: "\n") + "\n"
  }

  /// A value of type string (Desktop Entry specification, section 4).
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\\\"
      case " " where result.isEmpty: result += "\\s"
      default: result.append(character)
      }
    }
    return result
  }
}
