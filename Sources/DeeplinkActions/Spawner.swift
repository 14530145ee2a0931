import CDeeplinkLinux
import DeeplinkLoop
import Glibc

/// The steps of posix_spawn(3) that make a child with three pipes and nothing else of ours.
enum Spawner {
  struct Spawned {
    let id: pid_t
    let pidfd: Int32
    /// Our ends; nil for a child that outlives us.
    let pipes: (input: Int32, output: Int32, errors: Int32)?
    /// The file that such a child's standard error goes to.
    let keptErrors: Int32?
  }

  static let keptErrorSize = 65_536

  @LoopActor static func spawn(_ description: ProcessDescription) throws(SpawnError) -> Spawned {
    let program = description.arguments.first ?? ""
    func check(_ number: Int32) throws(SpawnError) {
      guard number == 0 else { throw SpawnError(program: program, number: number) }
    }
    // A NUL would cut a word short without a sound.
    let words = description.arguments + description.environment.flatMap { [$0.key, $0.value] }
    guard !words.contains(where: { $0.utf8.contains(0) }), !program.isEmpty else {
      throw SpawnError(program: program, number: EINVAL)
    }
    var pipes = Pipes()
    try check(description.outlivesDaemon ? pipes.openFiles() : pipes.open())
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
      pipes.closeTheirs()
    }
    for (index, descriptor) in pipes.theirs.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(index))
    }
    unsafe deeplink_spawn_close_from(&actions, 3)
    unsafe deeplink_spawn_chdir(&actions, description.folder)
    // The daemon blocks the signals that it reads from a descriptor; its children must not.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    var flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    if description.hasOwnSession { flags |= deeplink_spawn_setsid() }
    unsafe posix_spawnattr_setflags(&attributes, flags)
    var pid: pid_t = 0
    let failed = unsafe withCStrings(description.arguments) { arguments in
      unsafe withCStrings(description.environment.map { "\($0.key)=\($0.value)" }) { environment in
        DescriptorLimit.lowered {
          unsafe posix_spawn(&pid, program, &actions, &attributes, arguments, environment)
        }
      }
    }
    guard failed == 0 else {
      pipes.closeOurs()
      throw SpawnError(program: program, number: failed)
    }
    let pidfd = deeplink_pidfd_open(pid)
    guard pidfd >= 0 else {
      let number = errno
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
      pipes.closeOurs()
      throw SpawnError(program: program, number: number)
    }
    guard !description.outlivesDaemon else {
      return Spawned(id: pid, pidfd: pidfd, pipes: nil, keptErrors: pipes.ours[0])
    }
    return Spawned(
      id: pid, pidfd: pidfd, pipes: (pipes.ours[0], pipes.ours[1], pipes.ours[2]), keptErrors: nil)
  }

  /// Three pipes: the child's ends and ours, standard input first.
  private struct Pipes {
    var theirs: [Int32] = []
    var ours: [Int32] = []

    /// 0 or an error number, with nothing left open.
    mutating func open() -> Int32 {
      for index in 0..<3 {
        var ends: [Int32] = [-1, -1]
        guard unsafe deeplink_pipe(&ends) == 0 else {
          let number = errno
          closeTheirs()
          closeOurs()
          return number
        }
        theirs.append(index == 0 ? ends[0] : ends[1])
        ours.append(index == 0 ? ends[1] : ends[0])
        _ = fcntl(ours[index], F_SETFL, O_NONBLOCK)
      }
      return 0
    }

    /// Nothing to read, nowhere to write, and a bounded file for errors.
    ///
    /// 0 or an error number.
    mutating func openFiles() -> Int32 {
      for flags in [O_RDONLY, O_WRONLY] {
        let null = unsafe Glibc.open("/dev/null", flags | O_CLOEXEC)
        if null >= 0 { theirs.append(null) }
      }
      let errors = deeplink_bounded_file(Spawner.keptErrorSize)
      let number = errno
      // The child gets the same open file: one offset, which only the child moves.
      let copy = fcntl(errors, F_DUPFD_CLOEXEC, 3)
      if errors >= 0 { theirs.append(errors) }
      if copy >= 0 { ours.append(copy) }
      guard theirs.count == 3, ours.count == 1 else {
        closeTheirs()
        closeOurs()
        return number == 0 ? EMFILE : number
      }
      return 0
    }

    func closeTheirs() { for descriptor in theirs { close(descriptor) } }
    func closeOurs() { for descriptor in ours { close(descriptor) } }
  }

  private static func withCStrings<T>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> T
  ) -> T {
    var pointers = unsafe strings.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(pointers)
  }
}
