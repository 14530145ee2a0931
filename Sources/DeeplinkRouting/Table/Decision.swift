/// A route that takes a link, with the parameters it takes from it.
public struct Match: Sendable {
  public let plugin: Plugin
  public let route: Route
  public let parameters: [String: ParameterValue]
  /// Where the route takes callbacks: those that the link names.
  public let callback: CallbackTargets?

  /// What stands for the names in the action's templates.
  public func substitution(_ facts: Substitution.Facts) -> Substitution {
    Substitution(route: route, parameters: parameters, facts: facts)
  }

  /// What the route does with this link, for people: its title with the parameters put in, secrets
  /// as their length; its name where it has no title.
  public var title: String {
    guard let title = route.title else { return route.name }
    let shown = redactedParameters()
    return title.text { name in
      guard let value = shown[name] else { return "" }
      return value.string ?? value.description
    }
  }

  /// The parameters for people: a sensitive value as `secret, N characters`.
  public func redactedParameters() -> [String: JSONValue] {
    Dictionary(
      uniqueKeysWithValues: parameters.map { name, value in
        (name, route.isSensitive(name) ? Self.redacted(value) : value.json)
      })
  }

  static func redacted(_ value: ParameterValue) -> JSONValue {
    switch value {
    case .null: .null
    case .array(let elements): .array(elements.map(redacted))
    default: .string(SensitiveNames.redacted(value.text()))
    }
  }
}

/// A route that was looked at for a link, and what came of it.
public struct Candidate: Sendable {
  public let plugin: PluginID
  public let route: String
  public let matched: Bool
  /// Why, as a sentence; it quotes nothing of the link but names.
  public let reason: String
}

/// What becomes of a link: the routes that take it, or the reason that none does.
public struct Decision: Sendable {
  /// Those whose pattern fits in the order in which they are tried, then some whose does not, the
  /// nearest first.
  public let candidates: [Candidate]
  /// The best first; a link that one declines goes to the next.
  public let matches: [Match]
  /// Set exactly where nothing matched.
  public let refusal: Refusal?
}
