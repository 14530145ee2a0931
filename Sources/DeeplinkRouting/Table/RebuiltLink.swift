extension RouteTable {
  /// A link that goes to `route` with exactly these parameters; nil where none can be made.
  ///
  /// What a route does not keep of a link, what a `*` took and parameters that are dropped, cannot come
  /// back: a pattern with a group that has no name makes no link.
  ///
  /// - Parameter parameters: As the history keeps them, defaults included.
  public func link(
    to route: Route, of plugin: Plugin, scheme: Scheme, parameters: [String: JSONValue]
  ) -> String? {
    route.patterns.lazy.flatMap(\.forms)
      .compactMap { route.link(with: $0, scheme, parameters) }
      .first { url in
        firstMatch(for: url, is: route, of: plugin.id)?.parameters.mapValues(\.json) == parameters
      }
  }
}

extension Route {
  fileprivate func link(
    with form: Form, _ scheme: Scheme, _ parameters: [String: JSONValue]
  ) -> String? {
    let captured = Set(form.groupNames.compactMap { $0 })
    let address = form.address { name in
      guard let name, let value = parameters[name] else { return nil }
      // A name that spans segments is split at each slash before it is decoded.
      return value.texts.map(PercentEncoding.encodeComponent).joined(separator: "/")
    }
    guard let address else { return nil }
    var (query, fragment): ([String], [String]) = ([], [])
    for (name, value) in parameters.sorted(by: { $0.key < $1.key }) where !captured.contains(name) {
      let key = PercentEncoding.encodeComponent(name)
      let pairs =
        value == .null ? [key] : value.texts.map { "\(key)=\(PercentEncoding.encodeComponent($0))" }
      if parameter(name)?.place == .fragment { fragment += pairs } else { query += pairs }
    }
    return Link.text(scheme, address, query: query, fragment: fragment)
  }
}

extension Form {
  /// What follows `scheme:`; nil where a group has no text.
  ///
  /// - Parameter text: What stands in the place of a group, encoded; the name is nil for one without.
  func address(_ text: (String?) -> String?) -> String? {
    var names = groupNames[...]
    func part(_ atoms: [FormShape.Atom]) -> String? {
      var part = ""
      for atom in atoms {
        switch atom {
        case .literal(let bytes), .repeated(let bytes):
          part += String(decoding: bytes, as: UTF8.self)
        case .name, .names, .wildcard:
          guard let value = text(names.popFirst() ?? nil) else { return nil }
          part += value
        }
      }
      return part
    }
    guard let host = part(shape.host), let port = part(shape.port), let path = part(shape.path)
    else { return nil }
    guard kind == .authority else { return path }
    return "//\(host)" + (port.isEmpty ? "" : ":\(port)") + path
  }
}

extension Link {
  /// The text of a link, from parts that are encoded already.
  static func text(
    _ scheme: Scheme, _ address: String, query: [String], fragment: [String]
  ) -> String {
    "\(scheme):\(address)" + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
      + (fragment.isEmpty ? "" : "#\(fragment.joined(separator: "&"))")
  }
}

extension JSONValue {
  /// What stands in a link for the value: one text for each element.
  fileprivate var texts: [String] {
    switch self {
    case .array(let elements): elements.flatMap(\.texts)
    case .string(let text): [text]
    case .null: []
    default: [description]
    }
  }
}
