import DeeplinkDesktop
import DeeplinkRouting
import Glibc

extension Context {
  /// The installed plugins, read now.
  func plugins() -> PluginCatalog {
    var catalog = PluginCatalog(dataDirectories: directories.allData, user: getuid())
    catalog.reload()
    return catalog
  }
}

extension Context {
  /// The routes that count now: those of enabled plugins, with the owners of their schemes.
  func table(of catalog: PluginCatalog) -> RouteTable {
    PluginChoices(directories).table(of: catalog.plugins)
  }
}

extension PluginCatalog {
  /// Plugins with an error, by the id that their folder is named after; they are not in use.
  var broken: [(id: String, manifest: String, errors: [Diagnostic])] {
    var files: [String] = []
    for diagnostic in diagnostics where diagnostic.severity == .error {
      if !files.contains(diagnostic.file) { files.append(diagnostic.file) }
    }
    return files.map { file in
      (
        String(file.split(separator: "/").dropLast().last ?? ""), file,
        diagnostics.filter { $0.file == file && $0.severity == .error }
      )
    }
  }

  /// Says on standard error that not all plugins are in use, which may be why a link is refused.
  func noteErrors(_ errors: Output) {
    let names = broken.map { "'\($0.id.visible)'" }
    guard !names.isEmpty else { return }
    errors.line(
      "deeplink: not in use, for errors in the manifest: \(names.joined(separator: ", "))")
    errors.line("hint: `deeplink plugin check` shows them")
  }

  /// The ids of all plugins that are there, also of broken ones.
  var ids: [String] { plugins.map(\.id.text) + broken.map(\.id) }
}

extension Plugin {
  /// Reads the manifest in a file, wherever it lies and whomever it belongs to.
  static func manifest(at path: String) throws(CommandError) -> Plugin {
    let (plugin, diagnostics) = try read(manifestAt: path)
    guard let plugin else { throw .invalidManifest(diagnostics.filter { $0.severity == .error }) }
    return plugin
  }

  static func read(
    manifestAt path: String
  ) throws(CommandError) -> (plugin: Plugin?, diagnostics: [Diagnostic]) {
    let bytes = try InputFile(path: path).contents(limit: PluginFolder.maximumBytes)
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    return read(
      bytes, file: path,
      folder: path.hasPrefix("/") ? "/\(folder)" : folder.isEmpty ? "." : folder)
  }
}

extension Output {
  /// Says what an author should know, before links are found not to work.
  func noteWarnings(_ diagnostics: [Diagnostic]) {
    for warning in diagnostics where warning.severity == .warning { line("deeplink: \(warning)") }
    flush()
  }
}
