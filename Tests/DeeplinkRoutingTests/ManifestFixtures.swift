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

extension JSONValue {
  private static let others: [JSONValue] = [
    nil, true, 0, 1, -1, 1.5, 100_000, "", " ", "x", "X.y", "a.b.C", "{x}", "{", "/a/:x", "/",
    "~/x",
    "uri", "array", "always", "https://example.com/{x}", [], ["x"], ["a.b"], ["string", "null"],
    [:],
    ["en": "x"], ["type": "integer", "minimum": 1],
  ]

  /// The value with one change at a random place.
  func mutated(using generator: inout some RandomNumberGenerator) -> JSONValue {
    let other = Self.others.randomElement(using: &generator) ?? .null
    switch self {
    case .object(var members) where !members.isEmpty:
      guard let key = members.keys.sorted().randomElement(using: &generator) else { return other }
      switch Int.random(in: 0..<12, using: &generator) {
      case 0: members[key] = nil
      case 1: members[key] = other
      case 2: members["default"] = other
      case 3: members["minimum"] = other
      default: members[key] = members[key]?.mutated(using: &generator)
      }
      return .object(members)
    case .array(var elements) where !elements.isEmpty:
      let index = elements.indices.randomElement(using: &generator) ?? 0
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: elements.remove(at: index)
      case 1: elements.append(other)
      case 2: elements.append(elements[index])
      default: elements[index] = elements[index].mutated(using: &generator)
      }
      return .array(elements)
    default: return other
    }
  }
}
