extension Command {
  /// The program itself: everything that it can do hangs on this.
  static let deeplink: Command = Command(
    name: "deeplink",
    summary: "deep links for the desktop",
    details: [
      "A link with an app's own scheme, such as com.example.demo:greet, is brought to the app that "
        + "takes it. This program is for people: it sends links, and says what would happen with "
        + "them and why. deeplink(7) tells how links travel."
    ],
    options: [.version],
    subcommands: [.open, .explain, .plugin, .schemes, .status, .generate])

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
      let word = invocation.arguments[0].text
      guard let kind = GeneratedText(rawValue: word) else {
        throw .unknownCommand(
          word, of: "deeplink generate", known: GeneratedText.allCases.map(\.rawValue))
      }
      invocation.output.write(kind.text(of: .deeplink))
      return 0
    })
}
