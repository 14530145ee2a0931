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
      return path
    }
    func folders(_ name: String, _ fallback: String) -> [String] {
      let text = environment[name].flatMap { $0.isEmpty ? nil : $0 } ?? fallback
      return text.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
    dataHome = folder("XDG_DATA_HOME", ".local/share")
    configHome = folder("XDG_CONFIG_HOME", ".config")
    stateHome = folder("XDG_STATE_HOME", ".local/state")
    runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    dataDirectories = folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share")
    configDirectories = folders("XDG_CONFIG_DIRS", "/etc/xdg")
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
