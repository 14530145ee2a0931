/// The web's URLPattern by the letter of its standard, but for regular expressions.
///
/// Routes use `RoutePattern`, our dialect; this is the standard beside it, one implementation of
/// the syntax for both.
///
/// ```
/// let pattern = try URLPattern("https://*.example.com/books/:id")
/// pattern.exec("https://www.example.com/books/7")?.pathname.groups["id"]  // "7"
/// ```
public struct URLPattern: Sendable {
  /// The components of a pattern or of a URL to match, each of which may be missing:
  /// the standard's `URLPatternInit`.
  public struct Components: Hashable, Sendable {
    public var `protocol`: String?
    public var username: String?
    public var password: String?
    public var hostname: String?
    public var port: String?
    public var pathname: String?
    public var search: String?
    public var hash: String?
    public var baseURL: String?

    public init() {}
  }

  /// What a component of a URL was, and what the groups of its pattern matched.
  public struct ComponentResult: Hashable, Sendable {
    public let input: String
    /// The values by name, or number for a group without one; nil for one that took no part.
    public let groups: [String: String?]
  }

  /// The result of a match: the standard's `URLPatternResult`, without the inputs.
  public struct Result: Hashable, Sendable {
    public let `protocol`: ComponentResult
    public let username: ComponentResult
    public let password: ComponentResult
    public let hostname: ComponentResult
    public let port: ComponentResult
    public let pathname: ComponentResult
    public let search: ComponentResult
    public let hash: ComponentResult
  }

  private let protocolComponent: Component
  private let usernameComponent: Component
  private let passwordComponent: Component
  private let hostnameComponent: Component
  private let portComponent: Component
  private let pathnameComponent: Component
  private let searchComponent: Component
  private let hashComponent: Component

  public var `protocol`: String { protocolComponent.pattern }
  public var username: String { usernameComponent.pattern }
  public var password: String { passwordComponent.pattern }
  public var hostname: String { hostnameComponent.pattern }
  public var port: String { portComponent.pattern }
  public var pathname: String { pathnameComponent.pattern }
  public var search: String { searchComponent.pattern }
  public var hash: String { hashComponent.pattern }

  /// Reads a pattern in the form of a URL; a relative one needs a base URL.
  public init(
    _ text: String, baseURL: String? = nil, ignoreCase: Bool = false
  ) throws(PatternError) {
    var components = try ConstructorString.parse(text)
    if baseURL == nil && components.protocol == nil {
      throw PatternError(.missingBaseURL, at: 0)
    }
    components.baseURL = baseURL
    try self.init(components, ignoreCase: ignoreCase)
  }

  /// Compiles a pattern for each component; a missing one takes everything.
  ///
  /// "Create a URL pattern" of the URLPattern Standard, section 1.5.
  public init(_ components: Components, ignoreCase: Bool = false) throws(PatternError) {
    var parts = try components.processed(for: .pattern, startingFrom: Components())
    if let kind = parts.protocol.map({ SchemeKind($0.utf8) }), case .special(let port) = kind,
      parts.port == String(port)
    {
      parts.port = ""
    }
    protocolComponent = try Component(parts.protocol, .plain, PatternEncoding.scheme)
    usernameComponent = try Component(parts.username, .plain, PatternEncoding.username)
    passwordComponent = try Component(parts.password, .plain, PatternEncoding.password)
    hostnameComponent =
      if parts.hasIPv6Hostname {
        try Component(parts.hostname, .hostname, PatternEncoding.ipv6)
      } else {
        try Component(parts.hostname, .hostname, PatternEncoding.hostname)
      }
    portComponent = try Component(parts.port, .plain, PatternEncoding.port)
    var plain = PatternOptions.plain
    plain.ignoreCase = ignoreCase
    if protocolComponent.matchesSpecialScheme {
      var options = PatternOptions.pathname
      options.ignoreCase = ignoreCase
      pathnameComponent = try Component(parts.pathname, options, PatternEncoding.pathname)
    } else {
      pathnameComponent = try Component(parts.pathname, plain, PatternEncoding.opaquePathname)
    }
    searchComponent = try Component(parts.search, plain, PatternEncoding.search)
    hashComponent = try Component(parts.hash, plain, PatternEncoding.hash)
  }

  /// Whether a URL fits.
  public func test(_ url: String, baseURL: String? = nil) -> Bool {
    exec(url, baseURL: baseURL) != nil
  }

  /// Whether a URL fits of which these components are known; missing ones are empty.
  public func test(_ components: Components) -> Bool { exec(components) != nil }

  /// What a URL's components and the groups are, nil if it does not fit or is no URL.
  public func exec(_ url: String, baseURL: String? = nil) -> Result? {
    guard let url = ParsedURL.resolve(url, against: baseURL) else { return nil }
    var components = Components.empty
    components.protocol = url.scheme
    components.username = url.username
    components.password = url.password
    components.hostname = url.host ?? ""
    components.port = url.port.map { String($0) } ?? ""
    components.pathname = url.path
    components.search = url.query ?? ""
    components.hash = url.fragment ?? ""
    return match(components)
  }

  /// As `exec(_:baseURL:)`, for a URL of which these components are known.
  public func exec(_ components: Components) -> Result? {
    guard let url = try? components.processed(for: .url, startingFrom: .empty) else { return nil }
    return match(url)
  }

  private func match(_ url: Components) -> Result? {
    guard let `protocol` = protocolComponent.match(url.protocol),
      let username = usernameComponent.match(url.username),
      let password = passwordComponent.match(url.password),
      let hostname = hostnameComponent.match(url.hostname),
      let port = portComponent.match(url.port),
      let pathname = pathnameComponent.match(url.pathname),
      let search = searchComponent.match(url.search),
      let hash = hashComponent.match(url.hash)
    else { return nil }
    return Result(
      protocol: `protocol`, username: username, password: password, hostname: hostname,
      port: port, pathname: pathname, search: search, hash: hash)
  }
}

extension URLPattern {
  /// The compiled pattern of one component.
  struct Component: Sendable {
    let pattern: String
    private let program: PatternProgram
    private let names: [String]

    init(
      _ text: String?, _ options: PatternOptions,
      _ encode: @escaping (String) throws(PatternError) -> String
    ) throws(PatternError) {
      let parts = try PatternParser.parse(Array((text ?? "*").unicodeScalars), options) {
        (text, offset) throws(PatternError) in
        do throws(PatternError) {
          return try encode(text)
        } catch {
          throw PatternError(error.reason, at: offset)
        }
      }
      pattern = PatternPart.patternString(parts, options)
      program = PatternProgram(parts, options)
      names = parts.filter { $0.kind != .fixedText }.map(\.name)
    }

    /// "Protocol component matches a special scheme" of the standard.
    var matchesSpecialScheme: Bool {
      ["http", "https", "ws", "wss", "ftp", "file"].contains { match($0) != nil }
    }

    func match(_ text: String?) -> ComponentResult? {
      let input = text ?? ""
      let bytes = Array(input.utf8)
      guard let ranges = program.match(bytes) else { return nil }
      let values = ranges.map { $0.map { String(decoding: bytes[$0], as: UTF8.self) } }
      return ComponentResult(
        input: input, groups: Dictionary(zip(names, values)) { first, _ in first })
    }
  }
}
