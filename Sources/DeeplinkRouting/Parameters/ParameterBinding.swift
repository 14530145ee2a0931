// From a link and what the pattern captured to typed values. Decoding happens here, once, after
// matching: a `%2F` in a segment never was a `/` to the pattern. A name that the pattern captured
// comes from there, every other from the query or the fragment. The first rule that is broken means
// that the route does not match.

/// What of a link parameters come from, split once for all candidates.
struct ParameterSource: Sendable {
  let query: QueryPairs
  let fragment: QueryPairs

  init(_ url: ParsedURL) {
    query = QueryPairs(url.queryRange.map { url.bytes[$0] })
    fragment = QueryPairs(url.fragmentRange.map { url.bytes[$0] })
  }
}

/// The first parameter that made a route not match.
public struct ParameterFailure: Error, Sendable, Hashable {
  public var parameter: String
  public var violation: Violation

  /// `parameter 'index' must be at least 1`; never a value, and of a name that the link made up no
  /// more than 100 characters.
  public var text: String { "parameter '\(parameter.prefix(100))' \(violation.text)" }
}

/// The parameters of x-callback-url 1.0, which belong to the protocol and not to the route.
public struct CallbackTargets: Sendable, Hashable {
  public static let names = ["x-success", "x-error", "x-cancel", "x-source"]

  public var success: String?
  public var error: String?
  public var cancel: String?
  /// Who the link says sent it: a claim.
  public var source: String?

  public init(
    success: String? = nil, error: String? = nil, cancel: String? = nil, source: String? = nil
  ) {
    self.success = success
    self.error = error
    self.cancel = cancel
    self.source = source
  }
}

/// Binds one candidate: a route, one of its patterns, and what that captured.
struct ParameterBinding {
  let route: Route
  let pattern: RoutePattern
  let captures: [CapturedValue]
  let source: ParameterSource

  func values() throws(ParameterFailure) -> [String: ParameterValue] {
    var values: [String: ParameterValue] = [:]
    for parameter in route.parameters {
      if let value = try value(of: parameter) { values[parameter.name] = value }
    }
    if route.additionalParameters != .drop { try addAdditional(to: &values) }
    return values
  }

  /// The value, the default, or nil where there is none and none is needed.
  private func value(of parameter: Parameter) throws(ParameterFailure) -> ParameterValue? {
    do throws(Violation) {
      if let place = placeOfCapture(parameter.name) {
        if let raw = captures.first(where: { $0.name == parameter.name }) {
          guard named(parameter.name, in: source.query).isEmpty else { throw .twice }
          return try captured(raw.value, at: place, parameter)
        }
      } else if let value = try given(parameter) {
        return value
      }
      if let standard = parameter.standard { return standard }
      guard !parameter.isRequired else { throw .missing }
      return nil
    } catch {
      throw ParameterFailure(parameter: parameter.name, violation: error)
    }
  }

  /// Where this pattern, or the fragment's, has the name; nil where neither has it.
  private func placeOfCapture(_ name: String) -> Capture.Place? {
    if let capture = pattern.captures.first(where: { $0.name == name }) { return capture.place }
    return route.fragment?.names.contains(name) == true ? .path : nil
  }

  private func captured(
    _ raw: String, at place: Capture.Place, _ parameter: Parameter
  ) throws(Violation) -> ParameterValue {
    guard case .array(let items) = parameter.rule.kind else {
      return try parameter.rule.value(of: decoded(Array(raw.utf8)[...], isForm: false))
    }
    let separator = UInt8(ascii: place == .host ? "." : "/")
    var elements: [ParameterValue] = []
    for part in Array(raw.utf8).split(separator: separator, omittingEmptySubsequences: false) {
      elements.append(try items.value(of: decoded(part, isForm: false)))
    }
    return try checked(.array(elements), parameter.rule)
  }

