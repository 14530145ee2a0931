/// What `--help` prints.
struct Help {
  let text: String

  private static let width = 80

  /// - Parameter path: The program and the words of the command.
  init(path: [Command]) {
    let words = path.map(\.name).joined(separator: " ")
    guard let command = path.last else {
      text = ""
      return
    }
    var sections = [
      command.usageWords.wrapped(
        width: Self.width, first: "usage: \(words) ", indent: "         ")
    ]
    sections.append(Self.sentence(command.summary).wrapped(width: Self.width))
    sections += command.details.map { $0.wrapped(width: Self.width) }
    func list(_ title: String, _ items: [(String, String)]) {
      guard !items.isEmpty else { return }
      let width = (items.map(\.0.count).max() ?? 0) + 2
      let indent = String(repeating: " ", count: width + 2)
      let lines = items.map { item in
        "  \(item.0.padded(to: width))"
          + item.1.wrapped(width: Self.width, indent: indent).dropFirst(indent.count)
      }
      sections.append(([title] + lines).joined(separator: "\n"))
    }
    list("commands:", command.visibleSubcommands.map { ($0.name, $0.summary) })
    list("arguments:", command.arguments.map { ($0.name, $0.help) })
    list("options:", command.allOptions.map { ($0.usage, $0.help) })
    if !command.examples.isEmpty {
      let lines = command.examples.map { "  \($0.command)\n      \($0.meaning)" }
      sections.append((["examples:"] + lines).joined(separator: "\n"))
    }
    list("exit status:", command.exitStatuses.map { ("\($0.status)", $0.meaning) })
    text = sections.joined(separator: "\n\n") + "\n"
  }

  /// A summary as a sentence.
  static func sentence(_ summary: String) -> String {
    "\(summary.prefix(1).uppercased())\(summary.dropFirst())."
  }
}
