import DeeplinkRouting

/// A person's word in the settings on a plugin or one of its routes.
public enum ConsentRule: String, Sendable, Hashable, CaseIterable {
  case allow, ask, deny
}

/// What a person can set in `settings.json`; each with its default (times in seconds in the file).
public struct Settings: Hashable, Sendable {
  /// Of a link, in bytes.
  public var maximumLength = 65_536
  public var maximumHops = 3
  /// Until a target must be ready.
  public var launchTimeout = Duration.seconds(20)
  /// Until a target must have answered.
  public var timeout = Duration.seconds(30)
  /// How old an accepted link may be when a daemon that was started again hands it over.
  public var expiry = Duration.seconds(60)
  public var queue = Queue()
  public var rates = Rates()
  public var history = History()
  /// Schemes of URLs that may be sent out, beside those with a registered plugin.
  public var outgoingSchemes: Set<String> = ["https", "http", "mailto"]
  /// By `PLUGIN` or `PLUGIN/ROUTE`.
  public var consent: [String: ConsentRule] = [:]
  /// Paths of certificates (PEM) that are trusted for domains in developer mode.
  public var certificateAuthorities: [String] = []

  /// How many links may wait.
  public struct Queue: Hashable, Sendable {
    public var perTarget = 1024
    public var total = 4096
  }

  /// How many links are taken: in a burst, and every second, of each source and scheme and over all.
  public struct Rates: Hashable, Sendable {
    public var isEnabled = true
    public var burst = 100
    public var perSecond = 20
    public var totalBurst = 500
    public var totalPerSecond = 100
  }

  /// What is remembered of links.
  public struct History: Hashable, Sendable {
    public var isEnabled = true
    /// Whether values of parameters that are not sensitive are kept too.
    public var keepsValues = false
    public var days = 30
    public var entries = 100_000

    public init() {}
  }

  public init() {}

  /// What would make a browser or a viewer do something else than show a page.
  static let neverSent: Set<String> = ["file", "data", "javascript", "vbscript"]

  /// The person's word on a route: the one on the route itself, else the one on its plugin.
  public func consentRule(_ plugin: PluginID, _ route: String) -> ConsentRule? {
    consent["\(plugin)/\(route)"] ?? consent[plugin.text]
  }
}

extension Settings {
  private static let keys = [
    "maximumLength", "maximumHops", "launchTimeout", "timeout", "expiry", "queue", "rates",
    "consent", "history", "outgoingSchemes", "certificateAuthorities",
  ]

  /// Reads settings; what is wrong stands in `diagnostics`, and keeps its default.
  public init(json value: JSONValue, file: String, diagnostics: inout [Diagnostic]) {
    let found = Diagnostics(file: file)
    if let reader = ObjectReader(value, at: "$", keys: Self.keys, in: found) {
      read(reader, found)
    }
    diagnostics += found.list
  }

