/// The secrets of one link, so that what is shown of it can go without them.
///
/// A name in the query or fragment is secret if a route that was looked at says so, or by its name
/// alone; a captured value where its parameter is. Where nobody has the link's scheme nothing is
/// known about it, and nothing is hidden.
struct Secrets {
  /// Nil: nothing is hidden.
  private let names: Set<String>?
  /// Decoded parts of hosts and paths.
  private let parts: [[UInt8]]

  static let none = Secrets(names: nil, parts: [])

  private init(names: Set<String>?, parts: [[UInt8]]) {
    self.names = names
    self.parts = parts
  }

  var hides: Bool { names != nil }

  /// - Parameter routes: Those whose patterns were looked at.
  init(in url: ParsedURL, routes: [Route]) {
    var names: Set<String> = []
    var parts: [[UInt8]] = []
    for route in routes {
      let sensitive = Set(route.parameters.filter(\.isSensitive).map(\.name))
      names.formUnion(sensitive)
      guard !sensitive.isEmpty else { continue }
      let captures =
        route.patterns.compactMap { $0.match(url) }.joined()
        + (route.fragment.flatMap { $0.matches(url.fragment ?? "") } ?? [])
      for capture in captures where sensitive.contains(capture.name) {
        parts += capture.value.utf8.split(whereSeparator: { "/.".utf8.contains($0) })
          .map { PercentEncoding.decode($0) }
      }
    }
    self.init(names: names, parts: parts)
  }

  /// The components of a URL with its secrets replaced, and the whole.
  struct Masked {
    var href: String
    var password: String
    var host: String?
    var path: String
    var query: String?
    var fragment: String?
  }

  func mask(_ url: ParsedURL) -> Masked {
    var masked = Masked(
      href: url.href, password: url.password, host: url.host, path: url.path, query: url.query,
      fragment: url.fragment)
    guard names != nil else { return masked }
    if !masked.password.isEmpty { masked.password = Self.replacement(Array(masked.password.utf8)) }
    masked.host = masked.host.map { maskParts($0, separator: ".") }
    masked.path = maskParts(masked.path, separator: "/")
    masked.query = masked.query.map(maskPairs)
    masked.fragment = masked.fragment.map { maskParts(maskPairs($0), separator: "/") }
    masked.href = "\(url.scheme):"
    if let host = masked.host {
      let user = masked.password.isEmpty ? url.username : "\(url.username):\(masked.password)"
      let port = url.port.map { ":\($0)" } ?? ""
      masked.href += "//\(user.isEmpty ? "" : "\(user)@")\(host)\(port)"
    } else if masked.path.hasPrefix("//") {
      masked.href += "/."
    }
    masked.href += masked.path
    if let query = masked.query { masked.href += "?\(query)" }
    if let fragment = masked.fragment { masked.href += "#\(fragment)" }
    return masked
  }

  /// A part is replaced whole, also where the secret is not all of it.
  private func maskParts(_ text: String, separator: Character) -> String {
    guard !parts.isEmpty else { return text }
    return text.split(separator: separator, omittingEmptySubsequences: false).map { part in
      let decoded = PercentEncoding.decode(part.utf8)
      return parts.contains { !$0.isEmpty && decoded.holds($0) }
        ? Self.replacement(decoded) : String(part)
    }.joined(separator: String(separator))
  }

  private func maskPairs(_ text: String) -> String {
    text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      guard let equals = pair.firstIndex(of: "="), equals < pair.index(before: pair.endIndex) else {
        return String(pair)
      }
      let name = String(decoding: PercentEncoding.decode(pair[..<equals].utf8), as: UTF8.self)
      guard SensitiveNames.contains(name) || names?.contains(name) == true else {
        return String(pair)
      }
      let value = PercentEncoding.decode(pair[pair.index(after: equals)...].utf8)
      return "\(pair[...equals])\(Self.replacement(value))"
    }.joined(separator: "&")
  }

  private static func replacement(_ secret: [UInt8]) -> String {
    SensitiveNames.redacted(String(decoding: secret, as: UTF8.self))
      .split(separator: " ").joined(separator: "%20")
  }
}
