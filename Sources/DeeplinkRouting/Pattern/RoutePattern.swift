/// What a route matches: our dialect of the web's URLPattern, for what follows `scheme:`.
///
/// `//host/path` takes URLs with an authority, `/path` those with a path alone, `path` opaque
/// ones. The syntax and its meaning are the URLPattern Standard's, each component matched apart,
/// with rules of ours:
///
/// - a `:name` in any path stops at `/`, and a `/` before a group belongs to it;
/// - there are no regular expressions;
/// - `//host` means an empty path or `/`; without a port only URLs without one fit;
/// - `?` is always a modifier;
/// - fixed text is put into canonical form, as URLs are before they are matched.
///
/// ```
/// ✅ :album   /photos/:id   //album/:album/:page?   //:user.example/*   //host::port/
/// ❌ photos:album (the scheme)   /photos?id=:id (a query)   /:id(\d+) (a regular expression)
/// ```
public struct RoutePattern: Hashable, Sendable, CustomStringConvertible {
  /// How many forms the optional groups of a pattern may make.
  public static let maximumForms = 32
  /// How many groups a pattern may have, which bounds the work of a match.
  public static let maximumGroups = 64
  /// How many Unicode scalars a pattern may have.
  public static let maximumLength = 4096

  /// The pattern as it was written.
  public let text: String
  /// The groups with a name, in the order of the text.
  public let captures: [Capture]
  /// What the pattern's optional groups make of it, the form with all of them first.
  public let forms: [Form]
  /// The indices of the forms, the most specific first.
  private let preference: [Int]

  public init(_ text: String) throws(PatternError) {
    let components = try RouteComponents(text)
    self.text = text
    captures = components.captures
    forms = try components.forms()
    let ranks = forms.map { Specificity($0.shape) }
    preference = forms.indices.sorted { (ranks[$1], $0) < (ranks[$0], $1) }
  }

  public var description: String { text }

  public static func == (left: RoutePattern, right: RoutePattern) -> Bool {
    left.text == right.text
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// The raw values of the most specific form that fits a canonical URL, nil if none fits.
  public func match(_ url: ParsedURL) -> [CapturedValue]? {
    let target = FormTarget(url)
    for form in preference.lazy.map({ forms[$0] }) {
      if let groups = form.groups(in: target) {
        return CapturedValue.pair(form.groupNames, groups)
      }
    }
    return nil
  }
}

/// A named group of a route's pattern.
public struct Capture: Hashable, Sendable {
  public enum Place: Hashable, Sendable {
    case host, port, path
  }

  public let name: String
  public let place: Place
  /// Whether the value may hold several segments, `/` or `.` between them: `/:x+`, `/:x*`.
  public let spansSegments: Bool
  /// Whether there are URLs that fit and have no value for it.
  public let optional: Bool
}

/// What a name of a pattern stands for in a URL that fits: raw, its escapes not decoded.
public struct CapturedValue: Hashable, Sendable {
  public let name: String
  public let value: String

  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// The named ones of some groups.
  static func pair(_ names: [String?], _ groups: [ArraySlice<UInt8>]) -> [CapturedValue] {
    zip(names, groups).compactMap { name, group in
      name.map { CapturedValue(name: $0, value: String(decoding: group, as: UTF8.self)) }
    }
  }
}
