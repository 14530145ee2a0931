import DeeplinkRouting
import DeeplinkDesktop
import Glibc

/// What `"session"` opens of the person's session: the sockets themselves, never the folders they
/// are in.
struct SandboxSession: Hashable, Sendable {
  private(set) var mounts: [SandboxMount] = []

  /// - Parameter variables: Those of the session; some came with a link, so that what they name is
  ///   looked at before it is believed.
  init(variables: [String: String]) {
    if let path = Self.busSocket(variables["DBUS_SESSION_BUS_ADDRESS"]) { addSocket(path) }
    if let name = variables["WAYLAND_DISPLAY"], !name.isEmpty {
      addSocket(name.hasPrefix("/") ? name : "\(variables["XDG_RUNTIME_DIR"] ?? "")/\(name)")
    }
    if let display = variables["DISPLAY"], display.hasPrefix(":") {
      addSocket("/tmp/.X11-unix/X\(display.dropFirst().prefix { $0.isNumber })")
    }
    let authority = variables["XAUTHORITY"] ?? "\(variables["HOME"] ?? "")/.Xauthority"
    if authority.hasPrefix("/"), Paths.name(of: authority).lowercased().holds("auth"),
      FileFacts.isKind(S_IFREG, authority)
    {
      mounts.append(.same(authority))
    }
    mounts.append(SandboxMount("/dev/dri", .devices(source: "/dev/dri")))
    for path in ["/sys/dev/char", "/sys/devices", "/var/cache/fontconfig"] {
      mounts.append(.same(path, mayBeMissing: true))
    }
  }

  private mutating func addSocket(_ path: String) {
    guard path.hasPrefix("/"), !Paths.parts(path).contains(".."), FileFacts.isKind(S_IFSOCK, path)
    else { return }
    mounts.append(.same(path))
  }

  /// The path in the first address that has one (D-Bus specification, "Server Addresses").
  ///
  /// An abstract socket belongs to the network namespace.
  private static func busSocket(_ addresses: String?) -> String? {
    for address in (addresses ?? "").split(separator: ";") where address.hasPrefix("unix:") {
      for pair in address.dropFirst(5).split(separator: ",") where pair.hasPrefix("path=") {
        return String(pair.dropFirst(5))
      }
    }
    return nil
  }

  static let variables = [
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_DESKTOP", "XDG_SESSION_TYPE", "DESKTOP_SESSION", "XDG_ACTIVATION_TOKEN",
    "DESKTOP_STARTUP_ID",
  ]
}
