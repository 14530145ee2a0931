import DeeplinkActions
import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting
import Glibc

/// Which workers `deeplink plugin check` starts.
private enum Starting: String, CaseIterable {
  case no, closed, all
}

extension Option {
  fileprivate static let start = Option(
    "start", value: "WHICH", completion: .words(Starting.allCases.map(\.rawValue)),
    "which workers to start: 'no', 'closed' or 'all'")
}

extension Command {
  static let pluginCheck = Command(
    name: "check",
    summary: "find what is wrong with plugins",
    details: [
      "Every error and warning of a manifest is shown with its place, not only the first. Then each "
        + "worker is started once in its sandbox, with an empty home, and ended; it gets no link. "
        + "One that does not answer is told with its last words, and with what to open where it "
        + "looked for something that its sandbox does not have. Of a command the program is looked "
        + "for.",
      "Of a plugin that was not added, only workers are started whose sandbox opens nothing: 'closed'. "
        + "With 'all' the others are started too, with 'no' none, and then programs need not be "
        + "there.",
      "PLUGIN is the id of an installed plugin, a folder with a manifest, or a manifest's file. "
        + "Without one all installed plugins are checked.",
    ],
    arguments: [
      Argument(
        name: "PLUGIN", help: "an id, a folder or a file", completion: .pluginIDsAndFiles,
        isRequired: false,
        isRepeated: true)
    ],
    options: [.json, .start],
    examples: [
      Example(command: "deeplink plugin check .", meaning: "the plugin in this folder"),
      Example(
        command: "deeplink plugin check --start no ./plugin.json", meaning: "a manifest alone"),
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "no errors; there may be warnings"),
      ExitStatus(
        status: 1,
        meaning: "a manifest has an error or cannot be read, or a program is not there or does not "
          + "start"),
    ],
    run: runCheck)
}

private func runCheck(_ invocation: Invocation) throws(CommandError) -> Int32 {
  var checker = try Checker(invocation)
  for word in invocation.arguments { try checker.check(word.text) }
  if invocation.arguments.isEmpty { checker.checkInstalled() }
  return checker.finish()
}

/// Checks one plugin after the other, and shows what it finds at once.
private struct Checker {
  private let context: Context
  private let output: Output
  private let wantsJSON: Bool
  private let starting: Starting?
  private let catalog: PluginCatalog
  private let disabled: Set<PluginID>
  private var errorCount = 0
  private var warningCount = 0
  private var startedCount = 0

  init(_ invocation: Invocation) throws(CommandError) {
    context = invocation.context
    output = invocation.output
    wantsJSON = invocation.wantsJSON
    catalog = context.plugins()
    disabled = PluginChoices(context.directories).disabled
    guard let word = invocation.value(.start)?.text else {
      starting = nil
      return
    }
    guard let starting = Starting(rawValue: word) else {
      throw .unknownValue(.start, word, known: Starting.allCases.map(\.rawValue))
    }
    self.starting = starting
  }

  mutating func checkInstalled() {
    for diagnostic in catalog.diagnostics { show(diagnostic) }
    for plugin in catalog.plugins {
      tryPrograms(of: plugin, manifest: plugin.manifestPath, isInstalled: true)
    }
  }

  /// Checks what `word` names: an installed plugin, a folder or a file.
  mutating func check(_ word: String) throws(CommandError) {
    let installed = catalog.plugins.first { $0.id.text == word }
    let broken = catalog.broken.first { $0.id == word }
    if let manifest = installed?.manifestPath ?? broken?.manifest {
      for diagnostic in catalog.diagnostics where diagnostic.file == manifest { show(diagnostic) }
      if let installed { tryPrograms(of: installed, manifest: manifest, isInstalled: true) }
      return
    }
    let isID = (try? PluginID(word)) != nil
    let folder = word.count > 1 && word.hasSuffix("/") ? String(word.dropLast()) : word
    let manifest = word.hasSuffix(".json") ? word : "\(folder)/\(PluginFolder.manifestName)"
    let found: (plugin: Plugin?, diagnostics: [Diagnostic])
    do throws(CommandError) {
      found = try Plugin.read(manifestAt: manifest)
    } catch .unreadable where isID {
      throw .unknownPlugin(word, known: catalog.ids)
    }
    for diagnostic in found.diagnostics { show(diagnostic) }
    if let plugin = found.plugin {
      tryPrograms(of: plugin, manifest: manifest, isInstalled: false)
    }
  }

