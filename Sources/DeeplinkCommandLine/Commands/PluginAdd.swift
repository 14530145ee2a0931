import CDeeplinkLinux
import DeeplinkActions
import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting
import Glibc

extension Option {
  static let yes = Option("yes", "agree to what is shown, without being asked")
  static let allow = Option(
    "allow", "allow its routes that would be asked about, for every source")
  static let makeDefault = Option(
    "make-default", "take the schemes over from other applications, until the plugin is removed")
  fileprivate static let destination = Option(
    "destdir", value: "FOLDER", completion: .files,
    "put the files below this folder, for a package; nothing of the person's is touched")
  fileprivate static let prefix = Option(
    "prefix", value: "FOLDER", "with --destdir: where deeplinkd is installed, /usr unless given")
}

extension Command {
  static let pluginAdd = Command(
    name: "add",
    summary: "install a plugin and register its schemes",
    details: [
      "What the plugin claims, what its links may do, and what its programs can reach is shown "
        + "first, and asked about once. Then its folder is copied, and a desktop entry and the "
        + "defaults of its schemes are written, so that browsers and xdg-open find it. A plugin that "
        + "is there already is replaced.",
      "A scheme that another application opens stays with it, unless --make-default takes it "
        + "over. `deeplink plugin remove` leaves every file as it was before.",
    ],
    arguments: [
      Argument(name: "FOLDER", help: "a folder with a manifest", completion: .files)
    ],
    options: [.json, .yes, .allow, .makeDefault, .destination, .prefix],
    examples: [
      Example(command: "deeplink plugin add ./com.example.demo", meaning: "install this plugin"),
      Example(
        command: "deeplink plugin add --yes --destdir debian/tmp ./com.example.demo",
        meaning: "stage it for a package"),
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "added"),
      ExitStatus(status: 1, meaning: "the manifest has an error, or nobody agreed"),
    ],
    run: runAdd)
}

private func runAdd(_ invocation: Invocation) throws(CommandError) -> Int32 {
  let context = invocation.context
  let folder = try absolute(invocation.arguments[0].text)
  let (found, diagnostics) = try Plugin.read(
    manifestAt: "\(folder)/\(PluginFolder.manifestName)")
  guard let plugin = found else {
    throw .invalidManifest(diagnostics.filter { $0.severity == .error })
  }
  if !invocation.wantsJSON {
    Command.show(plugin, invocation.output)
    invocation.output.flush()
  }
  context.errors.noteWarnings(diagnostics)
  let missing =
    plugin.runsConfined && !invocation.has(.destination) ? sandboxError(context.environment) : nil
  if let missing {
    context.errors.line(
      "deeplink: the programs of '\(plugin.id)' will not start: \(missing.reason.visible)")
    if let hint = missing.hint { context.errors.line("hint: \(hint.visible)") }
    context.errors.flush()
  }
  if !invocation.has(.yes) { try askToAdd(plugin.id, context) }
  if let destination = invocation.value(.destination) {
    try stage(plugin, folder, below: destination.text, invocation.value(.prefix)?.text ?? "/usr")
    return ExitCode.accepted
  }
  var registrar = try Registrar(context)
  let formerChoices = registrar.choices
  let before = context.plugins().plugins.map(\.id)
  registrar.choices.note(before)
  registrar.choices.note([plugin.id])
  registrar.choices.disabled.remove(plugin.id)
  // First what can fail without a trace.
  _ = try registrar.plan()
  let target = "\(context.directories.dataHome)/deeplinkd/plugins/\(plugin.id)"
  let isNew = unsafe access(target, F_OK) != 0
  let folders = RegistrationPlan.missingFolders(context.directories.dataHome + "/deeplinkd")
  try CommandError.files { () throws(PersonFile.Failure) in
    try registrar.choices.write(context.directories)
    try replace(target, by: folder)
  }
  let held: [RegistrationPlan.Held]
  do throws(CommandError) {
    held = try registrar.register(
      taking: invocation.has(.makeDefault) ? Set(plugin.schemes) : [], folders: folders)
  } catch {
    // Not half an addition: a plugin that is there, and that no link reaches.
    if isNew {
      try? FolderCopy.remove(target)
      try? formerChoices.write(context.directories)
      let own = "\(context.directories.dataHome)/deeplinkd"
      for folder in ["\(own)/plugins", own] + folders { _ = unsafe rmdir(folder) }
    }
    throw error
  }
  registrar.note(held, of: plugin.id)
  if invocation.has(.allow) { try allow(plugin, context) }
  if invocation.wantsJSON {
    let answer: JSONValue = [
      "plugin": .string(plugin.id.text), "folder": .string(target),
      "sandbox": JSONValue(missing?.description),
      "held": .array(
        held.filter { $0.plugin == plugin.id }.map {
          ["scheme": .string($0.scheme.text), "application": .string($0.entry)]
        }),
    ]
    invocation.output.line(answer.description)
  } else if invocation.output.isTerminal {
    invocation.output.line(
      "\n\(plugin.id) is added: `deeplink page \(plugin.id)` has a link for each route to try")
  }
  return ExitCode.accepted
}