  /// The value from the query or the fragment; nil where it is not given.
  private func given(_ parameter: Parameter) throws(Violation) -> ParameterValue? {
    let name = parameter.name
    let found: [ArraySlice<UInt8>?] =
      switch parameter.place {
      case .capture: []
      case .query: named(name, in: source.query)
      case .fragment: named(name, in: source.fragment)
      case .queryOrFragment: named(name, in: source.query) + named(name, in: source.fragment)
      }
    if case .array(let items) = parameter.rule.kind {
      var elements: [ParameterValue] = []
      for raw in found {
        if let element = try value(of: raw, items) { elements.append(element) }
      }
      if elements.isEmpty {
        return found.isEmpty || !parameter.rule.allowsNull ? nil : .null
      }
      return try checked(.array(elements), parameter.rule)
    }
    guard found.count <= 1 else { throw .twice }
    guard let raw = found.first else { return nil }
    return try value(of: raw, parameter.rule)
  }

  private func value(
    of raw: ArraySlice<UInt8>?, _ rule: ValueRule
  ) throws(Violation) -> ParameterValue? {
    if let raw {
      return try rule.value(of: decoded(raw, isForm: route.isFormEncoded))
    }
    if rule.allowsNull { return .null }
    return rule.kind == .boolean ? try checked(.boolean(true), rule) : nil
  }

  private func checked(
    _ value: ParameterValue, _ rule: ValueRule
  ) throws(Violation) -> ParameterValue {
    try rule.check(value)
    return value
  }

  private func decoded(
    _ raw: ArraySlice<UInt8>, isForm: Bool
  ) throws(Violation) -> String {
    guard let text = QueryPairs.decode(raw, isFormEncoded: isForm) else { throw .notUTF8 }
    return text
  }

  private func named(_ name: String, in pairs: QueryPairs) -> [ArraySlice<UInt8>?] {
    pairs.values(named: name, isFormEncoded: route.isFormEncoded)
  }

  // MARK: what is not declared

  /// Refuses them, or passes them on as strings, a repeated one as an array, a flag as null.
  private func addAdditional(
    to values: inout [String: ParameterValue]
  ) throws(ParameterFailure) {
    let text = ValueRule(.string)
    var additional: [String: [ParameterValue]] = [:]
    let pairs = source.query.pairs + (route.preset == nil ? [] : source.fragment.pairs)
    let declared = Set(route.parameters.map(\.name))
    for pair in pairs {
      let name: String
      do throws(Violation) {
        name = try decoded(pair.name, isForm: route.isFormEncoded)
        _ = try text.value(of: name)
      } catch {
        throw ParameterFailure(parameter: "(a name)", violation: error)
      }
      if declared.contains(name) || isCallback(name) { continue }
      guard route.additionalParameters == .pass else {
        throw ParameterFailure(parameter: name, violation: .undeclared)
      }
      do throws(Violation) {
        additional[name, default: []].append(try value(of: pair.value, text) ?? .null)
      } catch {
        throw ParameterFailure(parameter: name, violation: error)
      }
    }
    for (name, found) in additional { values[name] = found.count == 1 ? found[0] : .array(found) }
  }

  private func isCallback(_ name: String) -> Bool {
    route.takesCallback && CallbackTargets.names.contains(name)
  }

  /// The callback's parameters, where the route takes them; each at most once.
  func callback() throws(ParameterFailure) -> CallbackTargets? {
    guard route.takesCallback else { return nil }
    var found: [String: String] = [:]
    for name in CallbackTargets.names {
      do throws(Violation) {
        let values = named(name, in: source.query)
        guard values.count <= 1 else { throw .twice }
        guard let raw = values.first ?? nil else { continue }
        let text = try decoded(raw, isForm: route.isFormEncoded)
        _ = try ValueRule(.string).value(of: text)
        found[name] = text
      } catch {
        throw ParameterFailure(parameter: name, violation: error)
      }
    }
    return CallbackTargets(
      success: found["x-success"], error: found["x-error"], cancel: found["x-cancel"],
      source: found["x-source"])
  }
}
