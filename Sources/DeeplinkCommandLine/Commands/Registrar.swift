import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkWire
import Glibc

/// Brings the desktop's files into agreement with the plugins that are there.
///
/// As long as it lives no other one changes them: scripts add plugins side by side.
struct Registrar {
  let context: Context
  var choices: PluginChoices
  private let lock: FolderLock

  init(_ context: Context) throws(CommandError) {
    self.context = context
    PrivateFolder.make(context.directories.state)
    guard let lock = FolderLock(context.directories.state, seconds: Self.patience) else {
      throw .registrationIsBusy
    }
    self.lock = lock
    // Only now: whoever held the lock may have changed them.
    choices = PluginChoices(context.directories)
  }

  /// How long another one may take, in seconds.
  private static let patience = 30

  /// `deeplink-open` beside this program.
  static func opener() throws(CommandError) -> String {
    let path = FileFacts.link("/proc/self/exe") ?? ""
    let opener = path.lastIndex(of: "/").map { "\(path[..<$0])/deeplink-open" } ?? path
    guard unsafe access(opener, X_OK) == 0 else { throw .noOpener(opener) }
    guard HandlerEntry.isPlain(opener) else { throw .unusableOpener(opener) }
    return opener
  }

  /// What would change now.
  ///
  /// - Parameter taking: Schemes that the person takes from other applications.
  func plan(taking: Set<Scheme> = []) throws(CommandError) -> RegistrationPlan {
    let opener = try Self.opener()
    let catalog = context.plugins()
    let plugins = catalog.plugins
    let record = try CommandError.files { () throws(Registration.Damaged) in
      try Registration.read(context.directories)
    }
    return try CommandError.files { () throws(PersonFile.Failure) in
      try RegistrationPlan(
        table: choices.table(of: plugins),
        disabled: plugins.filter { choices.disabled.contains($0.id) },
        opener: opener, record: record, directories: context.directories,
        desktops: Handlers.desktops(context.environment), taking: taking,
        keeping: Set(catalog.broken.map(\.id)))
    }
  }

  /// Keeps the choices and changes the files; says what stays with other applications.
  ///
  /// - Parameter folders: Folders that the command made before: they go with the last plugin.
  @discardableResult func register(
    taking: Set<Scheme> = [], folders: [String] = []
  ) throws(CommandError) -> [RegistrationPlan.Held] {
    var plan = try plan(taking: taking)
    plan.note(folders)
    let former = PluginChoices(context.directories)
    try CommandError.files { () throws(PersonFile.Failure) in
      try choices.write(context.directories)
      do throws(PersonFile.Failure) { try plan.apply { folder in updateCache(folder) } } catch {
        try? former.write(context.directories)
        throw error
      }
    }
    tellDaemon()
    return plan.held
  }

  /// Has a daemon that runs look at once.
  ///
  /// It notices by itself, a moment later; the next line of a script may open a link before that.
  private func tellDaemon() {
    // Without either libdbus would start a bus of its own.
    let hasBus =
      context.environment["DBUS_SESSION_BUS_ADDRESS"] != nil
      || context.directories.runtime.map { unsafe access("\($0)/bus", F_OK) == 0 } ?? false
    guard hasBus else { return }
    _ = try? Session.perform("waiting for the daemon") { connection throws(BusError) in
      try await DispatcherClient(connection).reload(timeout: .seconds(5))
    }
  }

  func updateCache(_ folder: String) {
    let tool = Tool.run(["update-desktop-database", folder], environment: context.environment)
    guard tool?.status != 0 else { return }
    context.errors.line(
      "deeplink: "
        + (tool.map { "update-desktop-database failed: \($0.text.visible)" }
          ?? "update-desktop-database is not there: some openers find no handler without it"))
    if tool == nil { context.errors.line("hint: the package desktop-file-utils has it") }
  }

  /// Says which schemes of a plugin stay with whom, and how they are taken.
  func note(_ held: [RegistrationPlan.Held], of plugin: PluginID) {
    for held in held where held.plugin == plugin {
      context.errors.line(
        "deeplink: '\(held.scheme)' stays with \(held.name.visible) (\(held.entry.visible))")
      context.errors.line("hint: `deeplink plugin enable --make-default \(plugin)` takes it over")
    }
    let table = choices.table(of: context.plugins().plugins)
    for scheme in table.plugin(plugin)?.schemes ?? [] {
      let members = table.members(of: scheme).map(\.id)
      guard let owner = members.first, !members.contains(plugin) else { continue }
      context.errors.line(
        "deeplink: '\(scheme)' belongs to the plugin '\(owner)', so no link of it comes to '\(plugin)'"
      )
      context.errors.line(
        "hint: `deeplink schemes --owner \(plugin) \(scheme)` gives it to this one")
    }
  }
}

extension CommandError {
  /// Work on the person's files, its failures as this program tells them.
  static func files<Answer>(
    _ body: () throws(PersonFile.Failure) -> Answer
  ) throws(CommandError) -> Answer {
    do throws(PersonFile.Failure) { return try body() } catch { throw .notChanged(error) }
  }

  static func files<Answer>(
    _ body: () throws(Registration.Damaged) -> Answer
  ) throws(CommandError) -> Answer {
    do throws(Registration.Damaged) { return try body() } catch { throw .damagedRecord(error) }
  }
}
