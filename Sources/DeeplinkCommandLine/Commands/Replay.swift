import DeeplinkBus
import DeeplinkContract
import DeeplinkRouting
import DeeplinkWire

extension Command {
  static let replay = Command(
    name: "replay",
    summary: "send a link of the history again",
    details: [
      "The history keeps no links. Where the settings say \"history\": {\"values\": true} it keeps the "
        + "values of parameters that are not sensitive, and from them and the route a link is made "
        + "that goes to the same route with the same parameters. It is sent as `deeplink open` "
        + "sends it. What the route did not take as a parameter, such as a fragment, is not in it.",
      "A link with a sensitive parameter, or one that was refused, cannot be sent again.",
    ],
    arguments: [
      Argument(name: "NUMBER", help: "the number of an entry, as `deeplink history` shows it")
    ],
    options: [.json, .timeout, .show],
    examples: [
      Example(command: "deeplink replay 17", meaning: "do again what entry 17 did"),
      Example(command: "deeplink replay --show 17", meaning: "only print the link"),
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "delivered, still pending, or shown"),
      ExitStatus(status: 1, meaning: "there is no such entry, or too little of it was kept"),
    ] + open.exitStatuses.dropFirst(2),
    run: runReplay)
}

extension Option {
  fileprivate static let show = Option("show", "print the link, and do not send it")
}

private func runReplay(_ invocation: Invocation) throws(CommandError) -> Int32 {
  let word = invocation.arguments[0].text
  guard let number = Int64(word), number > 0 else { throw .noEntry(word) }
  let json = try Session.perform("waiting for the daemon") { connection throws(BusError) in
    try await DispatcherClient(connection).history(["number": .int64(number)])
  }
  guard let entry = (try? JSONValue(json5: json))?.array?.first else { throw .noEntry(word) }
  let url = try link(of: entry, word, invocation.context)
  guard invocation.has(.show) else {
    return try send(Array(url.utf8), invocation, wantsCallback: false)
  }
  let answer: JSONValue = ["url": .string(url)]
  invocation.output.line(invocation.wantsJSON ? answer.description : url)
  return ExitCode.accepted
}

/// The link of an entry, made anew.
private func link(
  of entry: JSONValue, _ number: String, _ context: Context
) throws(CommandError) -> String {
  let code = entry["outcome"]?.string ?? ""
  guard let id = entry["plugin"]?.string, let name = entry["route"]?.string else {
    throw .notReplayable(number, "it was \(code), and no route took it", hint: nil)
  }
  guard let parameters = entry["parameters"]?.object else {
    throw .notReplayable(
      number, "the values of its parameters were not kept",
      hint: "\"history\": {\"values\": true} in settings.json keeps them from now on")
  }
  let omitted = (entry["omitted"]?.array ?? []).compactMap(\.string)
  guard omitted.isEmpty else {
    throw .notReplayable(
      number, "the history keeps nothing sensitive: it had \(omitted.joined(separator: ", "))",
      hint: nil)
  }
  let catalog = context.plugins()
  let table = context.table(of: catalog)
  guard let scheme = Scheme(entry["scheme"]?.string ?? ""),
    let plugin = table.plugins.first(where: { $0.id.text == id }), let route = plugin.route(name)
  else {
    throw .notReplayable(
      number, "there is no plugin '\(id)' with a route '\(name)' in use any more",
      hint: "`deeplink plugin list` shows the plugins")
  }
  guard let url = table.link(to: route, of: plugin, scheme: scheme, parameters: parameters) else {
    throw .notReplayable(
      number,
      "no link of route '\(name)' can be made with what was kept: the route has changed, or takes "
        + "more of a link than its parameters",
      hint: nil)
  }
  return url
}
