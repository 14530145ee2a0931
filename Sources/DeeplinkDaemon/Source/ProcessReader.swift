import DeeplinkDesktop
import CDeeplinkLinux
import Glibc

/// Reads in `/proc` who a process is (proc(5)).
///
/// The files belong to the process that is looked at: a read may take as long as it likes, so none of
/// this runs on the event loop.
struct ProcessReader: Sendable {
  /// Another folder than `/proc` in tests.
  var folder = "/proc"

  private static let maximumAncestors = 16

  /// The source that `process` stands for; unknown where it ended while it was looked at.
  func source(of process: UInt32) -> Source {
    guard let before = status(of: process) else { return .unknown }
    let confinement = confinement(of: process)
    var source = source(of: process, before, confinement)
    // A number that was given to another process meanwhile would tell of that one.
    guard status(of: process)?.startTime == before.startTime else { return .unknown }
    source.hasTerminal = before.hasTerminal
    source.isConfined = confinement != Confinement.none
    return source
  }

  private func source(of process: UInt32, _ status: Status, _ confinement: Confinement) -> Source {
    switch confinement {
    case .flatpak(let id): return Source(kind: .flatpak, name: id)
    case .snap(let name): return Source(kind: .snap, name: name)
    case .unreadable: return .unknown
    case .none: break
    }
    if let group = text("\(process)/cgroup"),
      let app = group.split(separator: "\n").lazy
        .compactMap({ UnitName.app(inGroup: String($0)) }).first
    {
      return Source(kind: .unit, name: app)
    }
    guard let path = executable(of: process) else { return .unknown }
    guard KnownPrograms.isForwarder(path) else { return Source(kind: .executable, name: path) }
    return origin(of: status.parent, Self.maximumAncestors)
  }

  /// The nearest ancestor that does not merely forward or start what others ask for.
  private func origin(of process: UInt32, _ left: Int) -> Source {
    guard process > 1, left > 0, let before = status(of: process),
      let path = executable(of: process), !KnownPrograms.isStarter(path)
    else { return .unknown }
    let source =
      switch confinement(of: process) {
      case .flatpak(let id): Source(kind: .flatpak, name: id)
      case .snap(let name): Source(kind: .snap, name: name)
      case .unreadable: Source.unknown
      case .none:
        KnownPrograms.isForwarder(path)
          ? origin(of: before.parent, left - 1) : Source(kind: .executable, name: path)
      }
    return status(of: process)?.startTime == before.startTime ? source : .unknown
  }

  // MARK: Facts

  private struct Status {
    var parent: UInt32
    var hasTerminal: Bool
    var startTime: UInt64
  }

  private func status(of process: UInt32) -> Status? {
    // The program's name, in parentheses, may hold anything; what follows are numbers.
    guard let text = text("\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19, let parent = UInt32(fields[1]), let startTime = UInt64(fields[19])
    else { return nil }
    return Status(parent: parent, hasTerminal: fields[4] != "0", startTime: startTime)
  }

  private enum Confinement: Hashable {
    case none
    case flatpak(String)
    case snap(String)
    /// It may be anything: counted as a sandbox that nothing is known of.
    case unreadable
  }

  private func confinement(of process: UInt32) -> Confinement {
    let root = "\(folder)/\(process)/root/"
    guard unsafe access(root, X_OK) == 0 else { return .unreadable }
    // No link: it would be followed from our own root.
    let info = unsafe open(
      "\(root).flatpak-info", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    if info >= 0 {
      defer { close(info) }
      return Self.contents(info).flatMap(Self.flatpakID).map { .flatpak($0) } ?? .unreadable
    }
    guard errno == ENOENT else { return .unreadable }
    // Kernels without security modules have the file, and nothing in it.
    let label = text("\(process)/attr/current") ?? ""
    if label.hasPrefix("snap.") {
      return .snap(String(label.dropFirst(5).prefix { $0 != "." }))
    }
    return .none
  }

  /// `name=` in the group `[Application]` (flatpak-metadata(5)).
  private static func flatpakID(_ info: String) -> String? {
    var isInGroup = false
    for line in info.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("[") { isInGroup = line == "[Application]" }
      if isInGroup, line.hasPrefix("name=") {
        let name = line.dropFirst(5)
        return name.isEmpty ? nil : String(name)
      }
    }
    return nil
  }

  /// Nil where the path does not lead us to the same file: another view of the file system could
  /// show any name.
  private func executable(of process: UInt32) -> String? {
    let link = "\(folder)/\(process)/exe"
    guard let path = FileFacts.link(link), FileFacts.isSame(path, link) else { return nil }
    return path
  }

  private func text(_ path: String) -> String? {
    let descriptor = unsafe open("\(folder)/\(path)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return Self.contents(descriptor)
  }

  private static func contents(_ descriptor: Int32) -> String? {
    var facts = stat()
    guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    guard count >= 0 else { return nil }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }
}
