import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting

extension Option {
  fileprivate static let stdin = Option("stdin", "read links from standard input, one a line")
  fileprivate static let manifest = Option(
    "manifest", value: "FILE", completion: .files,
    "decide by this manifest alone, and show sensitive values")
}

extension Command {
  static let explain = Command(
    name: "explain",
    summary: "say what would happen with a link, and why",
    details: [
      "Every step is shown: the bytes, the canonical form, what was odd, the routes that were "
        + "looked at with the reason why each takes the link or not, the parameters, whether the "
        + "person would be asked, and the action. Nothing happens.",
      "The decision is made here, by the plugins that are installed and the person's settings; the "
        + "daemon is not asked. Values of sensitive parameters appear as 'secret, N "
        + "characters'.",
      "With --stdin there is an answer for each line, in order, also for an empty one. A line may "
        + "hold any bytes but a line feed.",
    ],
    arguments: [
      Argument(
        name: "URL", help: "a link, or what might be one", isRequired: false, isRepeated: true)
    ],
    options: [.json, .stdin, .manifest],
    examples: [
      Example(
        command: "deeplink explain 'com.example.demo:greet?name=World'",
        meaning: "what the demonstration's link does"),
      Example(
        command: "deeplink explain --manifest ./plugin.json 'myapp:album/7'",
        meaning: "try a manifest that is not installed"),
      Example(
        command: "deeplink explain --stdin --json <links | jq .route",
        meaning: "the route of each link of a file"),
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "every link would be accepted"),
      ExitStatus(status: 1, meaning: "a link would be refused, or wrong usage"),
    ],
    run: runExplain)
}

private func runExplain(_ invocation: Invocation) throws(CommandError) -> Int32 {
  guard invocation.has(.stdin) != !invocation.arguments.isEmpty else {
    throw invocation.has(.stdin)
      ? .contradiction("links come from the command line or from standard input, not from both")
      : .missingArgument("URL", of: "deeplink explain")
  }
  var explainer = try Explainer(invocation)
  for word in invocation.arguments { explainer.explain(word.bytes) }
  if invocation.has(.stdin) {
    var lines = LineReader(try InputFile.standardInput())
    while let line = try lines.next(beforeWaiting: invocation.output.flush) {
      explainer.explain(line)
    }
  }
  return explainer.refusedAny ? ExitCode.refused : ExitCode.accepted
}

/// Explains one link after the other.
private struct Explainer {
  private let table: RouteTable
  private let revealsSecrets: Bool
  private let settings: Settings
  private let grants: Grants
  private let wantsJSON: Bool
  private let output: Output
  private var isFirst = true
  private(set) var refusedAny = false

  init(_ invocation: Invocation) throws(CommandError) {
    output = invocation.output
    wantsJSON = invocation.wantsJSON
    if let manifest = invocation.value(.manifest) {
      table = RouteTable(plugins: [try Plugin.manifest(at: manifest.text)])
      revealsSecrets = true
      settings = Settings()
      grants = Grants()
    } else {
      let catalog = invocation.context.plugins()
      catalog.noteErrors(invocation.context.errors)
      table = invocation.context.table(of: catalog)
      revealsSecrets = false
      let directories = invocation.context.directories
      settings = Settings.read(Settings.path(directories)).settings ?? Settings()
      // One that cannot be read grants nothing.
      grants = (try? Grants.read(Grants.path(directories))) ?? Grants()
    }
  }

  mutating func explain(_ bytes: [UInt8]) {
    let explanation = DeeplinkRouting.explain(
      bytes, table: table, maximumLength: settings.maximumLength,
      revealingSecrets: revealsSecrets
    ) { settings.consentText($0, $1, grants: grants) }
    if !explanation.accepted { refusedAny = true }
    if wantsJSON {
      output.line(explanation.json.description)
    } else {
      if !isFirst { output.write("\n") }
      output.write(coloured(explanation.text))
    }
    isFirst = false
  }

  /// The titles, which stand in the first columns, in bold; what decides in its colour.
  private func coloured(_ text: String) -> String {
    guard output.hasColour else { return text }
    return text.split(separator: "\n").map { line in
      let title = line.prefix(12)
      let style: Style =
        switch title.trimmingSuffix(" ") {
        case "accepted", "matches": .good
        case "refused": .bad
        case "no match": .dim
        case "remark", "hint": .warning
        default: .bold
        }
      return output.styled(String(title), style) + line.dropFirst(12) + "\n"
    }.joined()
  }
}

extension Substring {
  fileprivate func trimmingSuffix(_ character: Character) -> Substring {
    guard let end = lastIndex(where: { $0 != character }) else { return "" }
    return self[...end]
  }
}
