import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting
import Glibc

extension Command {
  private static let installedPlugin = Argument(
    name: "PLUGIN", help: "the id of a plugin", completion: .pluginIDs)

  private static let statuses = [
    ExitStatus(status: 0, meaning: "done"),
    ExitStatus(status: 1, meaning: "there is no such plugin, or a file cannot be changed"),
  ]

  static let pluginRemove = Command(
    name: "remove",
    summary: "take a plugin out, and give its schemes back",
    details: [
      "Every file that adding it changed is as it was before; where somebody changed one since, "
        + "only what is the plugin's is taken out."
    ],
    arguments: [installedPlugin],
    options: [.json],
    exitStatuses: statuses,
    run: { invocation throws(CommandError) in
      let context = invocation.context
      let (id, folder) = try installed(invocation)
      let own = "\(context.directories.dataHome)/deeplinkd/plugins"
      guard folder == "\(own)/\(id)" else { throw .packaged(id, folder: folder) }
      var registrar = try Registrar(context)
      _ = try registrar.plan()
      // Out of sight at once: the daemon never reads half a plugin.
      let old = "\(own)/.old-\(getpid())"
      guard unsafe rename(folder, old) == 0 else { throw .notChanged(PersonFile.Failure(folder)) }
      let left = context.plugins()
      if !left.ids.contains(id.text) { registrar.choices.forget(id) }
      // Without any plugin of the person's own there is no order to keep.
      if left.ids.isEmpty { registrar.choices = PluginChoices() }
      do throws(CommandError) { try registrar.register() } catch {
        unsafe _ = rename(old, folder)
        throw error
      }
      try CommandError.files { () throws(PersonFile.Failure) in try FolderCopy.remove(old) }
      if unsafe rmdir(own) == 0 {
        unsafe _ = rmdir(String(own.dropLast("/plugins".count)))
        // The folders above go where they came with the first plugin.
        try registrar.register()
      }
      say(id, "removed", invocation)
      return ExitCode.accepted
    })

  static let pluginEnable = Command(
    name: "enable",
    summary: "switch a plugin on again",
    arguments: [installedPlugin],
    options: [.json, .makeDefault],
    exitStatuses: statuses,
    run: { invocation throws(CommandError) in
      let (id, _) = try installed(invocation)
      var registrar = try Registrar(invocation.context)
      registrar.choices.disabled.remove(id)
      let schemes = invocation.context.plugins().plugins.first { $0.id == id }?.schemes ?? []
      registrar.note(
        try registrar.register(taking: invocation.has(.makeDefault) ? Set(schemes) : []), of: id)
      say(id, "enabled", invocation)
      return ExitCode.accepted
    })

  static let pluginDisable = Command(
    name: "disable",
    summary: "switch a plugin off, until it is enabled",
    details: [
      "Its links are refused, and its schemes are given back: nothing of it is registered with the "
        + "desktop any more."
    ],
    arguments: [installedPlugin],
    options: [.json],
    exitStatuses: statuses,
    run: { invocation throws(CommandError) in
      let (id, _) = try installed(invocation)
      var registrar = try Registrar(invocation.context)
      registrar.choices.disabled.insert(id)
      try registrar.register()
      say(id, "disabled", invocation)
      return ExitCode.accepted
    })

  /// What was done, for a script that asked for it.
  private static func say(_ id: PluginID, _ state: String, _ invocation: Invocation) {
    guard invocation.wantsJSON else { return }
    let answer: JSONValue = ["plugin": .string(id.text), "state": .string(state)]
    invocation.output.line(answer.description)
  }

  /// The plugin that the first argument names, also one with an error, and its folder.
  private static func installed(
    _ invocation: Invocation
  ) throws(CommandError) -> (id: PluginID, folder: String) {
    let catalog = invocation.context.plugins()
    let text = invocation.arguments[0].text
    if let plugin = catalog.plugins.first(where: { $0.id.text == text }) {
      return (plugin.id, plugin.folder ?? "")
    }
    guard let broken = catalog.broken.first(where: { $0.id == text }),
      let id = try? PluginID(text)
    else { throw .unknownPlugin(text, known: catalog.ids) }
    return (id, String(broken.manifest.dropLast("/\(PluginFolder.manifestName)".count)))
  }
}
