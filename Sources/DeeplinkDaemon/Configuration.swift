import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import Glibc

/// Plugins and settings as the files have them now, read anew when one changes.
@LoopActor final class Configuration {
  private(set) var settings = Settings()
  private(set) var table: RouteTable
  private(set) var diagnostics: [Diagnostic] = []
  /// Told after each reading.
  var onChange: (@LoopActor () -> Void)?

  private let directories: BaseDirectories
  private var catalog: PluginCatalog
  private var watch: FolderWatch?

  init(directories: BaseDirectories) {
    self.directories = directories
    catalog = PluginCatalog(dataDirectories: directories.allData, user: getuid())
    table = RouteTable(plugins: [])
    reload()
    watch = FolderWatch { [weak self] in self?.reload() }
    if watch == nil {
      Log.warning(
        "changes of plugins will not be noticed (no inotify); `deeplink reload` reads them")
    }
    follow()
  }

  /// What is wrong is reported once, and the last good one serves on.
  func reload() {
    let former = Set(diagnostics)
    catalog.reload()
    table = PluginChoices(directories).table(of: catalog.plugins)
    let (settings, faults) = Settings.read(Settings.path(directories))
    self.settings = settings ?? self.settings
    diagnostics = catalog.diagnostics + table.diagnostics + faults
    for diagnostic in diagnostics where !former.contains(diagnostic) {
      diagnostic.severity == .error
        ? Log.error("\(diagnostic), ignoring") : Log.warning("\(diagnostic)")
    }
    follow()
    onChange?()
  }

  private func follow() {
    let settings = Settings.path(directories)
    let plugins = directories.allData.flatMap(PluginFolder.all)
    let folders =
      directories.allData.map { "\($0)/deeplinkd/plugins" } + plugins.map(\.path)
      + [Self.folder(of: settings), PluginChoices.folder(directories)]
    // Files may be links to where a person keeps them: those folders tell of their changes.
    let targets = (plugins.map(\.manifestPath) + [settings]).compactMap {
      (try? PersonFile($0).target()).map(Self.folder)
    }
    watch?.follow(Set(folders + targets))
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/"
  }
}