  private mutating func read(_ reader: ObjectReader, _ found: Diagnostics) {
    if let value = reader.integer("maximumLength", in: 256...1_048_576) {
      maximumLength = Int(value)
    }
    if let value = reader.integer("maximumHops", in: 0...100) { maximumHops = Int(value) }
    launchTimeout = reader.seconds("launchTimeout") ?? launchTimeout
    timeout = reader.seconds("timeout") ?? timeout
    expiry = reader.seconds("expiry") ?? expiry
    if let value = reader.members["queue"],
      let part = ObjectReader(value, at: "$.queue", keys: ["perTarget", "total"], in: found)
    {
      if let value = part.integer("perTarget", in: 1...65_536) { queue.perTarget = Int(value) }
      if let value = part.integer("total", in: 1...262_144) { queue.total = Int(value) }
    }
    if let value = reader.members["rates"],
      let part = ObjectReader(
        value, at: "$.rates",
        keys: ["enabled", "burst", "perSecond", "totalBurst", "totalPerSecond"], in: found)
    {
      rates.isEnabled = part.boolean("enabled") ?? rates.isEnabled
      let range: ClosedRange<Int64> = 1...1_000_000
      if let value = part.integer("burst", in: range) { rates.burst = Int(value) }
      if let value = part.integer("perSecond", in: range) { rates.perSecond = Int(value) }
      if let value = part.integer("totalBurst", in: range) { rates.totalBurst = Int(value) }
      if let value = part.integer("totalPerSecond", in: range) {
        rates.totalPerSecond = Int(value)
      }
    }
    if let schemes = reader.strings("outgoingSchemes") {
      for scheme in schemes {
        if Self.neverSent.contains(scheme) {
          reader.error("outgoingSchemes", "'\(scheme)' URLs are never sent out")
        } else if Scheme(scheme)?.text != scheme {
          reader.error(
            "outgoingSchemes", "'\(scheme)' is no scheme", hint: "in lower case, without a colon")
        }
      }
      outgoingSchemes = Set(schemes).subtracting(Self.neverSent)
    }
    if let value = reader.members["consent"] {
      let place = reader.path(of: "consent")
      for (key, value) in value.object ?? [:] {
        if !Self.isPluginOrRoute(key) {
          found.error(
            ObjectReader.path(place, key), "'\(key)' is no plugin, and no route of one",
            hint: "PLUGIN or PLUGIN/ROUTE, as in com.example.Photos/import")
        }
        if let rule = value.string.flatMap(ConsentRule.init) {
          consent[key] = rule
        } else {
          found.error(ObjectReader.path(place, key), "expected \"allow\", \"ask\" or \"deny\"")
          // Not what was meant, and nothing that was not asked about.
          consent[key] = .ask
        }
      }
      if value.object == nil { found.error(place, "expected an object, found \(value.kind)") }
    }
    if let value = reader.members["history"],
      let part = ObjectReader(
        value, at: "$.history", keys: ["enabled", "values", "days", "entries"], in: found)
    {
      history.isEnabled = part.boolean("enabled") ?? history.isEnabled
      history.keepsValues = part.boolean("values") ?? history.keepsValues
      if let value = part.integer("days", in: 1...3650) { history.days = Int(value) }
      if let value = part.integer("entries", in: 1...10_000_000) { history.entries = Int(value) }
    }
    if let paths = reader.strings("certificateAuthorities") {
      for path in paths where !path.hasPrefix("/") {
        reader.error("certificateAuthorities", "'\(path)' is no absolute path")
      }
      certificateAuthorities = paths.filter { $0.hasPrefix("/") }
    }
  }

  private static func isPluginOrRoute(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return (1...2).contains(parts.count) && (try? PluginID(String(parts[0]))) != nil
      && parts.dropFirst().allSatisfy { Route.isName(String($0)) }
  }

  /// Reads the file at `path`; defaults where there is none.
  ///
  /// Nil, and the reason, for one that cannot be read or is no JSON5: then whoever has settings keeps
  /// them.
  public static func read(_ path: String) -> (settings: Settings?, diagnostics: [Diagnostic]) {
    guard SmallFile.version(path) != nil else { return (Settings(), []) }
    guard let bytes = SmallFile.read(path, limit: 1 << 20) else {
      let reason = "it cannot be read, or is longer than 1 MiB"
      return (nil, [Diagnostic(.error, file: path, reason: reason)])
    }
    do throws(JSONError) {
      var diagnostics: [Diagnostic] = []
      let settings = Settings(
        json: try JSONValue(json5: bytes), file: path, diagnostics: &diagnostics)
      return (settings, diagnostics)
    } catch {
      let reason = "\(error.reason) (line \(error.line), column \(error.column))"
      return (nil, [Diagnostic(.error, file: path, reason: reason)])
    }
  }
}

extension Settings {
  /// The file of a person's settings.
  public static func path(_ directories: BaseDirectories) -> String {
    "\(directories.configHome)/deeplinkd/settings.json"
  }

  /// Whether a link for this route is asked about, in words: the settings' word where there is one,
  /// else the author's, and which sources need not ask any more.
  public func consentText(_ plugin: Plugin, _ route: Route, grants: Grants) -> String {
    let rule = consentRule(plugin.id, route.name)
    switch rule {
    case .allow: return "allowed by the settings"
    case .deny: return "denied by the settings"
    case .ask, nil: break
    }
    guard rule == .ask || route.consent != .notAsked else { return route.consent.rawValue }
    let asked =
      route.consent == .notAsked ? Route.Consent.atFirstUse.rawValue : route.consent.rawValue
    guard route.consent != .always else { return asked }
    let sources = grants.sources(allowedOn: plugin.id, route)
    return sources.isEmpty
      ? asked : "\(asked), always allowed for \(sources.joined(separator: ", "))"
  }
}
