/// What the names in a route's templates stand for, for one delivery.
public struct Substitution: Sendable {
  /// The delivery's own facts.
  public struct Facts: Sendable, Hashable {
    /// The canonical URL.
    public var url: String
    /// The received one.
    public var rawURL: String
    public var id: String
    public var source: String
    /// `launch` or `running`.
    public var delivery: String

    public init(url: String, rawURL: String, id: String, source: String, delivery: String) {
      self.url = url
      self.rawURL = rawURL
      self.id = id
      self.source = source
      self.delivery = delivery
    }

    public init(link: Link, id: String, source: String, delivery: String) {
      self.init(
        url: link.canonical.href, rawURL: link.rawText, id: id, source: source,
        delivery: delivery)
    }
  }

  private let route: Route
  private let parameters: [String: ParameterValue]
  private let facts: Facts

  public init(route: Route, parameters: [String: ParameterValue], facts: Facts) {
    self.route = route
    self.parameters = parameters
    self.facts = facts
  }

  /// The text that is put in; an absent parameter is nothing.
  public func text(_ name: String) -> String {
    if let parameter = route.parameter(name) {
      return parameters[name]?.text(separator: separator(of: parameter)) ?? ""
    }
    return switch name {
    case "url": facts.url
    case "rawURL": facts.rawURL
    case "id": facts.id
    case "source": facts.source
    case "delivery": facts.delivery
    default: ""
    }
  }

  /// The typed value of a parameter; nil for a fact, and for a parameter that is absent.
  public func typed(_ name: String) -> JSONValue? {
    route.parameter(name) == nil ? nil : parameters[name]?.json
  }

  /// The text, or the texts of an array's elements.
  public func elements(_ name: String) -> [String] {
    if route.parameter(name) != nil, case .array(let elements)? = parameters[name] {
      return elements.map { $0.text() }
    }
    return [text(name)]
  }

  /// An array that a pattern captured was a path, or a host, and becomes one again.
  private func separator(of parameter: Parameter) -> String {
    for capture in route.patterns.lazy.flatMap(\.captures) where capture.name == parameter.name {
      return capture.place == .host ? "." : "/"
    }
    return ","
  }
}

extension Action.Command {
  /// The program and its arguments: as many as the manifest has, whatever the values are.
  public func arguments(_ substitution: Substitution) -> [String] {
    run.map { $0.text(substitution.text) }
  }
}

extension Action.Call {
  public func values(_ substitution: Substitution) -> [JSONValue] {
    arguments.map { $0.value(typed: substitution.typed, text: substitution.text) }
  }
}

extension Action.OpenURL {
  /// Nil where the values would make another URL of it than the author wrote.
  public func url(_ substitution: Substitution) -> String? { url.url(substitution.elements) }
}

extension Link {
  /// The URL as it was received, without the spaces and controls around it: a NUL among them would
  /// end an argument, and libdbus with it.
  public var rawText: String {
    String(decoding: received[URLParser.trimmedRange(of: received)], as: UTF8.self)
  }
}
