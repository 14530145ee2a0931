import DeeplinkRouting

/// Why a program of a plugin is not run: its sandbox cannot be made.
public enum SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// `bwrap` or `prlimit` is not installed.
  case noProgram(String)
  /// bubblewrap's own words.
  case refused(String)
  case openingMissing(String)
  case openingNotAllowed(String)

  public var description: String {
    switch self {
    case .noProgram(let name):
      "there is no program '\(name)', without which nothing is run in a sandbox; "
        + "hint: install \(name == "bwrap" ? "bubblewrap" : "util-linux"), "
        + #"or let its manifest say "sandbox": "none""#
    case .refused(let words):
      "its sandbox cannot be made: \(words); "
        + "hint: are user namespaces allowed here (sysctl user.max_user_namespaces, "
        + "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)? "
        + #"Else let its manifest say "sandbox": "none""#
    case .openingMissing(let path): "'\(path)', which its sandbox opens, is not there"
    case .openingNotAllowed(let path):
      "'\(path)' cannot be opened to a sandbox: it is deeplinkd's own, or the system's"
    }
  }

  /// Nil unless `line`, the last of a process that failed, is bubblewrap's.
  init?(lastLine line: String?, in sandbox: Sandbox) {
    guard sandbox != .none, let line, line.hasPrefix("bwrap: ") else { return nil }
    self = .refused(line)
  }
}
