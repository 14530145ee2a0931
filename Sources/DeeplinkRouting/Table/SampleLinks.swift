/// A link that a route takes, made from its pattern and parameters.
public struct SampleLink: Sendable, Hashable {
  public let plugin: PluginID
  public let route: String
  public let pattern: String
  /// Nil where no value could be made up that the parameters take.
  public let url: String?
}

extension RouteTable {
  /// A link for each pattern of each route of a plugin, on the first scheme that its routes count
  /// on; each goes to that very route.
  public func samples(of plugin: Plugin) -> [SampleLink] {
    guard
      let scheme = plugin.schemes.first(where: { members(of: $0).contains { $0.id == plugin.id } })
    else { return [] }
    return plugin.routes.flatMap { route in
      route.patterns.map { pattern in
        let url = [true, false].lazy.compactMap {
          route.sample(of: pattern, scheme: scheme, withOptional: $0)
        }.first { self.firstMatch(for: $0, is: route, of: plugin.id) != nil }
        return SampleLink(plugin: plugin.id, route: route.name, pattern: pattern.text, url: url)
      }
    }
  }

  /// What the link goes to first, where that is `route` of `plugin`.
  func firstMatch(for url: String, is route: Route, of plugin: PluginID) -> Match? {
    guard let link = try? Link(admitting: Array(url.utf8), maximumLength: 1 << 20),
      let match = try? matches(for: link).first
    else { return nil }
    return match.plugin.id == plugin && match.route.name == route.name ? match : nil
  }
}

extension Route {
  /// - Parameter withOptional: Whether parameters are given that need not be.
  fileprivate func sample(
    of pattern: RoutePattern, scheme: Scheme, withOptional: Bool
  ) -> String? {
    guard let form = withOptional ? pattern.forms.first : pattern.forms.last else { return nil }
    var values: [String: String] = [:]
    for parameter in self.parameters { values[parameter.name] = parameter.sample }
    let captured = Set(pattern.captures.map(\.name))
    var (query, fragment): ([String], [String]) = ([], [])
    for parameter in self.parameters.sorted(by: { $0.name < $1.name })
    where !captured.contains(parameter.name) && (parameter.isRequired || withOptional) {
      guard let value = values[parameter.name] else {
        if parameter.isRequired { return nil }
        continue
      }
      let pair =
        PercentEncoding.encodeComponent(parameter.name) + "="
        + PercentEncoding.encodeComponent(value)
      if parameter.place == .fragment {
        fragment.append(pair)
      } else if parameter.place != .capture {
        query.append(pair)
      }
    }
    let address = form.address { name in
      guard let name else { return "sample" }
      return values[name].map(PercentEncoding.encodeComponent)
    }
    return address.map { Link.text(scheme, $0, query: query, fragment: fragment) }
  }
}

extension Parameter {
  /// A text that it takes; nil where none of those that come to mind does.
  fileprivate var sample: String? {
    if let standard, standard != .null, !rule.isArray { return standard.text() }
    var rule = rule
    if case .array(of: let items) = rule.kind { rule = items }
    return rule.texts(like: name).first { (try? rule.value(of: $0)) != nil }
  }
}

extension ValueRule {
  /// What might be a value, the nicest first.
  fileprivate func texts(like name: String) -> [String] {
    if let allowed { return allowed.map { $0.text() } }
    let least = [minimum, maximum].compactMap { $0?.text() }
    switch kind {
    case .boolean: return ["true"]
    case .integer, .number: return ["1"] + least
    case .array: return []
    case .string: break
    }
    switch format {
    case .uuid: return ["123e4567-e89b-12d3-a456-426614174000"]
    case .date: return ["2024-02-29"]
    case .dateTime: return ["2024-02-29T12:00:00Z"]
    case .uri: return (schemes ?? ["https"]).map { "\($0)://example.com/" }
    case .email: return ["person@example.com"]
    case .relativePath: return ["folder/file.txt"]
    case nil: break
    }
    let length = max(minLength ?? 0, 1)
    func filled(_ text: String) -> String {
      let long = String(repeating: text, count: length / text.count + 1)
      return text.count >= length
        ? String(text.prefix(maxLength ?? text.count)) : String(long.prefix(length))
    }
    return [name, "sample", "1", "a", "A", "abc123", "a-1"].filter { !$0.isEmpty }.map(filled)
  }
}
