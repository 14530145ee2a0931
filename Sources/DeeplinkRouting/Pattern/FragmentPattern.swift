/// A pattern for a URL's fragment: the syntax of `RoutePattern` for one component, whose `:name`
/// stops at nothing.
public struct FragmentPattern: Hashable, Sendable, CustomStringConvertible {
  /// The pattern as it was written, without `#`.
  public let text: String
  /// The names, in the order of the text.
  public let names: [String]
  private let program: PatternProgram
  private let groups: [String?]

  public init(_ text: String) throws(PatternError) {
    let scalars = Array(text.unicodeScalars)
    guard scalars.count <= RoutePattern.maximumLength else {
      throw PatternError(.tooLong, at: RoutePattern.maximumLength)
    }
    let parts = try RouteLiteral.fragment(
      PatternParser.parse(scalars, .plain) { text, _ in text })
    try RouteComponents.checkGroups(parts)
    self.text = text
    program = PatternProgram(parts, .plain)
    groups = parts.filter { $0.kind != .fixedText }.map { $0.isNamed ? $0.name : nil }
    names = groups.compactMap(\.self)
  }

  public var description: String { text }

  /// The raw values if a canonical URL's fragment fits, else nil; none for a group that is absent.
  public func matches(_ fragment: String) -> [CapturedValue]? {
    let bytes = Array(fragment.utf8)
    return program.match(bytes).map { ranges in
      zip(groups, ranges).compactMap { name, range in
        guard let name, let range else { return nil }
        return CapturedValue(name: name, value: String(decoding: bytes[range], as: UTF8.self))
      }
    }
  }
}