/// Why no sandbox can be made here; nil where one can.
func sandboxError(_ environment: [String: String]) -> SandboxError? {
  LoopWork.perform("trying a sandbox") { await Sandbox.availability(environment) }
}

/// Keeps the person's yes to every route that is asked about once, as the manifest is now.
private func allow(_ plugin: Plugin, _ context: Context) throws(CommandError) {
  do throws(Grants.FileError) {
    let path = Grants.path(context.directories)
    var grants = try Grants.read(path)
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    grants.allowAll(plugin, time: Double(now.tv_sec))
    try grants.write(path)
  } catch {
    throw .grants(error.description)
  }
}

/// Puts a copy in place by a rename, so that the daemon never reads half a plugin.
private func replace(_ target: String, by folder: String) throws(PersonFile.Failure) {
  guard folder != target else { return }
  let parent = target.lastIndex(of: "/").map { String(target[..<$0]) } ?? "."
  try PersonFile.makeFolder(parent)
  // Names that begin with a dot are no plugins.
  let (new, old) = ("\(parent)/.new-\(getpid())", "\(parent)/.old-\(getpid())")
  do throws(PersonFile.Failure) {
    try FolderCopy.copy(folder, to: new)
    if unsafe rename(target, old) != 0, errno != ENOENT { throw PersonFile.Failure(target) }
    guard unsafe rename(new, target) == 0 else {
      unsafe _ = rename(old, target)
      throw PersonFile.Failure(target)
    }
  } catch {
    try? FolderCopy.remove(new)
    throw error
  }
  try FolderCopy.remove(old)
}

/// What a package of the plugin holds: its folder and its entry.
private func stage(
  _ plugin: Plugin, _ folder: String, below destination: String, _ prefix: String
) throws(CommandError) {
  let opener = "\(prefix)/bin/deeplink-open"
  guard HandlerEntry.isPlain(opener) else { throw .unusableOpener(opener) }
  let share = "\(destination)\(prefix)/share"
  let entry = HandlerEntry(plugin, schemes: plugin.schemes, opener: opener)
  try CommandError.files { () throws(PersonFile.Failure) in
    try replace("\(share)/deeplinkd/plugins/\(plugin.id)", by: folder)
    try PersonFile("\(share)/applications/\(entry.id)").write(Array(entry.text.utf8))
  }
}

private func askToAdd(_ id: PluginID, _ context: Context) throws(CommandError) {
  guard isatty(STDIN_FILENO) == 1 else { throw .agreementNeeded(id) }
  context.errors.write("\nadd \(id)? [y/N] ")
  context.errors.flush()
  var lines = LineReader(try InputFile.standardInput())
  let answer = try lines.next {}.map { String(decoding: $0, as: UTF8.self).lowercased() }
  guard answer == "y" || answer == "yes" else { throw .notAgreed(id) }
}

/// The folder's own path, as it stands in records.
private func absolute(_ path: String) throws(CommandError) -> String {
  guard let real = FileFacts.real(path) else {
    throw .unreadable(
      path: "\(path)/\(PluginFolder.manifestName)", reason: unsafe String(cString: strerror(errno)))
  }
  return real
}