  /// Starts a plugin's workers, as far as that was asked for.
  private mutating func tryPrograms(of plugin: Plugin, manifest: String, isInstalled: Bool) {
    guard starting != .no, !isInstalled || !disabled.contains(plugin.id), plugin.hasPrograms,
      let folder = plugin.folder.flatMap(realPath), let home = temporaryFolder()
    else { return }
    defer { try? FolderCopy.remove(home) }
    let place = PluginPlace(
      id: plugin.id, folder: folder, home: home, ownFolders: context.directories.ownFolders)
    let settings = Settings.read(Settings.path(context.directories)).settings ?? Settings()
    let mayStartAll = starting == .all || starting == nil && isInstalled
    // A worker that closes its input must not end us.
    let former = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, former) }
    let findings = LoopWork.perform("starting the worker of \(plugin.id)") {
      [environment = context.environment] in
      await Trial.findings(
        of: plugin, at: place, environment, launchTimeout: settings.launchTimeout
      ) { mayStartAll || $0.isClosed }
    }
    startedCount += findings.startedCount
    for fault in findings.faults {
      show(
        Diagnostic(
          .error, file: manifest, path: fault.path,
          reason: fault.reason.replacing(home, with: "~"), hint: fault.hint))
    }
    for path in findings.notStarted {
      show(
        Diagnostic(
          .warning, file: manifest, path: path,
          reason: "it was not started: the plugin was not added, and its sandbox opens something",
          hint: "`deeplink plugin check --start all` starts it"))
    }
  }

  private mutating func show(_ diagnostic: Diagnostic) {
    if diagnostic.severity == .error { errorCount += 1 } else { warningCount += 1 }
    output.line(wantsJSON ? diagnostic.json.description : text(of: diagnostic))
  }

  private func text(of diagnostic: Diagnostic) -> String {
    let style: Style = diagnostic.severity == .error ? .bad : .warning
    let severity = output.styled(diagnostic.severity.rawValue, style)
    let text =
      "\(diagnostic.file.visible): \(diagnostic.path.visible): \(severity): "
      + diagnostic.reason.visible
    return diagnostic.hint.map { "\(text)\nhint: \($0.visible)" } ?? text
  }

  /// The exit status, and a last line for people.
  func finish() -> Int32 {
    if output.isTerminal, !wantsJSON {
      let workers = startedCount == 0 ? "" : ", workers that started: \(startedCount)"
      output.line(
        errorCount + warningCount == 0
          ? output.styled("nothing is wrong", .good) + workers
          : "errors: \(errorCount), warnings: \(warningCount)\(workers)")
    }
    return errorCount == 0 ? ExitCode.accepted : ExitCode.refused
  }
}

extension Sandbox {
  /// Whether a program in it reaches nothing of the person's.
  fileprivate var isClosed: Bool {
    guard case .confined(let openings) = self else { return false }
    return openings == Openings()
  }
}

extension Plugin {
  fileprivate var manifestPath: String { PluginFolder(path: folder ?? "").manifestPath }

  /// Whether it has programs that can be tried without a link.
  fileprivate var hasPrograms: Bool { routes.contains { $0.action.sandbox != nil } }
}

/// A new folder that is the person's alone; nil where none can be made.
private func temporaryFolder() -> String? {
  var template = Array("/tmp/deeplink-check.XXXXXX".utf8CString)
  return unsafe mkdtemp(&template).flatMap { unsafe String(validatingCString: $0) }
}
