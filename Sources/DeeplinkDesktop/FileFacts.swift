import Glibc

/// Questions about files, asked without errors: what cannot be looked at is not there.
public enum FileFacts {
  public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// What stat(2) says, behind symbolic links; nil where nothing is there.
  public static func status(_ path: String) -> stat? {
    var facts = stat()
    return unsafe stat(path, &facts) == 0 ? facts : nil
  }

  /// Whether both are there and the same, by whatever links.
  public static func isSame(_ first: String, _ second: String) -> Bool {
    guard let first = status(first), let second = status(second) else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  public static func isKind(_ kind: mode_t, _ path: String) -> Bool {
    status(path).map { $0.st_mode & S_IFMT == kind } ?? false
  }

  /// Where a symbolic link points.
  public static func link(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &buffer, buffer.count)
    return count > 0
      ? String(validating: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }

  /// Without links, `.` and `..`.
  public static func real(_ path: String) -> String? {
    guard !path.utf8.contains(0), let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(validatingCString: real)
  }

  /// The first bytes of a file.
  public static func beginning(of path: String, limit: Int) -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = unsafe read(file, &buffer, limit)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  /// What is in a folder, in no order; a name that is not UTF-8 is passed over.
  public static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(validatingCString: $0)
        }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
