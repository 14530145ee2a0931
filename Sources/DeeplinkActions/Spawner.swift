import CDeeplinkLinux
import Glibc

/// The steps of posix_spawn(3) that make a child with three pipes and nothing else of ours.
enum Spawner {
  struct Spawned {
    let id: pid_t
    let pidfd: Int32
    let input: Int32
    let output: Int32
    let errors: Int32
  }

  static func spawn(_ description: ProcessDescription) throws(SpawnError) -> Spawned {
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
    try check(pipes.open())
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
        unsafe posix_spawn(&pid, program, &actions, &attributes, arguments, environment)
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
    return Spawned(
      id: pid, pidfd: pidfd, input: pipes.ours[0], output: pipes.ours[1], errors: pipes.ours[2])
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
