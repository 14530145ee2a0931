import Glibc

/// Where files are kept (XDG Base Directory specification).
///
/// A relative path in a variable counts as unset, as the specification asks.
public struct BaseDirectories: Hashable, Sendable {
  public let dataHome: String
  public let configHome: String
  public let stateHome: String
  /// Nil where the session has none: then nothing is kept that must not outlive it.
  public let runtime: String?
  public let dataDirectories: [String]
  public let configDirectories: [String]

  public init(environment: [String: String]) {
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/"
    func folder(_ name: String, _ fallback: String) -> String {
      guard let path = environment[name], path.hasPrefix("/") else { return "\(home)/\(fallback)" }
      return Self.plain(path)
    }
    func folders(_ name: String, _ fallback: String) -> [String] {
      let text = environment[name].flatMap { $0.isEmpty ? nil : $0 } ?? fallback
      return text.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        .map(Self.plain)
    }
    dataHome = folder("XDG_DATA_HOME", ".local/share")
    configHome = folder("XDG_CONFIG_HOME", ".config")
    stateHome = folder("XDG_STATE_HOME", ".local/state")
    runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    // A session may name a folder twice, or the person's own among the system's: a file in it does not
    // hide itself.
    var seen: Set<String> = [Self.real(dataHome)]
    dataDirectories = folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share")
      .filter { seen.insert(Self.real($0)).inserted }
    configDirectories = folders("XDG_CONFIG_DIRS", "/etc/xdg")
  }

  /// Without slashes at the end.
  private static func plain(_ path: String) -> String {
    let end = path.lastIndex { $0 != "/" }
    return end.map { String(path[...$0]) } ?? "/"
  }

  /// Without symbolic links; as it is where nothing is there yet.
  private static func real(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// `$XDG_DATA_HOME`, then each of `$XDG_DATA_DIRS`: where plugins and desktop entries are looked for.
  public var allData: [String] { [dataHome] + dataDirectories }

  /// What lasts: grants, history, plugins' homes.
  public var state: String { "\(stateHome)/deeplinkd" }

  /// Everything that is deeplinkd's own: what it keeps, its settings, plugins, and what is on its way.
  public var ownFolders: [String] {
    [state] + ([configHome, dataHome] + (runtime.map { [$0] } ?? [])).map { "\($0)/deeplinkd" }
  }

  /// The home that a plugin's programs get.
  public func home(of plugin: String) -> String { "\(state)/homes/\(plugin)" }
}
