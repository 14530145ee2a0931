/// A source that a route's `sources` names: `flatpak:org.mozilla.firefox`, `executable:/opt/acme/*`.
///
/// A kind and a name, as a person is shown them; a `*` at the end stands for any rest. `unknown` is the
/// one source of all that nothing is known of.
public enum SourcePattern {
  public static let unknown = "unknown"
  /// How a source can be known.
  public static let kinds = ["flatpak", "snap", "unit", "executable"]

  public static func isValid(_ text: String) -> Bool {
    if text == unknown { return true }
    guard let colon = text.firstIndex(of: ":"), kinds.contains(String(text[..<colon])) else {
      return false
    }
    let name = text[text.index(after: colon)...]
    return !name.isEmpty && !name.dropLast().contains("*")
  }

  /// Compared byte for byte: two spellings of one path are two files.
  public static func matches(_ pattern: String, _ key: String) -> Bool {
    pattern.hasSuffix("*")
      ? key.utf8.starts(with: pattern.utf8.dropLast()) : Array(key.utf8) == Array(pattern.utf8)
  }
}
