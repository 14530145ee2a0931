/// Why a pattern is not one: a fact, and the place of it in the pattern's text.
public struct PatternError: Error, Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    /// `(…)`, which both our dialect and our bare URLPattern leave out.
    case regexpGroup
    /// A backslash with nothing after it.
    case loneBackslash
    /// A colon that no name follows.
    case missingName
    /// A name that was used before in this component, or anywhere in a route's pattern.
    case duplicateName(String)
    /// `{` without its `}`.
    case unclosedGroup
    /// `}` without its `{`.
    case unopenedGroup
    /// `{` inside `{…}`.
    case nestedGroup
    /// A second `:name` or `*` inside one `{…}`.
    case crowdedGroup
    /// `?` or `+` after something that is no group.
    case misplacedModifier(Character)
    /// A `#` in what a route matches, which has no fragment.
    case fragment
    /// An `@` in the host of what a route matches.
    case credentials
    /// Text that no host can hold.
    case host(String)
    /// Text that is no port between 0 and 65,535.
    case port(String)
    /// Text that cannot stand in this component of a URL.
    case component(String)
    /// A base URL that the URL parser refuses.
    case baseURL(String)
    /// A relative pattern without a base URL.
    case missingBaseURL
    /// More than `RoutePattern.maximumForms` forms.
    case tooManyForms
    /// More than `RoutePattern.maximumGroups` groups.
    case tooManyGroups
    /// More than `RoutePattern.maximumLength` characters.
    case tooLong
  }

  public let reason: Reason
  /// Where in the text, counted in Unicode scalars from 0; for a `URLPattern` where in the text of
  /// the component.
  public let offset: Int

  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

extension PatternError: CustomStringConvertible {
  /// The sentence for people, without the place.
  public var description: String {
    switch reason {
    case .regexpGroup: "a pattern takes no regular expression '(…)'"
    case .loneBackslash: "the pattern ends in a '\\' that escapes nothing"
    case .missingName: "a ':' has no name after it"
    case .duplicateName(let name): "the name ':\(name)' is used twice"
    case .unclosedGroup: "a '{' is not closed"
    case .unopenedGroup: "a '}' closes nothing"
    case .nestedGroup: "a '{' stands inside another group"
    case .crowdedGroup: "a '{…}' group holds more than one name or wildcard"
    case .misplacedModifier(let sign): "a '\(sign)' follows no group"
    case .fragment: "a '#' stands in the pattern, which has no fragment"
    case .credentials: "an '@' stands in the host"
    case .host(let text): "'\(text)' cannot be part of a host"
    case .port(let text): "'\(text)' is no port"
    case .component(let text): "'\(text)' cannot stand in this part of a URL"
    case .baseURL(let text): "'\(text)' is no absolute URL"
    case .missingBaseURL: "the pattern is relative and has no base URL"
    case .tooManyForms: "the optional groups make more than \(RoutePattern.maximumForms) forms"
    case .tooManyGroups: "the pattern has more than \(RoutePattern.maximumGroups) groups"
    case .tooLong: "the pattern is longer than \(RoutePattern.maximumLength) characters"
    }
  }

  /// What can be done about it, where something can.
  public var hint: String? {
    switch reason {
    case .regexpGroup: "use a parameter's pattern; a literal parenthesis is '\\('"
    case .loneBackslash: "a literal backslash is '\\\\'"
    case .missingName:
      "a literal colon is '\\:'; 'match' is what follows the scheme and its colon"
    case .duplicateName: "give each group a name of its own"
    case .unclosedGroup, .unopenedGroup: "a literal brace is '\\{' or '\\}'"
    case .nestedGroup, .crowdedGroup: "write one group after the other, or two patterns"
    case .misplacedModifier("?"):
      "put what is optional into '{…}?'; query parameters are declared, not matched"
    case .misplacedModifier: "put what repeats into '{…}'; a literal sign is escaped with '\\'"
    case .fragment: "use the route's \"fragment\"; a literal '#' is '\\#'"
    case .credentials: "credentials are never matched"
    case .host: "a path begins with a '/' that stands in no group"
    case .port: "write ':8080', ':*' or '::name' after the host"
    case .component: nil
    case .baseURL, .missingBaseURL: "give an absolute URL as the base"
    case .tooManyForms: "write separate routes"
    case .tooManyGroups, .tooLong: "write a shorter pattern"
    }
  }
}
