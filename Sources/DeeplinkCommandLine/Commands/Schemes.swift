import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting

extension Option {
  fileprivate static let owner = Option(
    "owner", value: "PLUGIN", completion: .pluginIDs, "give SCHEME to this plugin from now on")
}

extension Command {
  static let schemes = Command(
    name: "schemes",
    summary: "list the schemes in use and who owns them",
    details: [
      "A scheme belongs to one plugin, the first that was added of those that claim it, or the one "
        + "that --owner chose. The routes of another plugin count on it only where the owner's "
        + "manifest shares it.",
      "Shown are also the plugins that claim a scheme in vain, the desktop entry that the desktop "
        + "opens its links with, and other applications that claim it.",
    ],
    arguments: [
      Argument(name: "SCHEME", help: "only this scheme", isRequired: false)
    ],
    options: [.json, .owner],
    examples: [
      Example(
        command: "deeplink schemes --owner com.example.Photos photos",
        meaning: "'photos:' links go to this plugin")
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "done"),
      ExitStatus(status: 1, meaning: "no plugin has the scheme"),
    ],
    run: runSchemes)
}

private func runSchemes(_ invocation: Invocation) throws(CommandError) -> Int32 {
  let context = invocation.context
  let catalog = context.plugins()
  catalog.noteErrors(context.errors)
  let wanted = invocation.arguments.first.map { $0.text.lowercased() }
  if let owner = invocation.value(.owner) {
    guard let wanted else { throw .missingArgument("SCHEME", of: "deeplink schemes --owner") }
    try choose(owner.text, for: wanted, catalog, context)
  }
  let table = context.table(of: catalog)
  if let wanted, !table.schemes.contains(where: { $0.text == wanted }) {
    throw .unknownScheme(wanted, known: table.schemes.map(\.text))
  }
  let handlers = Handlers(
    directories: context.directories, desktops: Handlers.desktops(context.environment))
  var rows = TextTable(
    "SCHEME", "OWNER", "NAME", "SHARED WITH", "IN VAIN", "OPENED BY", "OTHERS")
  for scheme in table.schemes where wanted == nil || scheme.text == wanted {
    guard let owner = table.owner(of: scheme) else { continue }
    let members = table.members(of: scheme).map(\.id)
    let shared = members.dropFirst().map(\.text)
    let claiming = table.plugins.filter { $0.schemes.contains(scheme) }
    let vain = claiming.map(\.id).filter { !members.contains($0) }.map(\.text)
    let opener = handlers.chosen(for: scheme)?.entry ?? handlers.candidates(for: scheme).first
    let others = handlers.candidates(for: scheme).filter {
      $0 != opener && $0 != HandlerEntry.id(of: owner.id)
    }
    if invocation.wantsJSON {
      func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
      let row: JSONValue = [
        "scheme": .string(scheme.text), "owner": .string(owner.id.text),
        "name": .string(owner.name.standard), "sharedWith": list(shared), "inVain": list(vain),
        "openedBy": JSONValue(opener), "others": list(others),
      ]
      invocation.output.line(row.description)
    } else {
      rows.add(
        scheme.text, owner.id.text, owner.name.standard, shared.joined(separator: ", "),
        vain.joined(separator: ", "), opener ?? "", others.joined(separator: ", "))
    }
  }
  rows.write(to: invocation.output)
  return ExitCode.accepted
}

private func choose(
  _ owner: String, for scheme: String, _ catalog: PluginCatalog, _ context: Context
) throws(CommandError) {
  guard let plugin = catalog.plugins.first(where: { $0.id.text == owner }) else {
    throw .unknownPlugin(owner, known: catalog.ids)
  }
  guard let chosen = plugin.schemes.first(where: { $0.text == scheme }) else {
    throw .unknownScheme(scheme, known: plugin.schemes.map(\.text))
  }
  var registrar = try Registrar(context)
  registrar.choices.owners[chosen] = plugin.id
  registrar.note(try registrar.register(), of: plugin.id)
}
