/// One declared, or captured, parameter of a route.
public struct Parameter: Sendable, Hashable {
  /// Where a parameter comes from that the pattern does not capture.
  public enum Place: String, Sendable, Hashable {
    case query
    case fragment
    /// A preset's: some servers answer in the query, others in the fragment.
    case queryOrFragment
    /// Captured by a pattern and not declared: it has no other place.
    case capture
  }

  public var name: String
  public var rule: ValueRule
  public var place: Place
  public var isRequired: Bool
  public var isSensitive: Bool
  /// What an absent one is; checked against the rule when the manifest is read.
  public var standard: ParameterValue?

  public init(
    name: String, rule: ValueRule, place: Place = .query, isRequired: Bool = false,
    isSensitive: Bool = false, standard: ParameterValue? = nil
  ) {
    self.name = name
    self.rule = rule
    self.place = place
    self.isRequired = isRequired
    self.isSensitive = isSensitive || SensitiveNames.contains(name)
    self.standard = standard
  }

  /// Whether the text of a value can begin with `-`, which a program takes for an option.
  ///
  /// Absence counts as nothing: see `canBeEmpty`.
  var canBeginWithHyphen: Bool { Self.canBeginWithHyphen(rule) }

  private static func canBeginWithHyphen(_ rule: ValueRule) -> Bool {
    if let allowed = rule.allowed { return allowed.contains { $0.text().hasPrefix("-") } }
    switch rule.kind {
    case .boolean: return false
    case .integer, .number:
      guard let minimum = rule.minimum else { return true }
      return ParameterValue.isLess(minimum, .integer(0))
    case .string:
      return switch rule.format {
      case .uuid, .date, .dateTime, .uri: false
      case .email, .relativePath, nil: true
      }
    case .array(let items): return canBeginWithHyphen(items) || canBeEmpty(items)
    }
  }

  /// Whether a template may find nothing in the parameter's place.
  var canBeEmpty: Bool {
    (!isRequired && standard == nil) || rule.allowsNull || Self.canBeEmpty(rule)
  }

  private static func canBeEmpty(_ rule: ValueRule) -> Bool {
    switch rule.kind {
    case .string:
      if let allowed = rule.allowed { return allowed.contains(.string("")) }
      return (rule.minLength ?? 0) == 0 && rule.format == nil
    case .boolean, .integer, .number: return false
    case .array: return true
    }
  }
}
