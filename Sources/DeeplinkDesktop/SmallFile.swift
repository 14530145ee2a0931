import Glibc

/// Files that are read as a whole.
public enum SmallFile {
  /// What tells one content of a file from the next: it changes with each rename and each write.
  public struct Version: Hashable, Sendable {
    var inode: UInt64
    var size: Int
    var seconds: Int
    var nanoseconds: Int
  }

  /// Nil where there is no file.
  public static func version(_ path: String) -> Version? {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0 else { return nil }
    return Version(
      inode: UInt64(facts.st_ino), size: Int(facts.st_size), seconds: facts.st_mtim.tv_sec,
      nanoseconds: facts.st_mtim.tv_nsec)
  }

  /// The bytes; nil where it cannot be read or has more than `limit`.
  public static func read(_ path: String, limit: Int) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= limit {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return count == 0 ? bytes : nil }
      bytes += buffer[..<count]
    }
    return nil
  }
}
