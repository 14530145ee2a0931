extension RouteTable {
  /// A route whose pattern does not fit a link.
  struct Misfit {
    var plugin: Plugin
    var route: Route
    var reason: String
    /// Greater is nearer.
    var nearness: Int
  }

  /// How many routes are looked at to find the nearest: a refusal must not cost what a table of
  /// 100,000 routes costs.
  private static let maximumLooks = 256
  private static let maximumMisfits = 32

  /// Routes of a circle that do not fit, the nearest first.
  func misfits(_ link: Link, _ circle: Circle, except tried: [Origin]) -> [Misfit] {
    let near = NearMisses(link.canonical)
    var misfits: [Misfit] = []
    var looks = 0
    for member in circle.members {
      for (index, route) in plugins[member].routes.enumerated() {
        guard !tried.contains(where: { $0.plugin == member && $0.route == index }) else { continue }
        looks += 1
        guard looks <= Self.maximumLooks else { break }
        let (reason, nearness) = near.reason(for: route)
        misfits.append(
          Misfit(plugin: plugins[member], route: route, reason: reason, nearness: nearness))
      }
    }
    let sorted = misfits.enumerated().sorted {
      ($1.element.nearness, $0.offset) < ($0.element.nearness, $1.offset)
    }
    return sorted.prefix(Self.maximumMisfits).map(\.element)
  }
}

/// A link, and what it would be without the slips that links have.
private struct NearMisses {
  private let kind: Form.Kind
  private let rest: String
  private var variants: [(url: ParsedURL, reason: String)] = []

  init(_ url: ParsedURL) {
    kind = url.host != nil ? .authority : url.hasOpaquePath ? .opaque : .rooted
    rest = (url.host.map { "//\($0)" } ?? "") + url.path
    let slash =
      url.path.hasSuffix("/")
      ? (String(rest.dropLast()), "the link has a '/' at the end that '%' has not")
      : (rest + "/", "the link lacks the '/' at the end of '%'")
    let forms = [
      slash, (rest.lowercased(), "the link differs in capitals from '%'"),
      (String(rest.drop { $0 == "/" }), "'%' takes links without '//' after the colon"),
      ("/" + rest.drop { $0 == "/" }, "'%' takes links with one '/' after the colon"),
      ("//" + rest.drop { $0 == "/" }, "'%' takes links with '//' after the colon"),
      ("///" + rest.drop { $0 == "/" }, "'%' takes links with '///' after the colon"),
    ]
    for (text, reason) in forms where text != rest {
      if let variant = try? ParsedURL.parse("\(url.scheme):\(text)") {
        variants.append((variant.canonical, reason))
      }
    }
  }

  /// Why the route's patterns do not fit, and how near the nearest of them is.
  func reason(for route: Route) -> (String, nearness: Int) {
    for (index, variant) in variants.enumerated() {
      if let pattern = route.patterns.first(where: { $0.match(variant.url) != nil }) {
        let parts = variant.reason.split(separator: "%", omittingEmptySubsequences: false)
        // What fits word for word is nearer than what takes anything.
        let nearness = (pattern.captures.isEmpty ? 2_000_000 : 1_000_000) - index
        return (parts.joined(separator: pattern.text), nearness)
      }
    }
    let texts = route.patterns.map { "'\($0)'" }.joined(separator: " nor ")
    let shared = route.patterns.map { zip($0.text.utf8, rest.utf8).prefix { $0 == $1 }.count }.max()
    let isSameKind = route.patterns.contains { $0.forms.contains { $0.kind == kind } }
    let sentence =
      route.patterns.count == 1 ? "its pattern \(texts) does not fit" : "neither \(texts) fits"
    return (sentence, (shared ?? 0) + (isSameKind ? 1_000 : 0))
  }
}
