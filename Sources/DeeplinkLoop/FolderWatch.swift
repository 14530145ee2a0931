import CDeeplinkLinux
import Glibc

/// Says when something in one of several folders changed (inotify(7)); folders come and go.
@LoopActor public final class FolderWatch {
  private let inotify: Int32
  private var watch: LoopSources.Watch?
  /// The folders that are wanted, each with the one that is watched for it: itself or one above it.
  private var watched: [String: String] = [:]
  private var descriptors: [String: Int32] = [:]
  private var pending: LoopTimer?
  private let onChange: @LoopActor () -> Void

  /// Changes come in bursts: the files of one installation are told as one.
  private static let settling = Duration.milliseconds(100)

  /// Nil where the kernel has no more watches to give.
  public init?(_ onChange: @escaping @LoopActor () -> Void) {
    self.onChange = onChange
    inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard inotify >= 0 else { return nil }
    watch = EventLoop.shared.watch(inotify, .readable) { [unowned self] _ in changed() }
  }

  /// Watches these folders and no others.
  ///
  /// For one that is not there the nearest one above it is watched, so that its coming is noticed.
  public func follow(_ paths: Set<String>) {
    watched = Dictionary(uniqueKeysWithValues: paths.map { ($0, Self.nearest($0)) })
    let wanted = Set(watched.values)
    for (path, descriptor) in descriptors where !wanted.contains(path) {
      inotify_rm_watch(inotify, descriptor)
    }
    descriptors = [:]
    // Known ones are added again, which changes nothing for the kernel: one that went away and came
    // back is a new one to it.
    for path in wanted {
      let events =
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB
        | IN_DELETE_SELF | IN_MOVE_SELF
      let descriptor = unsafe inotify_add_watch(inotify, path, UInt32(events))
      if descriptor >= 0 { descriptors[path] = descriptor }
    }
  }

  private static func nearest(_ path: String) -> String {
    var path = path
    var facts = stat()
    while unsafe stat(path, &facts) != 0, let slash = path.lastIndex(of: "/"),
      slash > path.startIndex
    {
      path = String(path[..<slash])
    }
    return path
  }

  private func changed() {
    // Read in any case: what is left unread wakes the loop again at once.
    let events = events()
    guard pending == nil, concernsUs(events) else { return }
    pending = EventLoop.shared.after(Self.settling) { [weak self] in
      self?.pending = nil
      self?.onChange()
    }
  }

  /// What happens beside a folder that is not there yet is nobody's business here.
  private func concernsUs(_ events: Set<Int32>) -> Bool {
    // -1: the kernel dropped some, so anything may have happened.
    events.contains(-1)
      || watched.contains { path, place in
        path == place
          ? descriptors[place].map(events.contains) ?? true : Self.nearest(path) != place
      }
  }

  /// The watches that the waiting events are of.
  private func events() -> Set<Int32> {
    var found: Set<Int32> = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(inotify, &buffer, buffer.count)
      guard count > 0 else { return found }
      // struct inotify_event: wd, mask, cookie, len (32 bits each), then len bytes of a name.
      var start = 0
      while start + 16 <= count {
        found.insert(Int32(truncatingIfNeeded: Self.word(buffer, start)))
        start += 16 + Int(Self.word(buffer, start + 12))
      }
    }
  }

  private static func word(_ bytes: [UInt8], _ start: Int) -> UInt32 {
    bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
