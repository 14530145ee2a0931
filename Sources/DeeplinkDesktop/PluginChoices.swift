import DeeplinkRouting

/// What a person chose about plugins, which lasts: the order in which they came, owners of schemes,
/// and those that are switched off.
public struct PluginChoices: Hashable, Sendable {
  /// The plugins in the order in which they were added; the first that claims a scheme owns it.
  public var order: [PluginID] = []
  /// Owners that the person chose.
  public var owners: [Scheme: PluginID] = [:]
  public var disabled: Set<PluginID> = []

  public init() {}

  /// The folder is watched by the daemon; nothing else is in it.
  public static func folder(_ directories: BaseDirectories) -> String {
    "\(directories.state)/choices"
  }

  static func file(_ directories: BaseDirectories) -> PersonFile {
    PersonFile("\(folder(directories))/plugins.json", isPrivate: true)
  }

  /// Why the file cannot be read; nil where nothing is wrong, also where there is none.
  public static func damage(_ directories: BaseDirectories) -> Registration.Damaged? {
    let file = file(directories)
    do throws(PersonFile.Failure) {
      guard let bytes = try file.read() else { return nil }
      do throws(JSONError) { _ = try JSONValue(json5: bytes) } catch {
        return Registration.Damaged(
          path: file.path, reason: "line \(error.line): \(error.reason)")
      }
      return nil
    } catch {
      return Registration.Damaged(path: file.path, reason: error.reason)
    }
  }

  /// Those of the file; none where it is not there or damaged, since links go on without them.
  public init(_ directories: BaseDirectories) {
    guard let bytes = try? Self.file(directories).read(), let json = try? JSONValue(json5: bytes)
    else { return }
    func ids(_ key: String) -> [PluginID] {
      (json[key]?.array ?? []).compactMap { $0.string.flatMap { try? PluginID($0) } }
    }
    order = ids("order")
    disabled = Set(ids("disabled"))
    for (scheme, owner) in json["owners"]?.object ?? [:] {
      if let scheme = Scheme(scheme), let id = owner.string.flatMap({ try? PluginID($0) }) {
        owners[scheme] = id
      }
    }
  }

  public func write(_ directories: BaseDirectories) throws(PersonFile.Failure) {
    let json: JSONValue = [
      "order": .array(order.map { .string($0.text) }),
      "disabled": .array(disabled.sorted().map { .string($0.text) }),
      "owners": .object(
        Dictionary(uniqueKeysWithValues: owners.map { ($0.text, .string($1.text)) })),
    ]
    let bytes = self == PluginChoices() ? nil : Array("\(json)\n".utf8)
    try Self.file(directories).write(bytes)
  }

  /// Notes plugins that came, behind those that were there.
  public mutating func note(_ ids: [PluginID]) {
    for id in ids where !order.contains(id) { order.append(id) }
  }

  /// Forgets a plugin that is gone.
  public mutating func forget(_ id: PluginID) {
    order.removeAll { $0 == id }
    disabled.remove(id)
    owners = owners.filter { $0.value != id }
  }

  /// The enabled plugins, the one that came first before the others, as a table takes them.
  public func sorted(_ plugins: [Plugin]) -> [Plugin] {
    let rank = Dictionary(
      order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    return plugins.enumerated().filter { !disabled.contains($0.element.id) }
      .sorted { first, second in
        let ranks = (
          rank[first.element.id] ?? order.count + first.offset,
          rank[second.element.id] ?? order.count + second.offset
        )
        return ranks.0 < ranks.1
      }.map(\.element)
  }

  /// The routes that count, with their owners.
  public func table(of plugins: [Plugin]) -> RouteTable {
    RouteTable(plugins: sorted(plugins), owners: owners)
  }
}
