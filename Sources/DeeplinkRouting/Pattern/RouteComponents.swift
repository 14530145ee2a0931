/// A route's pattern taken apart: its host, port and path, each parsed, and the forms they make.
struct RouteComponents {
  private var hasAuthority = false
  private var host: [PatternPart] = []
  private var port: [PatternPart] = []
  private var path: [PatternPart] = []

  init(_ text: String) throws(PatternError) {
    let scalars = Array(text.unicodeScalars)
    guard scalars.count <= RoutePattern.maximumLength else {
      throw PatternError(.tooLong, at: RoutePattern.maximumLength)
    }
    let tokens = try PatternToken.tokenize(scalars, .lenient)
    if let fragment = tokens.first(where: { $0.kind == .char && scalars[$0.index] == "#" }) {
      throw PatternError(.fragment, at: fragment.index)
    }
    hasAuthority = scalars.starts(with: ["/", "/"])
    var pathStart = 0
    if hasAuthority {
      let ends = try RouteComponents.authority(tokens, scalars)
      host = try RouteComponents.host(scalars, 2..<ends.host)
      port = try RouteComponents.port(scalars, min(ends.host + 1, ends.port)..<ends.port)
      pathStart = ends.port
    }
    path = try RouteLiteral.path(
      RouteComponents.parse(scalars, pathStart..<scalars.count, .pathname),
      rooted: hasAuthority || scalars.first == "/")
    try RouteComponents.checkGroups(host + port + path)
  }

  /// The named groups.
  var captures: [Capture] {
    let places: [(Capture.Place, [PatternPart])] = [(.host, host), (.port, port), (.path, path)]
    return places.flatMap { place, parts in
      parts.filter { $0.kind != .fixedText && $0.isNamed }.map { part in
        let repeats = part.modifier == .zeroOrMore || part.modifier == .oneOrMore
        return Capture(
          name: part.name, place: place,
          spansSegments: repeats && !(part.prefix + part.suffix).isEmpty,
          optional: part.modifier == .optional || part.modifier == .zeroOrMore)
      }
    }
  }

  /// Each combination of the optional groups, those with more of them first.
  func forms() throws(PatternError) -> [Form] {
    let all = host + port + path
    let optional = all.indices.filter {
      all[$0].modifier == .optional || all[$0].modifier == .zeroOrMore
    }
    // 2^5 = 32.
    guard optional.count <= RoutePattern.maximumForms.trailingZeroBitCount else {
      throw PatternError(
        .tooManyForms, at: all[optional[RoutePattern.maximumForms.trailingZeroBitCount]].offset)
    }
    var forms: [Form] = []
    var shapes: Set<FormShape> = []
    for absent in 0..<1 << optional.count {
      var parts = all.map(Optional.some)
      for (bit, index) in optional.enumerated() {
        // The first group is the highest bit: it goes last, as in a greedy match.
        if absent & 1 << (optional.count - 1 - bit) != 0 {
          parts[index] = nil
        } else {
          parts[index]?.modifier = all[index].modifier == .optional ? .once : .oneOrMore
        }
      }
      let form = makeForm(parts)
      if shapes.insert(form.shape).inserted { forms.append(form) }
    }
    return forms
  }

  private func makeForm(_ parts: [PatternPart?]) -> Form {
    let host = parts[..<self.host.count].compactMap(\.self)
    let rest = parts[self.host.count...]
    let port = rest.prefix(self.port.count).compactMap(\.self)
    let path = rest.dropFirst(self.port.count).compactMap(\.self)
    let kind: Form.Kind
    if hasAuthority {
      kind = .authority
    } else {
      let start = path.first.map { $0.value + $0.prefix }
      kind = start?.utf8.first == UInt8(ascii: "/") ? .rooted : .opaque
    }
    return Form(kind: kind, host: host, port: port, path: path)
  }

  /// Holds the limit of groups, and that each name is used once.
  static func checkGroups(_ parts: [PatternPart]) throws(PatternError) {
    let groups = parts.filter { $0.kind != .fixedText || $0.modifier != .once }
    guard groups.count <= RoutePattern.maximumGroups else {
      throw PatternError(.tooManyGroups, at: groups[RoutePattern.maximumGroups].offset)
    }
    var names: Set<String> = []
    for group in groups where group.isNamed {
      guard names.insert(group.name).inserted else {
        throw PatternError(.duplicateName(group.name), at: group.offset)
      }
    }
  }

  // MARK: Taking apart

  /// Where host and port end: as "parse a constructor string" finds it, but a `?` ends nothing.
  private static func authority(
    _ tokens: [PatternToken], _ scalars: [Unicode.Scalar]
  ) throws(PatternError) -> (host: Int, port: Int) {
    var depth = 0
    var brackets = 0
    var hostEnd: Int?
    for token in tokens.dropFirst(2) {
      switch token.kind {
      case .open: depth += 1
      case .close: depth -= 1
      case .char, .escapedChar, .invalidChar:
        if depth > 0 { continue }
        switch scalars[token.value.lowerBound] {
        case "/": return (hostEnd ?? token.index, token.index)
        case "@": throw PatternError(.credentials, at: token.index)
        case "[": brackets += 1
        case "]": brackets -= 1
        case ":" where brackets == 0 && hostEnd == nil: hostEnd = token.index
        default: continue
        }
      default: continue
      }
    }
    return (hostEnd ?? scalars.count, scalars.count)
  }

  private static func host(
    _ scalars: [Unicode.Scalar], _ range: Range<Int>
  ) throws(PatternError) -> [PatternPart] {
    try RouteLiteral.host(parse(scalars, range, .hostname))
  }

  private static func port(
    _ scalars: [Unicode.Scalar], _ range: Range<Int>
  ) throws(PatternError) -> [PatternPart] {
    try RouteLiteral.port(parse(scalars, range, .plain))
  }

  /// Parses a part of the text, with offsets that count from the text's start.
  static func parse(
    _ scalars: [Unicode.Scalar], _ range: Range<Int>, _ options: PatternOptions
  ) throws(PatternError) -> [PatternPart] {
    do throws(PatternError) {
      return try PatternParser.parse(Array(scalars[range]), options) { text, _ in text }
        .map { part in
          var part = part
          part.offset += range.lowerBound
          return part
        }
    } catch {
      throw PatternError(error.reason, at: error.offset + range.lowerBound)
    }
  }
}
