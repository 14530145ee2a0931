import DeeplinkActions
import Glibc

/// Files and folders that nobody but the person reads.
enum PrivateFiles {
  static func makeFolder(_ path: String) {
    PrivateFolder.make(path)
    _ = unsafe chmod(path, 0o700)
  }

  static func makePrivate(_ path: String) { _ = unsafe chmod(path, 0o600) }
}
