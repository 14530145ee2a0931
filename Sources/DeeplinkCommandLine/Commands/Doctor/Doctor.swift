import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting

extension Option {
  fileprivate static let repair = Option("repair", "mend what can be mended without a choice")
}

extension Command {
  static let doctor = Command(
    name: "doctor",
    summary: "find out why a link does not arrive",
    details: [
      "The whole way is gone through, from the opener to the plugin: each check says what was looked "
        + "at, and what mends it where it failed. The daemon is started for it, and asked through "
        + "the bus, gio and xdg-open, with a link that does nothing.",
      "With --repair desktop entries, defaults and the cache are written anew. What another "
        + "application holds is left to it: that is a person's choice.",
    ],
    arguments: [
      Argument(
        name: "SCHEME", help: "only this scheme, all those of plugins unless given",
        isRequired: false)
    ],
    options: [.json, .repair],
    examples: [
      Example(command: "deeplink doctor --repair com.example.demo", meaning: "one scheme, mended")
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "links arrive; there may be warnings"),
      ExitStatus(status: 1, meaning: "a check failed"),
    ],
    run: { invocation throws(CommandError) in
      let context = invocation.context
      // A whole link does as well.
      let scheme = invocation.arguments.first.map { word in
        String(word.text.lowercased().prefix { $0 != ":" })
      }
      var checks = desktop(context, scheme)
      var mended: Set<String> = []
      if invocation.has(.repair), checks.contains(where: { $0.state == .bad && $0.isMendable }) {
        let former = checks
        let failure = repair(context)
        checks = desktop(context, scheme) + (failure.map { [$0] } ?? [])
        let good = Set(checks.filter { $0.state == .good }.map(\.key))
        mended = Set(former.filter { $0.state == .bad }.map(\.key)).intersection(good)
      }
      checks += SessionChecks(context).all(scheme)
      for check in checks { write(check, isMended: mended.contains(check.key), invocation) }
      let faults = checks.count { $0.state == .bad }
      if !invocation.wantsJSON, invocation.output.isTerminal {
        invocation.output.line(
          faults == 0 ? invocation.output.styled("links arrive", .good) : "faults: \(faults)")
      }
      return faults == 0 ? ExitCode.accepted : ExitCode.refused
    })

  /// What can be seen without a session, in the order in which one thing needs the other.
  private static func desktop(_ context: Context, _ scheme: String?) -> [Check] {
    let checks =
      PlaceChecks(context).all() + PluginChecks(context).all(scheme)
      + DesktopChecks(context).all(scheme)
    let hasMendable = checks.contains { $0.state == .bad && $0.isMendable }
    return (hasMendable ? PlaceChecks(context).writable() : []) + checks
  }

  /// Writes the desktop's files anew; nil, or why that cannot be done.
  private static func repair(_ context: Context) -> Check? {
    do throws(CommandError) {
      let registrar = try Registrar(context)
      try registrar.register()
      registrar.updateCache("\(context.directories.dataHome)/applications")
      return nil
    } catch {
      return Check(name: "repair", state: .bad, found: error.sentence, mend: error.hint)
    }
  }

  private static func write(_ check: Check, isMended: Bool, _ invocation: Invocation) {
    let output = invocation.output
    guard !invocation.wantsJSON else {
      let row: JSONValue = [
        "check": .string(check.name), "scheme": JSONValue(check.scheme),
        "state": .string(isMended ? "mended" : check.state.rawValue),
        "found": .string(check.found), "mend": JSONValue(check.mend),
      ]
      return output.line(row.description)
    }
    let style: Style = check.state == .good ? .good : check.state == .bad ? .bad : .warning
    let word = isMended ? "mended" : check.state.rawValue
    let place = check.scheme.map { "\($0) " } ?? ""
    output.line(
      output.styled(word.padded(to: 9), style) + "\(place)\(check.name): \(check.found.visible)")
    if let mend = check.mend { output.line("         hint: \(mend.visible)") }
  }
}
