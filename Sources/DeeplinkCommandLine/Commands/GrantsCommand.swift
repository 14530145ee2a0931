import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting

extension Option {
  fileprivate static let source = Option(
    "source", value: "SOURCE", "only what this source may do, as the list names it")
}

extension Command {
  static let grants = Command(
    name: "grants",
    summary: "list and take back what was allowed for good",
    details: [
      "A link that may change something is asked about once for each route and source. What was "
        + "answered with 'Always' is kept in $XDG_STATE_HOME/deeplinkd/grants.json, until the "
        + "manifest says something else about the route or it is taken back here. The daemon sees "
        + "that at once."
    ],
    subcommands: [grantsList, grantsRevoke])

  private static let grantsList = Command(
    name: "list",
    summary: "list what was allowed for good",
    details: [
      "The state is 'granted', or 'void' where no plugin has such a route any more: then the next "
        + "link is asked about. The source '*' is every one. As JSON each grant has plugin, route, "
        + "source, time, state, and as action the text that was agreed to."
    ],
    options: [.json],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "done"),
      ExitStatus(status: 1, meaning: "the file has an error"),
    ],
    run: { invocation throws(CommandError) in
      let catalog = invocation.context.plugins()
      var rows = TextTable("PLUGIN", "ROUTE", "SOURCE", "STATE", "SINCE")
      for grant in try invocation.context.grants().list {
        let route = catalog.plugins.first { $0.id.text == grant.plugin }?.route(grant.route)
        let state = route?.grantText == grant.action ? "granted" : "void"
        if invocation.wantsJSON {
          var members = grant.json.object ?? [:]
          members["state"] = .string(state)
          invocation.output.line(JSONValue.object(members).description)
        } else {
          rows.add(grant.plugin, grant.route, grant.source, state, localTime(grant.time))
        }
      }
      rows.write(to: invocation.output)
      return ExitCode.accepted
    })

  private static let grantsRevoke = Command(
    name: "revoke",
    summary: "take back what was allowed for good",
    details: ["The next link is asked about again. Links that are on their way are not stopped."],
    arguments: [
      Argument(
        name: "PLUGIN", help: "the id of a plugin, or PLUGIN/ROUTE for one of its routes",
        completion: .pluginIDs)
    ],
    options: [.json, .source],
    examples: [
      Example(
        command: "deeplink grants revoke com.example.Photos/import",
        meaning: "be asked again about each import")
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "done"),
      ExitStatus(status: 1, meaning: "there is no such grant, or the file has an error"),
    ],
    run: { invocation throws(CommandError) in
      let name = invocation.arguments[0].text
      let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      var grants = try invocation.context.grants()
      let known = grants.list.flatMap { [$0.plugin, "\($0.plugin)/\($0.route)"] }
      let count = grants.revoke(
        plugin: String(parts[0]), route: parts.count > 1 ? String(parts[1]) : nil,
        source: invocation.value(.source)?.text)
      guard count > 0 else {
        throw .unknownGrant(name, known: known)
      }
      do throws(Grants.FileError) {
        try grants.write(Grants.path(invocation.context.directories))
      } catch {
        throw .grants(error.description)
      }
      if invocation.wantsJSON {
        let answer: JSONValue = ["revoked": .integer(Int64(count))]
        invocation.output.line(answer.description)
      }
      return ExitCode.accepted
    })
}

extension Context {
  fileprivate func grants() throws(CommandError) -> Grants {
    do throws(Grants.FileError) { return try Grants.read(Grants.path(directories)) } catch {
      throw .grants(error.description)
    }
  }
}
