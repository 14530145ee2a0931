import Glibc

/// A file of the person's, read as a whole and replaced as a whole.
///
/// Symbolic links stay what they are: it is the file at their end that is replaced, by a rename in
/// its own folder, so that whoever reads it sees the old one or the new one.
public struct PersonFile: Hashable, Sendable {
  public let path: String
  /// Whether it is made, and its folders too, so that nobody else can read it.
  private let isPrivate: Bool

  public init(_ path: String, isPrivate: Bool = false) {
    self.path = path
    self.isPrivate = isPrivate
  }

  public struct Failure: Error, Hashable, Sendable {
    public let path: String
    /// The system's words.
    public let reason: String

    /// - Parameter reason: Nil: what `errno` says.
    public init(_ path: String, _ reason: String? = nil) {
      self.path = path
      self.reason = unsafe reason ?? String(cString: strerror(errno))
    }
  }

  /// More than any such file has; one that is longer is not read.
  private static let maximumBytes = 16 << 20

  /// The bytes; nil where there is no file.
  public func read() throws(Failure) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0, errno == ENOENT || errno == ENOTDIR { return nil }
    guard descriptor >= 0 else { throw Failure(path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(path) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= Self.maximumBytes else { throw Failure(path, "is too long") }
    }
  }

  /// Replaces the file, or makes it with its folders; nil takes it away.
  public func write(_ bytes: [UInt8]?) throws(Failure) {
    let target = try target()
    guard let bytes else {
      guard unsafe unlink(target) == 0 || errno == ENOENT else { throw Failure(path) }
      return
    }
    if let slash = target.lastIndex(of: "/") {
      try Self.makeFolder(String(target[..<slash]), mode: isPrivate ? 0o700 : 0o755)
    }
    var facts = stat()
    let isThere = unsafe stat(target, &facts) == 0
    let mode = isPrivate ? 0o600 : isThere ? facts.st_mode & 0o7777 : 0o644
    var name = Array("\(target).XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    guard descriptor >= 0 else { throw Failure(path) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    // Whose it was, as far as that can be kept: under `sudo` a person's file stays the person's.
    if isThere { _ = fchown(descriptor, facts.st_uid, facts.st_gid) }
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      written += count
    }
    let isWritten =
      written == bytes.count && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
    let failure = isWritten ? nil : Failure(path)
    close(descriptor)
    if failure == nil, unsafe rename(name, target) == 0 { return }
    let reason = failure ?? Failure(path)
    unsafe _ = unlink(name)
    throw reason
  }

  /// The path behind all symbolic links, also where the last leads to nothing yet.
  public func target() throws(Failure) -> String {
    var path = path
    for _ in 0..<40 {
      var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe $0.baseAddress.map { unsafe readlink(path, $0, Int(PATH_MAX)) } ?? -1
      }
      guard count > 0 else { return path }
      let link = String(decoding: buffer[..<count], as: UTF8.self)
      let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
      path = link.hasPrefix("/") ? link : "\(folder)/\(link)"
    }
    errno = ELOOP
    throw Failure(self.path)
  }

  /// Makes a folder and those above it.
  public static func makeFolder(_ path: String, mode: mode_t = 0o755) throws(Failure) {
    var facts = stat()
    guard !path.isEmpty, unsafe stat(path, &facts) != 0 else { return }
    if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash]), mode: mode) }
    guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else { throw Failure(path) }
  }
}
