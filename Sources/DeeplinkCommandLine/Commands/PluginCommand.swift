import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting

extension Command {
  static let plugin = Command(
    name: "plugin",
    summary: "add, remove, list, show and check plugins",
    details: [
      "A plugin is a folder with a manifest, below deeplinkd/plugins in a data directory. "
        + "deeplink-plugin(5) describes the manifest."
    ],
    subcommands: [
      pluginNew, pluginAdd, pluginRemove, pluginList, pluginShow, pluginCheck, pluginEnable,
      pluginDisable,
    ])

  private static let pluginList = Command(
    name: "list",
    summary: "list the plugins that are there",
    details: ["Those that have an error are listed too, as 'invalid': they are not in use."],
    options: [.json],
    exitStatuses: [ExitStatus(status: 0, meaning: "done")],
    run: { invocation throws(CommandError) in
      let catalog = invocation.context.plugins()
      var rows = TextTable("PLUGIN", "NAME", "STATE", "SCHEMES", "FOLDER")
      func add(_ id: String, _ name: String, _ state: String, _ schemes: [String], _ path: String) {
        guard invocation.wantsJSON else {
          return rows.add(id, name, state, schemes.joined(separator: " "), path)
        }
        let row: JSONValue = [
          "id": .string(id), "name": .string(name), "state": .string(state),
          "schemes": .array(schemes.map { .string($0) }), "folder": .string(path),
        ]
        invocation.output.line(row.description)
      }
      let disabled = PluginChoices(invocation.context.directories).disabled
      for plugin in catalog.plugins {
        add(
          plugin.id.text, plugin.name.standard,
          disabled.contains(plugin.id) ? "disabled" : "enabled", plugin.schemes.map(\.text),
          plugin.folder ?? "")
      }
      for plugin in catalog.broken {
        add(plugin.id, "", "invalid", [], String(plugin.manifest.dropLast("/plugin.json".count)))
      }
      rows.write(to: invocation.output)
      return ExitCode.accepted
    })

  private static let pluginShow = Command(
    name: "show",
    summary: "show a plugin's schemes and routes",
    arguments: [Argument(name: "PLUGIN", help: "the id of a plugin", completion: .pluginIDs)],
    options: [.json],
    examples: [
      Example(command: "deeplink plugin show com.example.demo", meaning: "what its links can do")
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "done"),
      ExitStatus(status: 1, meaning: "there is no such plugin, or its manifest has an error"),
    ],
    run: { invocation throws(CommandError) in
      let catalog = invocation.context.plugins()
      let id = invocation.arguments[0].text
      if let broken = catalog.broken.first(where: { $0.id == id }) {
        throw .invalidManifest(broken.errors)
      }
      guard let plugin = catalog.plugins.first(where: { $0.id.text == id }) else {
        throw .unknownPlugin(id, known: catalog.ids)
      }
      if invocation.wantsJSON {
        invocation.output.line(plugin.summary.description)
      } else {
        show(plugin, invocation.output)
      }
      return ExitCode.accepted
    })

  /// What a plugin claims, what its links may do, and what its programs can reach.
  static func show(_ plugin: Plugin, _ output: Output) {
    var facts = Facts()
    facts.add("plugin", plugin.id.text)
    facts.add("name", plugin.name.standard)
    facts.add("folder", plugin.folder ?? "")
    facts.add("schemes", plugin.schemes.map(\.text).joined(separator: ", "))
    if !plugin.sharedWith.isEmpty {
      facts.add("shared with", plugin.sharedWith.map(\.text).sorted().joined(separator: ", "))
    }
    facts.write(to: output)
    for route in plugin.routes {
      output.line("\n\(output.styled(route.name.visible, .bold))")
      var facts = Facts()
      for pattern in route.patterns { facts.add("  match", pattern.text) }
      for parameter in route.parameters.sorted(by: { $0.name < $1.name }) {
        let words =
          [parameter.typeName] + (parameter.isRequired ? ["required"] : [])
          + (parameter.isSensitive ? ["sensitive"] : [])
        facts.add("  parameter", "\(parameter.name): \(words.joined(separator: ", "))")
      }
      facts.add("  action", route.actionSource.description)
      if let sandbox = route.action.sandbox { facts.add("  opens", "\(sandbox)") }
      facts.add("  consent", "\(route.consent.rawValue) (effect: \(route.effect.rawValue))")
      facts.write(to: output)
    }
  }
}

extension Plugin {
  /// The object of `deeplink plugin show --json`.
  var summary: JSONValue {
    [
      "id": .string(id.text), "name": .string(name.standard), "folder": JSONValue(folder),
      "schemes": .array(schemes.map { .string($0.text) }),
      "sharedWith": .array(sharedWith.map(\.text).sorted().map { .string($0) }),
      "routes": .array(
        routes.map { route in
          [
            "name": .string(route.name),
            "match": .array(route.patterns.map { .string($0.text) }),
            "parameters": .array(
              route.parameters.sorted { $0.name < $1.name }.map {
                [
                  "name": .string($0.name), "type": .string($0.typeName),
                  "required": .boolean($0.isRequired), "sensitive": .boolean($0.isSensitive),
                ]
              }),
            "action": route.actionSource, "effect": .string(route.effect.rawValue),
            "consent": .string(route.consent.rawValue),
          ]
        }),
    ]
  }
}

extension Parameter {
  /// `integer`, `array of string`, `string (uuid)`.
  fileprivate var typeName: String {
    func name(_ rule: ValueRule) -> String {
      switch rule.kind {
      case .string: rule.format.map { "string (\($0.rawValue))" } ?? "string"
      case .integer: "integer"
      case .number: "number"
      case .boolean: "boolean"
      case .array(of: let items): "array of \(name(items))"
      }
    }
    return name(rule)
  }
}
