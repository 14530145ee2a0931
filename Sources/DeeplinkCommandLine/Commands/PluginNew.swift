import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting

extension Option {
  fileprivate static let from = Option(
    "from", value: "ENTRY", completion: .files,
    "for an installed application, by its desktop entry")
}

extension Command {
  static let pluginNew = Command(
    name: "new",
    summary: "write a plugin to begin with",
    details: [
      "A folder named like the plugin is made here, with a manifest that works and says what can be "
        + "changed in it. With --from it is one for an application that takes links on its command "
        + "line or over D-Bus; ENTRY is a file, or the name of one such as org.example.App.desktop."
    ],
    arguments: [
      Argument(
        name: "PLUGIN", help: "the plugin's id, a domain of yours in reverse", isRequired: false)
    ],
    options: [.json, .from],
    examples: [
      Example(command: "deeplink plugin new com.example.notes", meaning: "an example to change"),
      Example(
        command: "deeplink plugin new --from org.example.App.desktop",
        meaning: "one for this application"),
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "written"),
      ExitStatus(status: 1, meaning: "the folder is there already, or there is no such entry"),
    ],
    run: { invocation throws(CommandError) in
      let word = invocation.arguments.first?.text
      let id: PluginID
      let manifest: String
      if let name = invocation.value(.from)?.text {
        let (entryID, entry) = try entry(name, invocation.context.directories)
        id = try pluginID(word ?? entryID)
        manifest = application(id, entryID, entry)
      } else {
        guard let word else { throw .missingArgument("PLUGIN", of: "deeplink plugin new") }
        id = try pluginID(word)
        manifest = example(id)
      }
      let file = PersonFile("\(id)/\(PluginFolder.manifestName)")
      try CommandError.files { () throws(PersonFile.Failure) in
        if try file.read() != nil { throw PersonFile.Failure(file.path, "is there already") }
        try file.write(Array(manifest.utf8))
      }
      let answer: JSONValue = ["plugin": .string(id.text), "manifest": .string(file.path)]
      invocation.output.line(invocation.wantsJSON ? answer.description : file.path)
      invocation.output.flush()
      invocation.context.errors.noteWarnings(try Plugin.read(manifestAt: file.path).diagnostics)
      return ExitCode.accepted
    })

  private static func pluginID(_ text: String) throws(CommandError) -> PluginID {
    do throws(PluginID.Invalid) { return try PluginID(text) } catch {
      throw .contradiction(error.reason)
    }
  }

  /// An entry by its file or its name, and its id without the suffix.
  private static func entry(
    _ name: String, _ directories: BaseDirectories
  ) throws(CommandError) -> (id: String, entry: DesktopEntry) {
    let file = String(name.split(separator: "/").last ?? "")
    let id = file.hasSuffix(".desktop") ? String(file.dropLast(".desktop".count)) : file
    let path =
      name.contains("/")
      ? name : ApplicationFolder.path(of: id, inDataDirectories: directories.allData) ?? name
    let bytes = try InputFile(path: path).contents(limit: PluginFolder.maximumBytes)
    guard let entry = DesktopEntry(String(decoding: bytes, as: UTF8.self)) else {
      throw .unreadable(path: path, reason: "it is no desktop entry")
    }
    return (id, entry)
  }

  private static func application(_ id: PluginID, _ entryID: String, _ entry: DesktopEntry)
    -> String
  {
    let claimed = entry.mimeTypes.compactMap { type in
      type.hasPrefix("x-scheme-handler/")
        ? Scheme(String(type.dropFirst("x-scheme-handler/".count))) : nil
    }.filter { !$0.isSpecial && !URLTemplate.forbiddenSchemes.contains($0) }
    let own = Scheme(id.text.filter { $0 != "_" })
    let schemes = (claimed.isEmpty ? [own].compactMap(\.self) : claimed).map { $0.text.quoted }
    let icon = entry.icon.map { "\n  \"icon\": \($0.quoted)," } ?? ""
    return """
      {
        "id": \(id.text.quoted),
        "name": \((entry.name.isEmpty ? id.text : entry.name).quoted),\(icon)
        // What a link begins with.
        "schemes": [\(schemes.joined(separator: ", "))],
        "routes": [
          // Every link goes to the application as it is. Routes for some links only, with checked
          // parameters, can come before: deeplink-plugin(5).
          {
            "name": "open",
            "match": ["*", "/*", "//*", "//*/*"],
            "additionalParameters": "pass",
            "action": { "application": { "desktopEntry": \(entryID.quoted) } }
          }
        ]
      }

      """
  }

  private static func example(_ id: PluginID) -> String {
    let scheme = id.text.lowercased().filter { $0 != "_" }
    return """
      // deeplink-plugin(5) describes all that can stand here.
      // deeplink plugin check \(id)    finds what is wrong
      // deeplink plugin add \(id)      installs it
      {
        "id": \(id.text.quoted),
        "name": "Example",
        "schemes": [\(scheme.quoted)],
        "routes": [
          // \(scheme):hello/World shows a notification.
          {
            "name": "hello",
            "title": "Greet {name}",
            "match": "hello/:name",
            "parameters": {
              "name": { "type": "string", "maxLength": 100 }
            },
            "action": { "notify": { "title": "Hello, {name}" } }
          },
          // \(scheme):echo?text=hello starts a program for each link. The text is one argument
          // whatever is in it, and comes after `--`, so that it is never an option.
          {
            "name": "echo",
            "match": "echo",
            "parameters": {
              "text": { "type": "string", "maxLength": 1000, "required": true }
            },
            "action": { "command": { "run": ["printf", "--", "%s\\\\n", "{text}"] } }
          }
        ]
      }

      """
  }
}

extension String {
  fileprivate var quoted: String { JSONValue.string(self).description }
}
