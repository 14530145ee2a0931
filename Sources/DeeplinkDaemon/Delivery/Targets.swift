import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// The targets of all routes, each with its queue: made with their first link, and kept.
@LoopActor final class Targets {
  private let connection: Connection
  private let launcher: ProgramLauncher
  private let scenes: SceneRegistry
  private let configuration: Configuration
  private let directories: BaseDirectories
  private let entries: DesktopEntries
  private unowned let owner: any TargetRunnerOwner
  private var runners: [Key: TargetRunner] = [:]

  /// What makes two actions hand links to the same target: with it changes how the target is started,
  /// so that a changed manifest has a target of its own.
  private enum Key: Hashable {
    case worker(PluginID, folder: String?, Action.Worker)
    case busName(WellKnownName, BusDoor, launch: [String], TargetLimits)
  }

  init(
    connection: Connection, launcher: ProgramLauncher, scenes: SceneRegistry,
    configuration: Configuration, directories: BaseDirectories, entries: DesktopEntries,
    owner: any TargetRunnerOwner
  ) {
    self.connection = connection
    self.launcher = launcher
    self.scenes = scenes
    self.configuration = configuration
    self.directories = directories
    self.entries = entries
    self.owner = owner
  }

  /// The queue of the target of `match`; nil for an action that has none, or one that cannot be found.
  func runner(for match: Match) -> TargetRunner? {
    guard let key = key(match.plugin, match.route) else { return nil }
    if let runner = runners[key] { return runner }
    let runner =
      switch key {
      case .worker(let plugin, let folder, let worker):
        runner(
          workerTarget(worker, plugin, folder: folder ?? "/"), worker.limits, isProcess: true)
      case .busName(let name, let door, let launch, let limits):
        runner(
          busTarget(name, door, launch, limits, match.plugin), limits, isProcess: false)
      }
    runners[key] = runner
    return runner
  }

  /// How many links wait for the target of `match`; nil where no target was made for it.
  func waitingCount(for match: Match) -> Int? {
    key(match.plugin, match.route).flatMap { runners[$0]?.waitingCount }
  }

  /// Takes a link back that waits for its target; false when it is in one's hands, or nowhere here.
  func cancel(_ delivery: Delivery) -> Bool {
    // What its route's action means may have changed since it came, as entries of applications do.
    runners.values.contains { $0.cancel(delivery) }
  }

  /// Lets go of targets that have nothing to do and that no manifest names any more.
  func dropIdle() {
    entries.forgetAll()
    let idle = runners.filter { $0.value.isIdle }
    guard !idle.isEmpty else { return }
    let named = Set(
      configuration.table.plugins.flatMap { plugin in
        plugin.routes.compactMap { key(plugin, $0) }
      })
    for (key, runner) in idle where !named.contains(key) {
      runner.discard()
      runners[key] = nil
    }
  }

  /// The daemon ends: every worker is told.
  func stop() { for runner in runners.values { runner.stop() } }

  // MARK: Making them

  private func key(_ plugin: Plugin, _ route: Route) -> Key? {
    switch route.action {
    case .worker(let worker):
      return .worker(plugin.id, folder: plugin.folder, worker)
    case .handler(let handler):
      return (try? WellKnownName(handler.busName)).map {
        .busName($0, .handler, launch: handler.launch, handler.limits)
      }
    case .application(let application):
      guard let (entry, _) = entries.entry(application.desktopEntry), entry.isDBusActivatable,
        let name = try? WellKnownName(application.desktopEntry)
      else { return nil }
      return .busName(name, .application, launch: [], application.limits)
    case .command, .call, .open, .notify: return nil
    }
  }

  private func runner(
    _ target: any Target, _ limits: TargetLimits, isProcess: Bool
  ) -> TargetRunner {
    TargetRunner(
      target, owner: owner, concurrency: limits.concurrency, launchTimeout: launchTimeout(limits),
      stopsWhenLate: isProcess, firstLinkProbes: !isProcess)
  }

  private func launchTimeout(_ limits: TargetLimits) -> Duration {
    limits.launchTimeout ?? configuration.settings.launchTimeout
  }

  private func workerTarget(
    _ worker: Action.Worker, _ plugin: PluginID, folder: String
  ) -> WorkerTarget {
    let target = WorkerTarget(
      worker, at: PluginPlace(id: plugin, folder: folder, in: directories))
    target.onLog = { level, line in Log.info("worker of \(plugin): \(level): \(line)") }
    return target
  }

  private func busTarget(
    _ name: WellKnownName, _ door: BusDoor, _ launch: [String], _ limits: TargetLimits,
    _ plugin: Plugin
  ) -> BusTarget {
    let program =
      launch.isEmpty
      ? nil
      : FixedProgram(
        launch, id: plugin.id.text, folder: plugin.folder ?? "/", launcher: launcher)
    return BusTarget(
      name, door: door, on: connection, program: program, launchTimeout: launchTimeout(limits),
      scenes: door == .handler ? scenes : nil)
  }
}

extension PluginPlace {
  init(id: PluginID, folder: String?, in directories: BaseDirectories) {
    self.init(
      id: id, folder: folder ?? "/", home: directories.home(of: id.text),
      ownFolders: directories.ownFolders)
  }
}
