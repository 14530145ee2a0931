import DeeplinkDesktop
import DeeplinkRouting

/// Whether a link may use a route: a pure decision of what is known.
enum ConsentPolicy {
  enum Verdict: Hashable, Sendable {
    case allow
    case deny
    /// `offersAlways`: whether the answer can be for good.
    case ask(offersAlways: Bool)
  }

  /// - Parameters:
  ///   - rule: The settings' word; it goes before the author's, so `ask` asks for a route that only
  ///     shows something, and `allow` does not ask for one that says `"confirm": "always"`.
  ///   - isGranted: Whether the person said "always" to this route and source.
  static func verdict(
    _ consent: Route.Consent, rule: ConsentRule?, isGranted: Bool
  ) -> Verdict {
    switch (rule, consent) {
    case (.allow, _): .allow
    case (.deny, _): .deny
    case (_, .always): .ask(offersAlways: false)
    case (nil, .notAsked): .allow
    case (.ask, .notAsked), (_, .atFirstUse): isGranted ? .allow : .ask(offersAlways: true)
    }
  }

  /// Whether nothing of the source matters: the usual case, which must cost nothing.
  static func ignoresSource(_ route: Route, rule: ConsentRule?) -> Bool {
    guard route.sources == nil else { return false }
    switch rule {
    case .allow, .deny: return true
    case .ask: return false
    case nil: return route.consent == .notAsked
    }
  }
}

extension Match {
  /// Whether the route is for `source` at all.
  func isFor(_ source: Source) -> Bool {
    route.sources?.contains { SourcePattern.matches($0, source.key) } ?? true
  }
}
