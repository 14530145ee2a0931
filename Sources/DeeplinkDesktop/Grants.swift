import DeeplinkRouting
import Glibc

/// What a person has allowed for good: which source may use which route.
///
/// A grant is for the text of the route's action, effect and sandbox, kept in full, so that it needs no
/// digest and a person can read what was agreed to; a manifest that changes any of it is asked about
/// again. The file is replaced as a whole, and is the person's alone.
public struct Grants: Hashable, Sendable {
  public struct Grant: Hashable, Sendable {
    public var plugin: String
    public var route: String
    /// `Route.grantText` at the time of the answer.
    public var action: String
    /// A source's key, or `*`.
    public var source: String
    /// Seconds since 1970.
    public var time: Double

    public init(plugin: Plugin, route: Route, source: String, time: Double) {
      self.plugin = plugin.id.text
      self.route = route.name
      action = route.grantText
      self.source = source
      self.time = time
    }
  }

  public var list: [Grant] = []

  public init() {}

  /// The source of a grant that holds for all of them.
  public static let everySource = "*"
  /// Before the scheme and host that results may be sent to.
  public static let callbackPrefix = "callback:"

  /// Whether `source`, or every one, may use the route as its manifest is now.
  public func allows(_ plugin: PluginID, _ route: Route, source: String) -> Bool {
    allowsExactly(plugin, route, source: source)
      || allowsExactly(plugin, route, source: Self.everySource)
  }

  /// The same without the grants for every source.
  public func allowsExactly(_ plugin: PluginID, _ route: Route, source: String) -> Bool {
    let action = route.grantText
    return list.contains {
      $0.plugin == plugin.text && $0.route == route.name && $0.action == action
        && $0.source == source
    }
  }

  /// The sources that may use the route as its manifest is now, every one as "every source".
  func sources(allowedOn plugin: PluginID, _ route: Route) -> [String] {
    let action = route.grantText
    return list.filter { $0.plugin == plugin.text && $0.route == route.name && $0.action == action }
      .map { $0.source == Self.everySource ? "every source" : $0.source }
      .filter { !$0.hasPrefix(Self.callbackPrefix) }.sorted()
  }

  /// Adds a grant in the place of an earlier one for the same route and source.
  public mutating func add(_ grant: Grant) {
    list.removeAll {
      $0.plugin == grant.plugin && $0.route == grant.route && $0.source == grant.source
    }
    list.append(grant)
  }

  /// Allows every source to use each route of `plugin` that would be asked about at first use, as the
  /// manifest is now.
  public mutating func allowAll(_ plugin: Plugin, time: Double) {
    for route in plugin.routes where route.consent == .atFirstUse {
      add(Grant(plugin: plugin, route: route, source: Self.everySource, time: time))
    }
  }

  /// Takes back what fits; nil fits all.
  ///
  /// Returns how many were taken back.
  public mutating func revoke(plugin: String, route: String?, source: String?) -> Int {
    let count = list.count
    list.removeAll {
      $0.plugin == plugin && (route == nil || $0.route == route)
        && (source == nil || $0.source == source)
    }
    return count - list.count
  }
}

// MARK: The file

extension Grants {
  public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public init(description: String) { self.description = description }
  }

  private static let maximumBytes = 16 << 20

  public static func path(_ directories: BaseDirectories) -> String {
    "\(directories.state)/grants.json"
  }

  /// What the file says; nothing where there is none.
  public static func read(_ path: String) throws(FileError) -> Grants {
    guard let bytes = try bytes(of: path) else { return Grants() }
    guard let value = try? JSONValue(json5: bytes), let list = value["grants"]?.array else {
      throw FileError(description: "'\(path)' is no list of grants")
    }
    var grants = Grants()
    grants.list = list.compactMap(Grant.init)
    return grants
  }

  /// Replaces the file by a rename, so that no reader sees half of it.
  public func write(_ path: String) throws(FileError) {
    let folder = path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
    var parent = ""
    for part in folder.split(separator: "/") {
      parent += "/\(part)"
      _ = unsafe mkdir(parent, 0o700)
    }
    let json: JSONValue = ["version": 1, "grants": .array(list.map(\.json))]
    let bytes = Array((json.description + "\n").utf8)
    let new = "\(path).\(getpid()).new"
    let file = unsafe open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw .system(path) }
    let written = unsafe Glibc.write(file, bytes, bytes.count)
    let isKept = written == bytes.count && fsync(file) == 0
    guard close(file) == 0, isKept, unsafe rename(new, path) == 0 else {
      let error = FileError.system(path)
      _ = unsafe unlink(new)
      throw error
    }
  }

  private static func bytes(of path: String) throws(FileError) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(path)
    }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      if count == 0 { return bytes }
      guard count > 0 else { throw .system(path) }
      bytes += buffer[..<count]
      guard bytes.count <= maximumBytes else {
        throw FileError(description: "'\(path)' has more than \(maximumBytes) bytes")
      }
    }
  }
}

extension Grants.FileError {
  fileprivate static func system(_ path: String) -> Grants.FileError {
    Grants.FileError(description: "'\(path)': \(unsafe String(cString: strerror(errno)))")
  }
}

extension Grants.Grant {
  public var json: JSONValue {
    [
      "plugin": .string(plugin), "route": .string(route), "source": .string(source),
      "time": .number(time), "action": .string(action),
    ]
  }

  fileprivate init?(_ value: JSONValue) {
    guard let plugin = value["plugin"]?.string, let route = value["route"]?.string,
      let source = value["source"]?.string, let action = value["action"]?.string
    else { return nil }
    self.plugin = plugin
    self.route = route
    self.source = source
    self.action = action
    time = value["time"]?.number ?? 0
  }
}
