import DeeplinkRouting

/// Why a program of a plugin is not run: its sandbox cannot be made.
public enum SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// `bwrap` or `prlimit` is not installed.
  case noProgram(String)
  /// bubblewrap's own words.
  case refused(String)
  case openingMissing(String)
  case openingNotAllowed(String)

  /// What is in the way.
  public var reason: String {
    switch self {
    case .noProgram(let name):
      "there is no program '\(name)', without which nothing is run in a sandbox"
    case .refused(let words): "its sandbox cannot be made: \(words)"
    case .openingMissing(let path): "'\(path)', which its sandbox opens, is not there"
    case .openingNotAllowed(let path):
      "'\(path)' cannot be opened to a sandbox: it is deeplinkd's own, or the system's"
    }
  }

  /// What can be done about it.
  public var hint: String? {
    switch self {
    case .noProgram(let name):
      "install \(name == "bwrap" ? "bubblewrap" : "util-linux"), "
        + #"or let its manifest say "sandbox": "none""#
    case .refused:
      "are user namespaces allowed here (sysctl user.max_user_namespaces, "
        + "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)? "
        + #"Else let its manifest say "sandbox": "none""#
    case .openingMissing, .openingNotAllowed: nil
    }
  }

  public var description: String { hint.map { "\(reason); hint: \($0)" } ?? reason }

  /// Nil unless `line`, the last of a process that failed, is bubblewrap's.
  init?(lastLine line: String?, in sandbox: Sandbox) {
    guard sandbox != .none, let line, line.hasPrefix("bwrap: ") else { return nil }
    self = .refused(line)
  }
}
