/// One place of a sandbox's file system, and what is there.
struct SandboxMount: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    /// What is at `source` outside; where nothing is, nothing is here, or it is an error.
    case outside(source: String, isWritable: Bool = false, mayBeMissing: Bool = false)
    /// Device nodes that work.
    case devices(source: String)
    case link(to: String)
    /// An empty folder in memory, with its size in bytes.
    case memory(size: Int, mode: String = "0700")
    case processes
    case standardDevices
  }

  let path: String
  let content: Content

  init(_ path: String, _ content: Content) {
    self.path = path
    self.content = content
  }

  /// The same path inside and outside, to read.
  static func same(_ path: String, mayBeMissing: Bool = false) -> SandboxMount {
    SandboxMount(path, .outside(source: path, mayBeMissing: mayBeMissing))
  }

  /// As bwrap(1) takes it.
  var arguments: [String] {
    switch content {
    case .outside(let source, let isWritable, let mayBeMissing):
      ["--\(isWritable ? "" : "ro-")bind\(mayBeMissing ? "-try" : "")", source, path]
    case .devices(let source): ["--dev-bind-try", source, path]
    case .link(let target): ["--symlink", target, path]
    case .memory(let size, let mode): ["--perms", mode, "--size", String(size), "--tmpfs", path]
    case .processes: ["--proc", path]
    case .standardDevices: ["--dev", path]
    }
  }
}

/// Comparisons of absolute paths by their parts.
enum Paths {
  static func parts(_ path: String) -> [Substring] { path.split(separator: "/") }

  /// Whether `path` is `folder` or lies in it.
  static func isInside(_ path: String, _ folder: String) -> Bool {
    parts(path).starts(with: parts(folder))
  }

  /// `path` without its last part.
  static func parent(of path: String) -> String {
    "/" + parts(path).dropLast().joined(separator: "/")
  }

  static func name(of path: String) -> String { parts(path).last.map(String.init) ?? "" }
}
