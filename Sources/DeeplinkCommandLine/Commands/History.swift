import DeeplinkActions
import DeeplinkBus
import DeeplinkContract
import DeeplinkRouting
import DeeplinkWire
import Glibc

extension Option {
  fileprivate static let plugin = Option(
    "plugin", value: "PLUGIN", completion: .pluginIDs, "only links that this plugin took")
  fileprivate static let outcome = Option(
    "outcome", value: "OUTCOME",
    completion: .words(
      ["refused"] + DeliveryState.allCases.filter(\.isOutcome).map(\.rawValue).sorted()),
    "only links that came to this")
  fileprivate static let scheme = Option("scheme", value: "SCHEME", "only links of this scheme")
  fileprivate static let limit = Option(
    "limit", value: "NUMBER", "the newest ones, so many at most, 100 unless given")
}

extension Option {
  fileprivate static let follow = Option(
    "follow", "show each state of each link from now on, until interrupted")
}

extension Command {
  static let history = Command(
    name: "history",
    summary: "show what arrived and what became of it",
    details: [
      "The oldest link comes first. Links themselves are not kept: time, route, outcome and size "
        + "are, and values only of parameters that are not sensitive, where the settings ask for "
        + "them; then `deeplink replay` sends a link again.",
      "With --json each entry is the object that the method History of the D-Bus interface "
        + "describes.",
      "With --follow nothing is shown of what was: each line is a link that comes into another "
        + "state, with its time, number, state, plugin and route. As JSON these are time, id, state, "
        + "plugin, route, and at the end result.",
    ],
    options: [.json, .follow, .plugin, .outcome, .scheme, .limit],
    examples: [
      Example(command: "deeplink history --outcome failed", meaning: "links that went wrong")
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "done"),
      ExitStatus(status: 3, meaning: "the daemon cannot be reached or started"),
    ],
    run: runHistory)
}

private func runHistory(_ invocation: Invocation) throws(CommandError) -> Int32 {
  let filters: [Option] = [.plugin, .outcome, .scheme, .limit]
  if invocation.has(.follow) {
    if let filter = filters.first(where: invocation.has) {
      throw .contradiction("'\(filter.word)' is for what was, '--follow' for what comes")
    }
    try follow(wantsJSON: invocation.wantsJSON, invocation.context.environment)
  }
  var filter: [String: Value] = [:]
  for option in [Option.plugin, .outcome, .scheme] {
    filter[option.name] = invocation.value(option).map { .string($0.text) }
  }
  if let limit = try invocation.number(.limit, in: 1...10_000) {
    filter["limit"] = .uint32(UInt32(limit))
  }
  let json = try Session.perform("waiting for the daemon") {
    [filter] connection throws(BusError) in
    try await DispatcherClient(connection).history(filter)
  }
  guard let entries = (try? JSONValue(json5: json))?.array else {
    throw .unreachable("its history is no JSON list", isInstalled: true)
  }
  var rows = TextTable("NUMBER", "TIME", "OUTCOME", "REASON", "PLUGIN", "ROUTE", "SCHEME")
  for entry in entries {
    if invocation.wantsJSON {
      invocation.output.line(entry.description)
      continue
    }
    func text(_ key: String) -> String { entry[key]?.string ?? "" }
    rows.add(
      entry["number"]?.description ?? "", localTime(entry["time"]?.number ?? 0), text("outcome"),
      text("reason"), text("plugin"),
      text("route"), text("scheme"))
  }
  rows.write(to: invocation.output)
  return ExitCode.accepted
}

/// Shows what comes; it ends with the daemon, which is an error, as nobody asked for that.
private func follow(
  wantsJSON: Bool, _ environment: [String: String]
) throws(CommandError) -> Never {
  try Session.perform(nil) { connection throws(BusError) in
    let output = Output(descriptor: STDOUT_FILENO, environment: environment)
    try await DispatcherClient(connection).follow { change in
      output.line(wantsJSON ? change.json.description : change.row(for: output))
      output.flush()
    }
  }
  throw .lost
}

extension DeliveryChange {
  fileprivate var json: JSONValue {
    var members = facts.compactMapValues(JSONValue.init(value:))
    members["time"] = .integer(Int64(time(nil)))
    members["id"] = .integer(Int64(clamping: id))
    members["state"] = .string(state.rawValue)
    return .object(members)
  }

  fileprivate func row(for output: Output) -> String {
    func text(_ key: String) -> String { facts[key]?.string?.visible ?? "" }
    let cells = [
      localTime(Double(time(nil))), "\(id)", state.rawValue, text("plugin"), text("route"),
    ]
    guard output.isTerminal else { return cells.joined(separator: "\t") }
    let style: Style? = state == .delivered ? .good : state.isOutcome ? .bad : nil
    let word = state.rawValue.padded(to: 20)
    return "\(cells[0])  \(cells[1].padded(to: 6))"
      + (style.map { output.styled(word, $0) } ?? word) + "\(cells[3])/\(cells[4])"
  }
}

/// `2026-01-02 15:04:05` where the person is.
func localTime(_ secondsSince1970: Double) -> String {
  var seconds = Int(exactly: secondsSince1970.rounded(.down)) ?? 0
  var parts = unsafe tm()
  guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
  let fields = unsafe [
    parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
    parts.tm_sec,
  ].map { $0 < 10 ? "0\($0)" : "\($0)" }
  return fields[..<3].joined(separator: "-") + " " + fields[3...].joined(separator: ":")
}
