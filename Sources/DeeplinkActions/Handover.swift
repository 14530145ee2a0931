import DeeplinkRouting

/// A link as an action receives it: the same for every kind, launch or running.
public struct Handover: Sendable {
  public enum Mode: String, Sendable, Hashable {
    /// The link that started its target.
    case launch
    /// It found the target running.
    case running
  }

  public var id: UInt64
  public var link: Link
  public var plugin: PluginID
  public var route: Route
  public var parameters: [String: ParameterValue]
  public var mode: Mode
  /// 2 when the link may have been acted on once already (idempotent routes).
  public var attempt: Int
  public var source: String
  public var activationToken: String?
  public var startupID: String?
  /// How many links of ours led to this one.
  public var hops: Int

  public init(
    id: UInt64, link: Link, plugin: PluginID, route: Route,
    parameters: [String: ParameterValue], mode: Mode, attempt: Int, source: String,
    activationToken: String?, startupID: String?, hops: Int
  ) {
    self.id = id
    self.link = link
    self.plugin = plugin
    self.route = route
    self.parameters = parameters
    self.mode = mode
    self.attempt = attempt
    self.source = source
    self.activationToken = activationToken
    self.startupID = startupID
    self.hops = hops
  }
}

extension Handover {
  /// The members that a worker's `deliver` carries, and a command's standard input.
  public var json: JSONValue {
    var context: [String: JSONValue] = [
      "delivery": .string(mode.rawValue), "attempt": .integer(Int64(attempt)),
      "source": .string(source), "hops": .integer(Int64(hops)),
    ]
    context["activationToken"] = activationToken.map { .string($0) }
    context["startupID"] = startupID.map { .string($0) }
    return .object([
      "id": .integer(Int64(clamping: id)), "url": .string(link.canonical.href),
      "rawURL": .string(link.rawText),
      "route": .string(route.name),
      "parameters": .object(
        parameters.filter { $0.value != .null }.mapValues(\.json)),
      "context": .object(context),
    ])
  }
}

extension Handover {
  /// As the processes of `sandbox` get it: without a session there is nothing to activate.
  func confined(to sandbox: Sandbox) -> Handover {
    guard case .confined(let openings) = sandbox, !openings.session else { return self }
    var handover = self
    handover.activationToken = nil
    handover.startupID = nil
    return handover
  }
}

extension Handover {
  /// What the names in the action's templates stand for.
  public var substitution: Substitution {
    Substitution(
      route: route, parameters: parameters,
      facts: Substitution.Facts(
        url: link.canonical.href, rawURL: link.rawText,
        id: String(id), source: source, delivery: mode.rawValue))
  }
}
