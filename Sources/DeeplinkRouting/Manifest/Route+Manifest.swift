extension Route {
  static let keys = [
    "name", "title", "match", "parameters", "action", "effect", "confirm", "fragment",
    "formEncoded", "additionalParameters", "timeout", "idempotent", "callback", "callbackHosts",
    "sources", "preset",
  ]
  static let maximumPatterns = 32
  static let maximumParameters = 100

  /// What `preset: "oauth-redirect"` declares (RFC 6749 section 4.1.2, RFC 9207).
  static let redirectParameters = [
    "code", "state", "iss", "error", "error_description", "error_uri", "scope",
  ]

  init?(_ value: JSONValue, at path: String, in diagnostics: Diagnostics) {
    guard let reader = ObjectReader(value, at: path, keys: Self.keys, in: diagnostics) else {
      return nil
    }
    let name = reader.string("name", required: true)
    if let name, !Self.isName(name) {
      reader.error("name", "'\(name)' is no name of a route", hint: "letters, digits, '-' and '_'")
    }
    let patterns = Self.readPatterns(reader)
    let fragment = Self.readFragment(reader)
    let preset = reader.word("preset", Preset.self)
    let captures = Captures(patterns, fragment)
    let parameters = Self.readParameters(reader, captures: captures, preset: preset)
    if let name = captures.inBoth {
      reader.error("fragment", "':\(name)' is a name of the pattern already")
    }
    let title = reader.template("title")
    let takesCallback = reader.boolean("callback") ?? false
    let callbackHosts = Self.readCallbackHosts(reader, takesCallback: takesCallback)
    let sources = reader.strings("sources")
    if sources?.contains(where: \.isEmpty) == true || sources?.isEmpty == true {
      reader.error("sources", "names no source", hint: "without the key every source may use it")
    }
    for (index, source) in (sources ?? []).enumerated()
    where !source.isEmpty && !SourcePattern.isValid(source) {
      diagnostics.error(
        "\(reader.path(of: "sources"))[\(index)]", "'\(source)' is no source",
        hint: "such as flatpak:org.example.App, executable:/usr/bin/app, or unknown")
    }
    let additional = reader.word("additionalParameters", AdditionalParameters.self)
    let actionPath = reader.path(of: "action")
    let action = reader.required("action").flatMap {
      Action($0, at: actionPath, in: diagnostics)
    }
    guard let name, let action else { return nil }
    self.init(
      name: name, title: title, patterns: patterns, fragment: fragment, parameters: parameters,
      additionalParameters: additional ?? (preset == nil ? .drop : .pass),
      isFormEncoded: reader.boolean("formEncoded") ?? (preset != nil), action: action,
      effect: reader.word("effect", Effect.self) ?? action.defaultEffect,
      confirm: reader.word("confirm", Confirmation.self), timeout: reader.seconds("timeout"),
      isIdempotent: reader.boolean("idempotent") ?? false, takesCallback: takesCallback,
      callbackHosts: callbackHosts, sources: sources, preset: preset,
      actionSource: reader.members["action"] ?? .null)
    RouteChecks(self, reader: reader).run()
  }

  /// Routes stand in settings as `PLUGIN/ROUTE`, in log lines and in object names.
  package static func isName(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_".utf8.contains(byte)
      }
  }

  private static func readPatterns(_ reader: ObjectReader) -> [RoutePattern] {
    let path = reader.path(of: "match")
    let elements: [(String, JSONValue)]
    switch reader.required("match") {
    case nil: return []
    case .array(let values)?:
      if values.isEmpty { reader.error("match", "has no pattern") }
      if values.count > maximumPatterns {
        reader.error("match", "has more than \(maximumPatterns) patterns")
        return []
      }
      elements = values.enumerated().map { ("\(path)[\($0)]", $1) }
    case let value?: elements = [(path, value)]
    }
    return elements.compactMap { place, value in
      guard let text = value.string else {
        reader.diagnostics.error(place, "expected a pattern, found \(value.kind)")
        return nil
      }
      do throws(PatternError) { return try RoutePattern(text) } catch {
        reader.diagnostics.error(
          place, "\(error) (at character \(error.offset + 1))", hint: error.hint)
        return nil
      }
    }
  }

  private static func readFragment(_ reader: ObjectReader) -> FragmentPattern? {
    guard let text = reader.string("fragment") else { return nil }
    do throws(PatternError) { return try FragmentPattern(text) } catch {
      reader.error("fragment", "\(error) (at character \(error.offset + 1))", hint: error.hint)
      return nil
    }
  }

  /// The declared parameters, a preset's, and the captured names that are neither.
  private static func readParameters(
    _ reader: ObjectReader, captures: Captures, preset: Preset?
  ) -> [Parameter] {
    var parameters: [String: Parameter] = [:]
    if preset == .oauthRedirect {
      for name in redirectParameters {
        parameters[name] = Parameter(
          name: name, rule: ValueRule(.string), place: .queryOrFragment, isSensitive: true)
      }
    }
    let path = reader.path(of: "parameters")
    if let value = reader.members["parameters"] {
      if let members = value.object {
        if members.count > maximumParameters {
          reader.error("parameters", "has more than \(maximumParameters) parameters")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }).prefix(maximumParameters) {
          parameters[name] = Parameter(
            name: name, value, at: ObjectReader.path(path, name), in: reader.diagnostics)
        }
      } else {
        reader.error("parameters", "expected an object, found \(value.kind)")
      }
    }
    for (name, spansSegments) in captures.names {
      let place = ObjectReader.path(path, name)
      if let declared = parameters[name] {
        if spansSegments, !declared.rule.isArray {
          reader.diagnostics.error(
            place, "':\(name)' spans segments, so its type must be 'array'")
        }
        if declared.place == .fragment {
          reader.diagnostics.error(
            "\(place).from", "':\(name)' is captured by a pattern, not a pair of the fragment")
        }
      } else {
        let text = ValueRule(.string)
        parameters[name] = Parameter(
          name: name, rule: spansSegments ? ValueRule(.array(of: text)) : text, place: .capture)
      }
    }
    return parameters.values.sorted { $0.name < $1.name }
  }

  private static func readCallbackHosts(
    _ reader: ObjectReader, takesCallback: Bool
  ) -> [String] {
    guard let hosts = reader.strings("callbackHosts") else { return [] }
    if !takesCallback {
      reader.error("callbackHosts", "means nothing without \"callback\": true")
    }
    for (index, host) in hosts.enumerated() where !HostName.isValid(host) {
      reader.diagnostics.error(
        "\(reader.path(of: "callbackHosts"))[\(index)]", "'\(host)' is no host",
        hint: "a domain in lower case, such as example.com")
    }
    return hosts
  }
}

/// The names that a route's patterns capture, and whether one of them lets the name span segments.
private struct Captures {
  var names: [String: Bool] = [:]
  /// A name that both a pattern and the fragment's have.
  var inBoth: String?

  init(_ patterns: [RoutePattern], _ fragment: FragmentPattern?) {
    for capture in patterns.flatMap(\.captures) {
      names[capture.name] = names[capture.name] ?? false || capture.spansSegments
    }
    for name in fragment?.names ?? [] {
      if names[name] != nil { inBoth = name }
      names[name] = names[name] ?? false
    }
  }
}

extension ObjectReader {
  /// A text with parameters; nil, and a diagnostic, where its braces are wrong.
  func template(_ key: String, required isRequired: Bool = false) -> Template? {
    guard let text = string(key, required: isRequired) else { return nil }
    return template(text, at: path(of: key))
  }

  func template(_ text: String, at path: String) -> Template? {
    do throws(Template.Invalid) { return try Template(text) } catch {
      diagnostics.error(path, error.reason, hint: error.hint)
      return nil
    }
  }
}
