import CDeeplinkLinux
import DeeplinkDesktop
import Glibc

/// Copies and removes a plugin's folder.
enum FolderCopy {
  /// More files than a plugin has.
  private static let maximumFiles = 10_000

  /// Copies files, folders and symbolic links, which stay links; nobody else may write the copy, or
  /// it would not be loaded.
  static func copy(_ source: String, to target: String) throws(PersonFile.Failure) {
    var left = maximumFiles
    try copy(source, to: target, &left)
  }

  private static func copy(
    _ source: String, to target: String, _ left: inout Int
  ) throws(PersonFile.Failure) {
    left -= 1
    guard left > 0 else { throw failure(source, "has too many files") }
    var facts = stat()
    guard unsafe lstat(source, &facts) == 0 else { throw failure(source) }
    switch facts.st_mode & S_IFMT {
    case S_IFDIR:
      try PersonFile.makeFolder(target)
      for name in FileFacts.names(in: source) {
        try copy("\(source)/\(name)", to: "\(target)/\(name)", &left)
      }
      guard unsafe chmod(target, 0o755) == 0 else { throw failure(target) }
    case S_IFLNK:
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
      guard unsafe readlink(source, &buffer, Int(PATH_MAX)) > 0,
        unsafe symlink(buffer, target) == 0
      else { throw failure(target) }
    case S_IFREG:
      try PersonFile(target).write(PersonFile(source).read() ?? [])
      let mode: mode_t = facts.st_mode & 0o111 == 0 ? 0o644 : 0o755
      guard unsafe chmod(target, mode) == 0 else { throw failure(target) }
    default: throw failure(source, "is no file, folder or symbolic link")
    }
  }

  /// Takes a folder away with all that is in it; links are not followed.
  static func remove(_ path: String) throws(PersonFile.Failure) {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else { return }
    if facts.st_mode & S_IFMT == S_IFDIR {
      for name in FileFacts.names(in: path) { try remove("\(path)/\(name)") }
      guard unsafe rmdir(path) == 0 else { throw failure(path) }
    } else {
      guard unsafe unlink(path) == 0 else { throw failure(path) }
    }
  }

  private static func failure(_ path: String, _ reason: String? = nil) -> PersonFile.Failure {
    PersonFile.Failure(path, reason)
  }
}
