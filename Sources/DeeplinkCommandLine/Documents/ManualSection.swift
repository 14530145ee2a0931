/// The commands as a section of deeplink(1), in mdoc(7).
struct ManualSection {
  let text: String

  init(_ root: Command) {
    var lines: [String] = []
    for (path, command) in root.walk() where command.run != nil {
      let words = path.split(separator: " ").dropFirst().joined(separator: " ")
      lines.append(".Ss \(Self.escaped(words))")
      lines.append(".Nm \(root.name) Cm \(words) \(Self.synopsis(command))")
      lines += [".Pp", Self.escaped(Help.sentence(command.summary))]
      for paragraph in command.details { lines += [".Pp", Self.paragraph(paragraph)] }
      lines += Self.list(command)
      for example in command.examples {
        lines += [
          ".Pp", "\(Self.escaped(Help.sentence(example.meaning)).dropLast()):",
          ".Dl \(Self.escapedWords(example.command))",
        ]
      }
    }
    text = lines.joined(separator: "\n")
  }

  private static func synopsis(_ command: Command) -> String {
    let options = command.options.map { option in
      "Oo Fl -\(option.name)\(option.value.map { " Ar \($0)" } ?? "") Oc"
    }
    let arguments = command.arguments.map { argument in
      let name = "Ar \(argument.name)\(argument.isRepeated ? " ..." : "")"
      return argument.isRequired ? name : "Oo \(name) Oc"
    }
    return (options + arguments).joined(separator: " ")
  }

  /// Options, arguments and exit statuses with what they mean.
  private static func list(_ command: Command) -> [String] {
    var lines: [String] = []
    if !command.arguments.isEmpty || !command.options.isEmpty { lines.append(".Bl -tag -width Ds") }
    for argument in command.arguments {
      lines += [".It Ar \(argument.name)", escaped(Help.sentence(argument.help))]
    }
    for option in command.options {
      lines.append(".It Fl -\(option.name)\(option.value.map { " Ar \($0)" } ?? "")")
      lines.append(escaped(Help.sentence(option.help)))
    }
    if !lines.isEmpty { lines.append(".El") }
    guard !command.exitStatuses.isEmpty else { return lines }
    lines += [".Pp", "Exit status:", ".Bl -tag -width Ds -compact"]
    for status in command.exitStatuses {
      lines += [".It \(status.status)", escaped(Help.sentence(status.meaning))]
    }
    return lines + [".El"]
  }

  /// A sentence on a line of its own, as roff wants it.
  private static func paragraph(_ text: String) -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      line += line.isEmpty ? String(word) : " \(word)"
      if word.hasSuffix(".") {
        lines.append(line)
        line = ""
      }
    }
    if !line.isEmpty { lines.append(line) }
    return lines.map(escaped).joined(separator: "\n")
  }

  /// The same for the words of a macro, where a word that is a mark alone would move.
  private static func escapedWords(_ text: String) -> String {
    text.split(separator: " ").map { word in
      word.count == 1 && ".,:;()[]?!|".contains(word) ? "\\&\(word)" : escaped(String(word))
    }.joined(separator: " ")
  }

  /// The text with what roff would read as its own, or turn into other characters, escaped.
  static func escaped(_ text: String) -> String {
    let escaped = text.map { character -> String in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "'": "\\(aq"
      case "\"": "\\(dq"
      case "…": "..."
      default: String(character)
      }
    }.joined()
    return escaped.hasPrefix(".") ? "\\&\(escaped)" : escaped
  }
}
