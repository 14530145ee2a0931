import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting

/// The windows of apps that want links of their own: who has registered which object for what.
@LoopActor public final class SceneRegistry {
  private struct Scene {
    let owner: UniqueName
    let plugin: PluginID
    let path: ObjectPath
    /// Names of routes; none: every route of the plugin.
    let routes: Set<String>
  }

  /// The last one was active last.
  private var scenes: [Scene] = []
  private var following: Set<UniqueName> = []
  private let connection: Connection

  /// Objects that one app may register: each is a window.
  public static let limit = 256

  public init(connection: Connection) { self.connection = connection }

  /// Registers or replaces the object at `path`; false when the app has too many.
  public func register(
    _ path: ObjectPath, routes: [String], of plugin: PluginID, by owner: UniqueName
  ) -> Bool {
    unregister(path, of: owner)
    guard scenes.count(where: { $0.owner == owner }) < Self.limit else { return false }
    scenes.append(Scene(owner: owner, plugin: plugin, path: path, routes: Set(routes)))
    follow(owner)
    return true
  }

  /// The window came to the front; false when it is not registered.
  public func activate(_ path: ObjectPath, of owner: UniqueName) -> Bool {
    guard let index = scenes.firstIndex(where: { $0.owner == owner && $0.path == path }) else {
      return false
    }
    scenes.append(scenes.remove(at: index))
    return true
  }

  @discardableResult public func unregister(_ path: ObjectPath, of owner: UniqueName) -> Bool {
    let count = scenes.count
    scenes.removeAll { $0.owner == owner && $0.path == path }
    return scenes.count < count
  }

  /// The object for a link of `route`: the one that wants it and was active last.
  func path(for route: String, of plugin: PluginID, at owner: UniqueName) -> ObjectPath? {
    scenes.last {
      $0.owner == owner && $0.plugin == plugin
        && ($0.routes.isEmpty || $0.routes.contains(route))
    }?.path
  }

  /// A registration is gone with its connection.
  private func follow(_ owner: UniqueName) {
    guard following.insert(owner).inserted else { return }
    Task {
      await connection.whenGone(owner) { [self] in
        scenes.removeAll { $0.owner == owner }
        following.remove(owner)
      }
    }
  }
}
