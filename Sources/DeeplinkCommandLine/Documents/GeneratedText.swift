/// What is made from the table of commands for an installation, besides help.
enum GeneratedText: String, CaseIterable {
  /// A page of the manual, from its template on standard input.
  case manual
  case bash, zsh, fish

  func text(of root: Command, _ context: Context) throws(CommandError) -> String {
    switch self {
    case .manual:
      let template = try InputFile.standardInput().contents(limit: 1 << 20)
      return ManualPage(
        template: String(decoding: template, as: UTF8.self), root: root,
        date: ManualPage.date(context.environment)
      ).text
    case .bash: return BashCompletion(root).text
    case .zsh: return ZshCompletion(root).text
    case .fish: return FishCompletion(root).text
    }
  }
}

extension Command {
  static let generate: Command = Command(
    name: "generate",
    summary: "write what is made from the table of commands, for an installation",
    arguments: [
      Argument(
        name: "KIND", help: "what to write",
        completion: .words(GeneratedText.allCases.map(\.rawValue)))
    ],
    isHidden: true,
    run: { invocation throws(CommandError) in
      let kinds = GeneratedText.allCases.map(\.rawValue)
      guard let kind = GeneratedText(rawValue: invocation.arguments[0].text) else {
        throw .unknownCommand(
          invocation.arguments[0].text, of: "deeplink generate", known: kinds, deeper: nil)
      }
      invocation.output.write(try kind.text(of: .deeplink, invocation.context))
      return 0
    })

  /// The command and all that are below it and not hidden, each with its words: `deeplink plugin`.
  func walk(_ path: String = "") -> [(path: String, command: Command)] {
    let path = path.isEmpty ? name : "\(path) \(name)"
    return [(path, self)] + visibleSubcommands.flatMap { $0.walk(path) }
  }
}
