/// The app's id in the name of a control group, by the convention that desktops follow
/// (systemd, "Desktop Environment Integration").
enum UnitName {
  /// The id in `app[-LAUNCHER]-ID-RANDOM.scope` or `app[-LAUNCHER]-ID[@RANDOM].service`, the
  /// innermost part of a path of `/proc/PID/cgroup`; nil where no part is of this kind.
  static func app(inGroup path: String) -> String? {
    path.split(separator: "/").reversed().lazy.compactMap { app(ofUnit: String($0)) }.first
  }

  private static func app(ofUnit unit: String) -> String? {
    guard unit.hasPrefix("app-") else { return nil }
    var words: [Substring]
    if unit.hasSuffix(".scope") {
      words = unit.dropFirst(4).dropLast(6).split(separator: "-", omittingEmptySubsequences: false)
      guard words.count >= 2 else { return nil }
      words.removeLast()
    } else if unit.hasSuffix(".service") {
      words = unit.dropFirst(4).dropLast(8).prefix { $0 != "@" }
        .split(separator: "-", omittingEmptySubsequences: false)
    } else {
      return nil
    }
    guard let id = words.last.map(unescaped), !id.isEmpty else { return nil }
    // A desktop that gives every opened entry a unit names it after ours: that tells nothing.
    return id.hasSuffix(".Deeplinks") || id.hasPrefix("org.deeplinkd.") ? nil : id
  }

  /// `\x2d` is a byte (systemd.unit(5), "String Escaping for Inclusion in Unit Names").
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
        let code = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
