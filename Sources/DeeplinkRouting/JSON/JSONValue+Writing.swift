extension JSONValue: CustomStringConvertible {
  /// The value as JSON (RFC 8259) on one line, keys in the order of their bytes.
  ///
  /// Equal values give equal text, so it can be stored, compared and digested. What JSON would let
  /// stand is escaped too where it could deceive the reader of a line: DEL and the C1 controls, line
  /// and paragraph separators, and the marks that turn the direction of writing (Unicode Standard
  /// Annex 9, section 2). A number that is not finite has no JSON and becomes `null`.
  public var description: String {
    var text = ""
    write(into: &text)
    return text
  }

  /// A text whose control characters and marks of direction are escaped as in JSON: what comes from
  /// a link or a foreign manifest can not write to the reader's terminal.
  public static func visible(_ text: String) -> String {
    var visible = ""
    for scalar in text.unicodeScalars { write(scalar, into: &visible) }
    return visible
  }

  private func write(into text: inout String) {
    switch self {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let value): text += value.isFinite ? String(describing: value) : "null"
    case .string(let value): Self.write(value, into: &text)
    case .array(let elements):
      text += "["
      var separator = ""
      for element in elements {
        text += separator
        element.write(into: &text)
        separator = ","
      }
      text += "]"
    case .object(let members):
      text += "{"
      var separator = ""
      for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
      {
        text += separator
        Self.write(key, into: &text)
        text += ":"
        value.write(into: &text)
        separator = ","
      }
      text += "}"
    }
  }

  private static func write(_ string: String, into text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { text += "\\" }
      write(scalar, into: &text)
    }
    text += "\""
  }

  private static func write(_ scalar: Unicode.Scalar, into text: inout String) {
    switch scalar {
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}",
      "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}":
      let digits = String(scalar.value, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: text.unicodeScalars.append(scalar)
    }
  }
}
