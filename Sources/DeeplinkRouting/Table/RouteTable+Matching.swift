extension RouteTable {
  /// The routes that take a link, the best first; at least one.
  ///
  /// - Parameter approved: The plugin with associated domains that opens the link whatever its scheme
  ///   is, since the link's domain said so; it alone is asked.
  /// - Throws: `scheme-not-registered`, `credentials`, `no-route` or `parameter`.
  public func matches(
    for link: Link, approvedFor approved: PluginID? = nil
  ) throws(Refusal) -> [Match] {
    let decision = try tryAll(link, approved, explaining: false)
    if let refusal = decision.refusal { throw refusal }
    return decision.matches
  }

  /// As `matches(for:approvedFor:)`, with every route that was looked at and why it does or does not
  /// match.
  public func decide(_ link: Link, approvedFor approved: PluginID? = nil) -> Decision {
    do throws(Refusal) { return try tryAll(link, approved, explaining: true) } catch {
      return Decision(candidates: [], matches: [], refusal: error)
    }
  }

  /// Looks at every form that fits.
  ///
  /// A route is tried with each of its patterns that fits, until one
  /// binds; the failure of the most specific candidate is the refusal's reason.
  private func tryAll(
    _ link: Link, _ approved: PluginID?, explaining: Bool
  ) throws(Refusal) -> Decision {
    let known = approved.map { circle(of: $0) } ?? circle(of: link.scheme)
    guard let circle = known else { throw unregistered(link.scheme) }
    let hasCredentials = link.canonical.hasCredentials
    if hasCredentials, !circle.members.contains(where: { plugins[$0].allowsCredentials }) {
      throw Refusal(
        .credentials,
        "the link carries a user name or password, which no plugin of its scheme takes")
    }
    let source = ParameterSource(link.canonical)
    var candidates: [Candidate] = []
    var matches: [Match] = []
    var matched: [Origin] = []
    var tried: [Origin] = []
    var refusal: Refusal?
    for fit in circle.tree.matches(url: link.canonical) {
      let origin = fit.payload
      let (plugin, route) = (plugins[origin.plugin], plugins[origin.plugin].routes[origin.route])
      guard !matched.contains(where: { $0.plugin == origin.plugin && $0.route == origin.route })
      else { continue }
      tried.append(origin)
      let pattern = route.patterns[origin.pattern]
      do throws(Miss) {
        if hasCredentials, !plugin.allowsCredentials { throw .credentials }
        let captures = try fragmentCaptures(route, link.canonical)
        let binding = ParameterBinding(
          route: route, pattern: pattern, captures: fit.captures + captures, source: source)
        matches.append(try match(plugin, binding))
        matched.append(origin)
        if explaining { candidates.append(candidate(plugin, route, true, "'\(pattern)' fits")) }
      } catch {
        if refusal == nil { refusal = error.refusal(route) }
        if explaining { candidates.append(candidate(plugin, route, false, error.text(route))) }
      }
    }
    if matches.isEmpty || explaining {
      let others = misfits(link, circle, except: tried)
      if tried.isEmpty { refusal = noRoute(others.first) }
      if explaining {
        candidates += others.map { candidate($0.plugin, $0.route, false, $0.reason) }
      }
    }
    return Decision(
      candidates: candidates, matches: matches, refusal: matches.isEmpty ? refusal : nil)
  }

  private func candidate(
    _ plugin: Plugin, _ route: Route, _ matched: Bool, _ reason: String
  ) -> Candidate {
    Candidate(plugin: plugin.id, route: route.name, matched: matched, reason: reason)
  }

  private func fragmentCaptures(
    _ route: Route, _ url: ParsedURL
  ) throws(Miss) -> [CapturedValue] {
    guard let pattern = route.fragment else { return [] }
    guard let captures = pattern.matches(url.fragment ?? "") else { throw .fragment }
    return captures
  }

  private func match(_ plugin: Plugin, _ binding: ParameterBinding) throws(Miss) -> Match {
    do throws(ParameterFailure) {
      return Match(
        plugin: plugin, route: binding.route, parameters: try binding.values(),
        callback: try binding.callback())
    } catch {
      throw .parameter(error)
    }
  }

  // MARK: refusals

  /// Why a route whose pattern fits does not take the link.
  private enum Miss: Error {
    case credentials
    case fragment
    case parameter(ParameterFailure)

    func text(_ route: Route) -> String {
      switch self {
      case .credentials: "its plugin takes no links with a user name or password"
      case .fragment: "the fragment does not fit '\(route.fragment?.text ?? "")'"
      case .parameter(let failure): failure.text
      }
    }

    func refusal(_ route: Route) -> Refusal {
      switch self {
      case .credentials: Refusal(.credentials, "route '\(route.name)': \(text(route))")
      case .fragment: Refusal(.noRoute, "no route takes the link; '\(route.name)': \(text(route))")
      case .parameter: Refusal(.parameter, "route '\(route.name)': \(text(route))")
      }
    }
  }

  func unregistered(_ scheme: Scheme) -> Refusal {
    let nearest = Suggestion.nearest(to: scheme.text, among: schemes.lazy.map(\.text))
    let hint = nearest.map { "did you mean '\($0)'? " } ?? ""
    return Refusal(
      .schemeNotRegistered, "no plugin opens '\(scheme.text.prefix(100))' links",
      hint: "\(hint)`deeplink schemes` shows the schemes in use")
  }

  private func noRoute(_ nearest: Misfit?) -> Refusal {
    guard let nearest else { return Refusal(.noRoute, "no route takes the link") }
    return Refusal(
      .noRoute, "no route takes the link; the nearest is '\(nearest.route.name)': \(nearest.reason)"
    )
  }
}
