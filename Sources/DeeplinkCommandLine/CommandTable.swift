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
    subcommands: [
      .open, .call, .explain, .plugin, .schemes, .page, .doctor, .history, .replay, .grants,
      .status,
      .reload, .generate,
    ])
}
