import DeeplinkRouting

/// Who sent a link, as far as that can be verified.
///
/// The bus proves which process forwarded a link, not who wrote it: no way tells the web page. What is
/// known is one fact, and `kind` says how it was found.
struct Source: Hashable, Sendable {
  enum Kind: String, Sendable, CaseIterable {
    /// By `/.flatpak-info` at the root of the process' file system.
    case flatpak
    /// By the process' security label.
    case snap
    /// By the name of its control group, which desktops and systemd give to apps that they start.
    case unit
    /// By the program's path.
    case executable
    case unknown
  }

  let kind: Kind
  /// The app's id, or the program's path; empty when unknown.
  let name: String
  /// Whether the process has a controlling terminal: then a person is likely to be at it.
  var hasTerminal = false
  /// Whether the process is in a sandbox, or could not be looked at.
  var isConfined = true

  static let unknown = Source(kind: .unknown, name: "")

  /// What grants and manifests call it; stable from one start to the next.
  var key: String { kind == .unknown ? SourcePattern.unknown : "\(kind.rawValue):\(name)" }

  /// For people: `/usr/bin/firefox (executable)`; of foreign origin, so escaped where it is shown.
  var text: String {
    switch kind {
    case .flatpak: "\(name) (Flatpak)"
    case .snap: "\(name) (snap)"
    case .unit: "\(name) (its unit)"
    case .executable: "\(name) (executable)"
    case .unknown: "unknown"
    }
  }

  /// Whether it forwards what others wrote, so that to trust it is to trust any program or web page.
  var speaksForOthers: Bool {
    kind == .unknown || KnownPrograms.isBrowser(name) || KnownPrograms.isInterpreter(name)
  }
}
