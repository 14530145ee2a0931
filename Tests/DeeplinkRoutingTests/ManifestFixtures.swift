import DeeplinkRouting

/// Manifests for tests: a small valid one, with the members that a test is about put in.
enum Manifest {
  static func plugin(_ members: [String: JSONValue] = [:]) -> JSONValue {
    var plugin: [String: JSONValue] = [
      "id": "com.example.Photos", "name": "Photos", "schemes": ["com.example.photos"],
      "routes": [route()],
    ]
    plugin.merge(members) { $1 }
    return .object(plugin.filter { $0.value != .null })
  }

  static func route(_ members: [String: JSONValue] = [:]) -> JSONValue {
    var route: [String: JSONValue] = [
      "name": "show", "match": "/a/:x", "action": ["notify": ["title": "{x}"]],
    ]
    route.merge(members) { $1 }
    return .object(route.filter { $0.value != .null })
  }

  static func with(route members: [String: JSONValue]) -> JSONValue {
    plugin(["routes": [route(members)]])
  }

  static func with(parameter members: JSONValue) -> JSONValue {
    with(route: ["parameters": ["p": members]])
  }

  static func with(action: JSONValue, _ parameters: JSONValue = [:]) -> JSONValue {
    with(route: ["action": action, "parameters": parameters])
  }

  /// Reads a manifest that the test knows to be right.
  static func load(_ document: JSONValue) throws -> Plugin {
    let (plugin, diagnostics) = Plugin.read(Array(document.description.utf8), file: "plugin.json")
    guard let plugin else { throw Wrong(diagnostics: diagnostics) }
    return plugin
  }

  struct Wrong: Error { var diagnostics: [Diagnostic] }
}
