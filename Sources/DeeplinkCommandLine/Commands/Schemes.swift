import DeeplinkContract
import DeeplinkRouting

extension Command {
  static let schemes = Command(
    name: "schemes",
    summary: "list the schemes in use and who owns them",
    details: [
      "A scheme belongs to one plugin, the first that claims it. The routes of another plugin count "
        + "on it only where the owner's manifest shares it."
    ],
    options: [.json],
    exitStatuses: [ExitStatus(status: 0, meaning: "done")],
    run: { invocation throws(CommandError) in
      let catalog = invocation.context.plugins()
      catalog.noteErrors(invocation.context.errors)
      let table = RouteTable(plugins: catalog.plugins)
      var rows = TextTable("SCHEME", "OWNER", "NAME", "SHARED WITH")
      for scheme in table.schemes {
        guard let owner = table.owner(of: scheme) else { continue }
        let others = table.members(of: scheme).dropFirst().map(\.id.text)
        if invocation.wantsJSON {
          let row: JSONValue = [
            "scheme": .string(scheme.text), "owner": .string(owner.id.text),
            "name": .string(owner.name.standard), "sharedWith": .array(others.map { .string($0) }),
          ]
          invocation.output.line(row.description)
        } else {
          rows.add(
            scheme.text, owner.id.text, owner.name.standard, others.joined(separator: ", "))
        }
      }
      rows.write(to: invocation.output)
      return ExitCode.accepted
    })
}
