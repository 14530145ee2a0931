/// The plugins of all data directories, read again whenever they may have changed.
///
/// A plugin is looked for in each directory in order, and the first folder with its id wins, also
/// where its manifest is wrong: what a person put in front is not silently passed over. A manifest
/// that became wrong leaves the plugin as it was when it was last right.
public struct PluginCatalog: Sendable {
  /// In the order in which they were first seen; of one reading by directory and id.
  public private(set) var plugins: [Plugin] = []
  /// Of the last reading, for `check`, `status` and the log.
  public private(set) var diagnostics: [Diagnostic] = []

  private let dataDirectories: [String]
  private let user: UInt32
  private var lastGood: [Plugin] = []

  /// - Parameters:
  ///   - dataDirectories: `$XDG_DATA_HOME`, then each of `$XDG_DATA_DIRS`.
  ///   - user: The person's user id; manifests of others, but for root's, are not loaded.
  public init(dataDirectories: [String], user: UInt32) {
    self.dataDirectories = dataDirectories
    self.user = user
  }

  /// Reads everything anew.
  public mutating func reload(disabled: Set<PluginID> = []) {
    var found: [Plugin] = []
    var seen: Set<PluginID> = []
    diagnostics = []
    for folder in dataDirectories.flatMap(PluginFolder.all) {
      guard let id = folder.id, seen.insert(id).inserted else { continue }
      let (plugin, diagnostics) = folder.read(user: user, expecting: id)
      self.diagnostics += diagnostics
      if let plugin {
        found.append(plugin)
      } else if let former = lastGood.first(where: { $0.id == id }) {
        found.append(former)
        self.diagnostics.append(
          Diagnostic(
            .warning, file: folder.manifestPath,
            reason: "the manifest as it was before the error serves on"))
      }
    }
    diagnostics += dataDirectories.flatMap(PluginFolder.strays).map { folder in
      let id = folder.read(user: user).plugin?.id
      return Diagnostic(
        .error, file: folder.manifestPath,
        reason: "its folder is not named like a plugin, ignoring it",
        hint: id.map { "mv '\(folder.path)' '\(folder.sibling(named: $0.text))'" })
    }
    let former = lastGood.map(\.id)
    let rank = Dictionary(uniqueKeysWithValues: former.enumerated().map { ($1, $0) })
    lastGood = found.enumerated().sorted { first, second in
      let ranks = (
        rank[first.element.id] ?? former.count + first.offset,
        rank[second.element.id] ?? former.count + second.offset
      )
      return ranks.0 < ranks.1
    }.map(\.element)
    plugins = lastGood.filter { !disabled.contains($0.id) }
  }
}

extension PluginFolder {
  /// The id that the folder's name says.
  fileprivate var id: PluginID? {
    path.split(separator: "/").last.flatMap { try? PluginID(String($0)) }
  }
}
