/// What would become of a link, step by step; nothing happens.
///
/// It is made from the same decision that the daemon makes, for any bytes: also for those that are
/// refused, and for links whose scheme nobody has.
public struct Explanation: Sendable {
  public let refusal: Refusal?
  /// Nil where the URL Standard's parser fails.
  public let url: ParsedURL?
  /// Nil where the bytes were refused.
  public let canonical: ParsedURL?
  public let remarks: [Remark]
  public let candidates: [Candidate]
  /// The route that is tried first.
  public let match: Match?
  /// The URL as received, as `{rawURL}` has it; empty where the bytes were refused.
  let rawText: String
  let received: [UInt8]
  let secrets: Secrets
  /// Whether the person is asked, in words; nil where no route takes the link.
  public let consent: String?

  public var accepted: Bool { refusal == nil }
}

/// Explains a link.
///
/// Values of sensitive parameters appear as `secret, N characters` unless
/// `revealingSecrets`, which is for authors who look at a manifest of their own.
///
/// - Parameter consent: Says whether a route asks the person, in words; by default what its manifest says.
public func explain(
  _ bytes: [UInt8], table: RouteTable, approvedFor approved: PluginID? = nil,
  maximumLength: Int = 65_536, revealingSecrets: Bool = false,
  consent: (Plugin, Route) -> String = { $1.consent.rawValue }
) -> Explanation {
  let url = try? ParsedURL.parse(bytes)
  let link: Link
  do throws(Refusal) { link = try Link(admitting: bytes, maximumLength: maximumLength) } catch {
    return Explanation(
      refusal: error, url: url, canonical: nil, remarks: [], candidates: [], match: nil,
      rawText: "", received: bytes, secrets: .none, consent: nil)
  }
  let decision = table.decide(link, approvedFor: approved)
  let isOurs = approved != nil || table.owner(of: link.scheme) != nil
  let routes = decision.candidates.compactMap { table.plugin($0.plugin)?.route($0.route) }
  return Explanation(
    refusal: decision.refusal, url: url, canonical: link.canonical, remarks: link.remarks,
    candidates: decision.candidates, match: decision.matches.first,
    rawText: link.rawText, received: bytes,
    secrets: revealingSecrets || !isOurs
      ? .none : Secrets(in: link.canonical, routes: routes),
    consent: decision.matches.first.map { consent($0.plugin, $0.route) })
}

extension Explanation {
  /// The object of `deeplink explain --json` and of the daemon's `Explain`.
  public var json: JSONValue {
    [
      "accepted": .boolean(accepted),
      "refusal": refusal.map {
        ["code": .string($0.code.rawValue), "message": .string($0.message)]
      } ?? .null,
      "url": url.map(components) ?? .null,
      "canonical": JSONValue(canonical.map { secrets.mask($0).href }),
      "remarks": .array(remarks.map { .string($0.rawValue) }),
      "candidates": .array(
        candidates.map {
          [
            "plugin": .string($0.plugin.text), "route": .string($0.route),
            "matched": .boolean($0.matched), "reason": .string($0.reason),
          ]
        }),
      "route": JSONValue(match?.route.name),
      "parameters": .object(match.map(parameters) ?? [:]),
      "action": match.map(action) ?? .null,
      "consent": JSONValue(consent),
    ]
  }

  /// The URL as the standard serialises it, component by component.
  private func components(_ url: ParsedURL) -> JSONValue {
    let masked = secrets.mask(url)
    return [
      "href": .string(masked.href), "scheme": .string(url.scheme),
      "username": .string(url.username), "password": .string(masked.password),
      "host": JSONValue(masked.host), "port": url.port.map { .integer(Int64($0)) } ?? .null,
      "path": .string(masked.path), "query": JSONValue(masked.query),
      "fragment": JSONValue(masked.fragment),
    ]
  }

  func parameters(_ match: Match) -> [String: JSONValue] {
    secrets.hides ? match.redactedParameters() : match.parameters.mapValues(\.json)
  }

  /// The action as the manifest has it, with the link's values in their places; what only a delivery
  /// knows stays a name.
  func action(_ match: Match) -> JSONValue {
    let route = match.route
    var values = match.parameters
    if secrets.hides {
      for (name, value) in values where route.isSensitive(name) {
        values[name] = .string(SensitiveNames.redacted(value.text()))
      }
    }
    let substitution = Substitution(
      route: route, parameters: values,
      facts: Substitution.Facts(
        url: canonical.map { secrets.mask($0).href } ?? "",
        rawURL: secrets.hides ? url.map { secrets.mask($0).href } ?? "" : rawText,
        id: "{id}", source: "{source}", delivery: "{delivery}"))
    if case .open(let open) = route.action {
      return ["open": ["url": JSONValue(open.url(substitution))]]
    }
    return ValueTemplate(route.actionSource, at: "$", in: Diagnostics(file: ""))
      .value(typed: substitution.typed, text: substitution.text)
  }
}
