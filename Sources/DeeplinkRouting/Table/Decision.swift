/// A route that takes a link, with the parameters it takes from it.
public struct Match: Sendable {
  public let plugin: Plugin
  public let route: Route
  public let parameters: [String: ParameterValue]
  /// Where the route takes callbacks: those that the link names.
  public let callback: CallbackTargets?

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
