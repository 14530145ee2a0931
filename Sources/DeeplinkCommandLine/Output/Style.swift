import DeeplinkRouting

/// Colours of a terminal (ECMA-48, SGR); nothing where the output has none.
enum Style: String {
  case bold = "1"
  case dim = "2"
  case good = "32"
  case bad = "31"
  case warning = "33"
}

extension Output {
  func styled(_ text: String, _ style: Style) -> String {
    hasColour ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}

extension String {
  /// The text with everything escaped that steers a terminal or deceives a reader.
  var visible: String { JSONValue.visible(self) }

  /// The same for a text of several lines.
  var visibleLines: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { String($0).visible }
      .joined(separator: "\n")
  }

  /// The text in lines of at most `width` characters, where its words allow that.
  func wrapped(width: Int, indent: String = "") -> String {
    split(separator: " ").map(String.init).wrapped(width: width, first: indent, indent: indent)
  }

  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }
}

extension [String] {
  /// The parts with blanks between them, in lines that begin with `indent`, but for the first.
  func wrapped(width: Int, first: String, indent: String) -> String {
    var lines: [String] = []
    var line = first
    var isEmpty = true
    for part in self {
      if !isEmpty, line.count + 1 + part.count > width {
        lines.append(line)
        (line, isEmpty) = (indent, true)
      }
      line += isEmpty ? part : " \(part)"
      isEmpty = false
    }
    return (lines + [line]).joined(separator: "\n")
  }
}
