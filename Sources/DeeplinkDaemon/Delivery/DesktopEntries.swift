import DeeplinkDesktop
import DeeplinkLoop

/// Desktop entries as their files have them now; a file is read again only when it was changed.
@LoopActor final class DesktopEntries {
  private let dataDirectories: [String]
  private var known: [String: (version: SmallFile.Version, entry: DesktopEntry?)] = [:]

  private static let maximumSize = 1 << 20

  init(dataDirectories: [String]) { self.dataDirectories = dataDirectories }

  /// The entry `id` with its file; nil where there is none, or one that is deleted (`Hidden`).
  func entry(_ id: String) -> (DesktopEntry, path: String)? {
    guard let path = ApplicationFolder.path(of: id, inDataDirectories: dataDirectories),
      let version = SmallFile.version(path)
    else {
      known[id] = nil
      return nil
    }
    if known[id]?.version != version {
      let bytes = SmallFile.read(path, limit: Self.maximumSize)
      known[id] = (
        version, bytes.flatMap { DesktopEntry(String(decoding: $0, as: UTF8.self)) }
      )
    }
    guard let entry = known[id]?.entry, !entry.isHidden else { return nil }
    return (entry, path)
  }

  /// Manifests were changed: those that no action names any more are not kept.
  func forgetAll() { known = [:] }
}
