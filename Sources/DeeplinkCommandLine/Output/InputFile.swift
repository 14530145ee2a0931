import Glibc

/// An open file or standard input; closed with its last use.
struct InputFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  init(path: String) throws(CommandError) {
    // With a NUL the system would open what stands before it.
    guard !path.utf8.contains(0) else { throw .unreadable(path: path, reason: "no such file") }
    try self.init(descriptor: unsafe open(path, O_RDONLY | O_CLOEXEC), path: path)
  }

  /// A duplicate of standard input: opened by its name it can not be, where it is a socket.
  static func standardInput() throws(CommandError) -> InputFile {
    try InputFile(descriptor: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), path: "standard input")
  }

  private init(descriptor: Int32, path: String) throws(CommandError) {
    self.descriptor = descriptor
    self.path = path
    if descriptor < 0 { throw Self.failure(path) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// What there is to read now, waiting for the first byte of it; nil at the end.
  func read() throws(CommandError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
      if count > 0 { return Array(bytes[..<count]) }
      if count == 0 { return nil }
      if errno != EINTR { throw Self.failure(path) }
    }
  }

  func contents(limit: Int) throws(CommandError) -> [UInt8] {
    var contents: [UInt8] = []
    while let bytes = try read() {
      contents += bytes
      guard contents.count <= limit else {
        throw .unreadable(path: path, reason: "it has more than \(limit) bytes")
      }
    }
    return contents
  }

  private static func failure(_ path: String) -> CommandError {
    .unreadable(path: path, reason: unsafe String(cString: strerror(errno)))
  }
}
