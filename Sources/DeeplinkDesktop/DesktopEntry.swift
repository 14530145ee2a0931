/// A desktop entry (Desktop Entry specification 1.5): text in, values out.
///
/// Values stay as bytes made them; escapes are undone where a value is read.
public struct DesktopEntry: Hashable, Sendable {
  /// Raw values of the group `[Desktop Entry]`, by key; of a key that stands twice, the first.
  private let values: [String: String]

  /// Nil where the text has no group `[Desktop Entry]`.
  public init?(_ text: String) {
    var values: [String: String]?
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      var line = Substring(line)
      while line.utf8.last == UInt8(ascii: "\r") || line.utf8.last == UInt8(ascii: " ") {
        line.removeLast()
      }
      if line.hasPrefix("#") { continue }
      if line.hasPrefix("[") {
        // Other groups (actions) come after it, by the specification.
        if values != nil { break }
        if line == "[Desktop Entry]" { values = [:] }
      } else if values != nil, let equals = line.firstIndex(of: "=") {
        let key = line[..<equals].trimmed
        if values?[key] == nil { values?[key] = line[line.index(after: equals)...].trimmed }
      }
    }
    guard let values else { return nil }
    self.values = values
  }

  /// A value with the escapes `\s \n \t \r \\` undone.
  public func string(_ key: String) -> String? { values[key].map(Self.unescaped) }

  public func boolean(_ key: String) -> Bool { values[key] == "true" }

  /// The parts of a list, separated by `;`.
  public func list(_ key: String) -> [String] {
    (string(key) ?? "").split(separator: ";").map(String.init)
  }

  public var name: String { string("Name") ?? "" }
  public var icon: String? { string("Icon") }
  public var isHidden: Bool { boolean("Hidden") }
  public var isDBusActivatable: Bool { boolean("DBusActivatable") }
  public var runsInTerminal: Bool { boolean("Terminal") }
  /// The working directory.
  public var folder: String? { string("Path") }
  public var mimeTypes: [String] { list("MimeType") }

  private static func unescaped(_ text: String) -> String {
    guard text.contains("\\") else { return text }
    var result = ""
    var isEscaped = false
    for character in text {
      if isEscaped {
        switch character {
        case "s": result += " "
        case "n": result += "\n"
        case "t": result += "\t"
        case "r": result += "\r"
        case "\\": result += "\\"
        // Unknown ones stay, as GLib leaves them: `\;` is a list's business.
        default: result += "\\\(character)"
        }
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        result.append(character)
      }
    }
    return isEscaped ? result + "\\" : result
  }
}

extension Substring {
  fileprivate var trimmed: String {
    var part = self
    while part.first == " " || part.first == "\t" { part.removeFirst() }
    while part.last == " " || part.last == "\t" { part.removeLast() }
    return String(part)
  }
}
