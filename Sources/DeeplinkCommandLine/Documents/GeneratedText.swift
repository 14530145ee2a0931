/// What is made from a table of commands besides help.
enum GeneratedText: String, CaseIterable {
  /// The section COMMANDS of deeplink(1), in mdoc(7).
  case manual
  case bash, zsh, fish

  func text(of root: Command) -> String {
    switch self {
    case .manual: ManualSection(root).text
    case .bash: BashCompletion(root).text
    case .zsh: ZshCompletion(root).text
    case .fish: FishCompletion(root).text
    }
  }
}

extension Command {
  /// The command and all that are below it and not hidden, each with its words: `deeplink plugin`.
  func walk(_ path: String = "") -> [(path: String, command: Command)] {
    let path = path.isEmpty ? name : "\(path) \(name)"
    return [(path, self)] + visibleSubcommands.flatMap { $0.walk(path) }
  }
}
