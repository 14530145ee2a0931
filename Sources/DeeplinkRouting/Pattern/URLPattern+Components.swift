extension URLPattern.Components {
  /// Whether components are those of a pattern, which stays as it is until it is compiled, or
  /// those of a URL, which are put into canonical form.
  enum Purpose {
    case pattern, url
  }

  /// All components empty, none missing.
  static let empty: Self = {
    var components = Self()
    components.protocol = ""
    components.username = ""
    components.password = ""
    components.hostname = ""
    components.port = ""
    components.pathname = ""
    components.search = ""
    components.hash = ""
    return components
  }()

  /// "Process a URLPatternInit" of the URLPattern Standard, section 3.2.
  func processed(
    for purpose: Purpose, startingFrom defaults: Self
  ) throws(PatternError) -> Self {
    var result = defaults
    let base = try inherit(into: &result, for: purpose)
    let encode = purpose == .url
    if var value = self.protocol {
      if value.unicodeScalars.last == ":" { value.unicodeScalars.removeLast() }
      result.protocol = encode ? try PatternEncoding.scheme(value) : value
    }
    if let username { result.username = encode ? try PatternEncoding.username(username) : username }
    if let password { result.password = encode ? try PatternEncoding.password(password) : password }
    if let hostname { result.hostname = encode ? try PatternEncoding.hostname(hostname) : hostname }
    let scheme = result.protocol ?? ""
    if let port {
      result.port = encode ? try PatternEncoding.port(port, scheme: scheme) : port
    }
    if var value = pathname {
      if let base, !base.hasOpaquePath, !isAbsolute(value, purpose) {
        let path = purpose == .pattern ? PatternPart.escape(base.path) : base.path
        if let slash = path.lastIndex(of: "/") { value = path[...slash] + value }
      }
      let isHierarchical = scheme.isEmpty || SchemeKind(scheme.utf8).isSpecial
      result.pathname =
        !encode
        ? value
        : isHierarchical
          ? try PatternEncoding.pathname(value) : try PatternEncoding.opaquePathname(value)
    }
    if var value = search {
      if value.unicodeScalars.first == "?" { value.unicodeScalars.removeFirst() }
      result.search = encode ? try PatternEncoding.search(value) : value
    }
    if var value = hash {
      if value.unicodeScalars.first == "#" { value.unicodeScalars.removeFirst() }
      result.hash = encode ? try PatternEncoding.hash(value) : value
    }
    return result
  }

  /// Takes from the base URL what comes before the first component that is given.
  private func inherit(
    into result: inout Self, for purpose: Purpose
  ) throws(PatternError) -> ParsedURL? {
    guard let baseURL else { return nil }
    guard let base = try? ParsedURL.parse(Array(baseURL.utf8)) else {
      throw PatternError(.baseURL(baseURL), at: 0)
    }
    func text(_ value: String) -> String {
      purpose == .pattern ? PatternPart.escape(value) : value
    }
    if self.protocol == nil { result.protocol = text(base.scheme) }
    let hasAuthority = self.protocol != nil || hostname != nil || port != nil
    if purpose == .url, !hasAuthority, username == nil {
      result.username = base.username
      if password == nil { result.password = base.password }
    }
    if self.protocol == nil && hostname == nil { result.hostname = text(base.host ?? "") }
    if hasAuthority { return base }
    result.port = base.port.map { String($0) } ?? ""
    if pathname != nil { return base }
    result.pathname = text(base.path)
    if search != nil { return base }
    result.search = text(base.query ?? "")
    if hash == nil { result.hash = text(base.fragment ?? "") }
    return base
  }

  /// "Hostname pattern is an IPv6 address".
  var hasIPv6Hostname: Bool {
    guard let start = hostname?.unicodeScalars.prefix(2), start.count == 2 else { return false }
    return start.first == "[" || start.last == "[" && (start.first == "{" || start.first == "\\")
  }

  /// "Is an absolute pathname".
  private func isAbsolute(_ path: String, _ purpose: Purpose) -> Bool {
    let scalars = path.unicodeScalars
    return scalars.first == "/"
      || purpose == .pattern
        && (scalars.starts(with: ["\\", "/"]) || scalars.starts(with: ["{", "/"]))
  }
}
