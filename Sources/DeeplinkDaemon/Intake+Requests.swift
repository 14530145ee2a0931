import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkStore
import DeeplinkWire

/// What can be asked of the daemon beside opening links.
extension Intake {
  func cancel(_ id: UInt64, from sender: UniqueName?) throws(DispatcherError) {
    guard let delivery = book.delivery(id), delivery.sender == sender else {
      throw .invalidArguments("there is no pending link \(id) of yours")
    }
    guard courier.cancel(delivery) else {
      throw .invalidArguments("link \(id) is handed over already")
    }
  }

  // MARK: Scenes

  func registerScene(
    _ path: ObjectPath, routes: [String], plugin: String, from sender: UniqueName?
  ) async throws(DispatcherError) {
    let plugin = (try? PluginID(plugin)).flatMap { configuration.table.plugin($0) }
    guard let plugin, let sender else { throw .invalidArguments("there is no such plugin") }
    for route in routes where plugin.route(route) == nil {
      throw .invalidArguments("the plugin \(plugin.id) has no route '\(JSONValue.visible(route))'")
    }
    let names = plugin.routes.compactMap { route -> WellKnownName? in
      guard case .handler(let handler) = route.action else { return nil }
      return try? WellKnownName(handler.busName)
    }
    var mayRegister = await callers.owns(sender, anyOf: Array(Set(names)))
    if !mayRegister, !names.isEmpty {
      // It may want its windows known before it takes its name.
      mayRegister = await callers.isOfApp(sender, plugin.id.text, by: courier.launcher)
    }
    guard mayRegister else {
      throw .accessDenied(
        "only the owner of the plugin's bus name, or what was launched for it, can register scenes")
    }
    guard courier.scenes.register(path, routes: routes, of: plugin.id, by: sender) else {
      throw .invalidArguments("one app can register \(SceneRegistry.limit) scenes at most")
    }
  }

  func activateScene(_ path: ObjectPath, from sender: UniqueName?) throws(DispatcherError) {
    guard let sender, courier.scenes.activate(path, of: sender) else { throw .noScene(path) }
  }

  func unregisterScene(_ path: ObjectPath, from sender: UniqueName?) throws(DispatcherError) {
    guard let sender, courier.scenes.unregister(path, of: sender) else { throw .noScene(path) }
  }

  // MARK: Not for sandboxed callers

  func listPlugins(for sender: UniqueName?) async throws(DispatcherError) -> String {
    try await callers.requireUnconfined(sender)
    return JSONValue.array(
      configuration.table.plugins.map { plugin in
        [
          "id": .string(plugin.id.text), "name": .string(plugin.name.standard),
          "schemes": .array(plugin.schemes.map { .string($0.text) }),
          "routes": .array(plugin.routes.map { .string($0.name) }),
          "folder": JSONValue(plugin.folder),
        ]
      }
    ).description
  }

  func history(
    _ filter: [String: Value], for sender: UniqueName?
  ) async throws(DispatcherError) -> String {
    try await callers.requireUnconfined(sender)
    var wanted = History.Filter()
    for (key, value) in filter {
      switch (key, value) {
      case ("plugin", .string(let text)): wanted.plugin = text
      case ("outcome", .string(let text)): wanted.outcome = text
      case ("scheme", .string(let text)): wanted.scheme = text
      case ("since", .double(let seconds)): wanted.since = seconds
      case ("number", .int64(let number)): wanted.number = number
      case ("limit", .uint32(let count)): wanted.limit = Int64(min(count, 10_000))
      default:
        throw .invalidArguments(
          "a filter has plugin, outcome, scheme (s), since (d), number (x), limit (u), and no "
            + "'\(JSONValue.visible(key))' of type \(value.signature)")
      }
    }
    do throws(DatabaseError) { return try await recorder.json(wanted) } catch {
      throw DispatcherError(code: ErrorName.failed.text, message: "the history: \(error)")
    }
  }

  /// Followers are few: each is somebody at a terminal.
  private static let maximumFollowers = 64

  func follow(from sender: UniqueName?) async throws(DispatcherError) {
    try await callers.requireUnconfined(sender)
    guard let sender, book.followers.count < Self.maximumFollowers else {
      throw DispatcherError(
        code: ErrorName.limitsExceeded.text, message: "too many follow the deliveries already")
    }
    guard book.followers.insert(sender).inserted else { return }
    let book = book
    await callers.connection.whenGone(sender) { book.followers.remove(sender) }
  }

  func reload(from sender: UniqueName?) async throws(DispatcherError) {
    try await callers.requireUnconfined(sender)
    configuration.reload()
  }
}

extension DispatcherError {
  fileprivate static func noScene(_ path: ObjectPath) -> DispatcherError {
    .invalidArguments("you have registered no scene at \(path)")
  }
}
