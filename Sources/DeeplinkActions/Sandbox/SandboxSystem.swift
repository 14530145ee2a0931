import DeeplinkDesktop
import CDeeplinkLinux
import Glibc

/// What a sandbox takes from the machine: the allow list, and what its limits can rest on.
struct SandboxSystem: Hashable, Sendable {
  /// `/usr`, and the `/bin` and `/lib` links or folders as this machine has them.
  var base: [SandboxMount]
  /// Entries of `/etc` with a version in their names.
  var versioned: [String]
  /// Whether RLIMIT_NPROC counts each user namespace by itself (Linux 5.14); before, it counted all
  /// that the person runs, and would hit whoever has many windows open.
  var countsProcessesBySandbox: Bool

  /// The machine that this runs on.
  static var current: SandboxSystem {
    let links = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"].compactMap { name in
      let path = "/\(name)"
      if let target = FileFacts.link(path) { return SandboxMount(path, .link(to: target)) }
      return FileFacts.exists(path) ? .same(path) : nil
    }
    let prefixes = ["python", "perl", "java", "ruby", "php", "node", "lua", "guile"]
    let versioned = FileFacts.names(in: "/etc").filter { name in
      prefixes.contains { name.hasPrefix($0) }
    }
    return SandboxSystem(
      base: [.same("/usr")] + links, versioned: versioned.sorted(),
      countsProcessesBySandbox: kernel.lexicographicallyPrecedes([5, 14]) == false)
  }

  /// The kernel's version: major, minor.
  private static var kernel: [Int] {
    FileFacts.beginning(of: "/proc/sys/kernel/osrelease", limit: 64)
      .split(separator: ".").prefix(2).compactMap { Int($0.prefix { $0.isNumber }) }
  }

  /// Of `/etc`, what programs need and no secret is in; the rest is not there.
  func configuration(network: Bool, session: Bool) -> [SandboxMount] {
    var names = Self.always + versioned
    if network { names += Self.network }
    if session { names += Self.session }
    return names.map { .same("/etc/\($0)", mayBeMissing: true) }
  }

  private static let always = [
    "alternatives", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias",
    "locale.conf", "localtime", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd",
    "protocols", "services", "ssl/openssl.cnf", "timezone",
  ]
  private static let network = [
    "ca-certificates/extracted", "crypto-policies", "gai.conf", "host.conf", "hosts",
    "pki/ca-trust/extracted", "pki/tls/cert.pem", "pki/tls/certs", "resolv.conf", "ssl/cert.pem",
    "ssl/certs",
  ]
  private static let session = [
    "X11", "dconf", "drirc", "egl", "fonts", "glvnd", "gtk-2.0", "gtk-3.0", "gtk-4.0", "machine-id",
    "vulkan", "xdg",
  ]
}
