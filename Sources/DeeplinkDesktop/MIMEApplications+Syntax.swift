extension MIMEApplications {
  /// A line that GLib does not understand.
  public struct Fault: Hashable, Sendable {
    /// From 1.
    public let line: Int
    /// The file begins with a byte order mark, which some editors write.
    public let isByteOrderMark: Bool
  }

  /// The first line for which GLib, and so every GNOME program and Firefox, ignores the whole file;
  /// nil where there is none.
  ///
  /// GKeyFile takes blank lines, comments, groups, and keys below a group; xdg-mime skips everything
  /// else, and so finds what GLib does not.
  public var fault: Fault? {
    var hasGroup = false
    for (index, line) in lines.enumerated() {
      let fault = Fault(
        line: index + 1, isByteOrderMark: index == 0 && line.starts(with: [0xEF, 0xBB, 0xBF]))
      if fault.isByteOrderMark { return fault }
      // A C string ends there, for GLib too.
      let text = line.prefix { $0 != 0 }.drop(while: Self.isSpace)
      guard let first = text.first, first != UInt8(ascii: "#") else { continue }
      let end = text.lastIndex { !Self.isSpace($0) } ?? text.startIndex
      if first == UInt8(ascii: "[") {
        let name = text[text.index(after: text.startIndex)..<end]
        let isName = !name.isEmpty && !name.contains { $0 == 0x5B || $0 == 0x5D || $0 < 0x20 }
        guard text[end] == UInt8(ascii: "]"), isName else { return fault }
        hasGroup = true
      } else {
        guard hasGroup, let equals = text.firstIndex(of: UInt8(ascii: "=")),
          equals != text.startIndex
        else { return fault }
      }
    }
    return nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
}
