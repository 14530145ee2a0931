import DeeplinkDesktop
import DeeplinkRouting
import Glibc

/// The paths that a manifest opens, as they are on this machine.
///
/// Looked up once for each start, so that no link is followed that was made since.
struct SandboxPaths: Hashable, Sendable {
  /// Each with what its links lead to.
  private(set) var mounts: [SandboxMount] = []
  /// Those that can be written, by either name.
  private(set) var writable: [String] = []

  /// - Parameters:
  ///   - personHome: What `~` stands for.
  ///   - ownFolders: deeplinkd's, which no sandbox reaches: neither by name nor through a link.
  init(
    _ openings: Sandbox.Openings, personHome: String, ownFolders: [String]
  ) throws(SandboxError) {
    let opened = (
      read: openings.read.map { Self.expand($0, personHome) },
      write: openings.write.map { Self.expand($0, personHome) }
    )
    for (paths, isWritable) in [(openings.read, false), (openings.write, true)] {
      for text in paths {
        let path = Self.expand(text, personHome)
        // One that lies in another is open already; and in one that can be written it could have
        // been made a link to anything.
        let others = opened.write + (isWritable ? [] : opened.read)
        guard !others.contains(where: { $0 != path && Paths.isInside(path, $0) }) else { continue }
        guard let real = FileFacts.real(path) else { throw .openingMissing(text) }
        let isOwn = ownFolders.contains { Paths.isInside(real, FileFacts.real($0) ?? $0) }
        let isSystem = ["/proc", "/sys", "/dev"].contains { Paths.isInside(real, $0) }
        guard !isOwn, !isSystem, real != "/", path != "/" else { throw .openingNotAllowed(text) }
        mounts.append(SandboxMount(path, .outside(source: real, isWritable: isWritable)))
        if isWritable { writable += [path, real] }
      }
    }
    // An opening that holds one of deeplinkd's own folders shows it empty.
    for folder in ownFolders where FileFacts.exists(folder) {
      let real = FileFacts.real(folder) ?? folder
      for mount in mounts {
        guard case .outside(let source, _, _) = mount.content, Paths.isInside(real, source) else {
          continue
        }
        let rest = Paths.parts(real).dropFirst(Paths.parts(source).count)
        let place = ([mount.path] + rest.map(String.init)).joined(separator: "/")
        mounts.append(SandboxMount(place, .memory(size: 1 << 20)))
      }
    }
  }

  private static func expand(_ text: String, _ home: String) -> String {
    let path = text.hasPrefix("~") ? home + text.dropFirst() : text
    return "/" + Paths.parts(path).filter { $0 != "." }.joined(separator: "/")
  }
}
