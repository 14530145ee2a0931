import CDeeplinkLinux
import Glibc

/// One of the desktop's own programs, run to its end.
struct Tool {
  let status: Int32
  /// What it wrote, both streams, as far as a person reads it.
  let text: String

  private static let maximumText = 1 << 16

  /// Nil where the program is not there.
  ///
  /// - Parameter limit: How long it may take; it is killed after that.
  static func run(
    _ arguments: [String], environment: [String: String], seconds: Int = 30
  ) -> Tool? {
    var ends: [Int32] = [-1, -1]
    guard unsafe deeplink_pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
    var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var envp = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    var pid: pid_t = 0
    let failed = unsafe posix_spawnp(&pid, arguments[0], &actions, nil, &argv, &envp)
    close(ends[1])
    guard failed == 0 else { return nil }
    let end = deeplink_pidfd_open(pid)
    defer { if end >= 0 { close(end) } }
    let text = read(ends[0], until: end, seconds: seconds)
    if text == nil { kill(pid, SIGKILL) }
    var raw: Int32 = 0
    while unsafe waitpid(pid, &raw, 0) < 0, errno == EINTR {}
    // WIFEXITED and its kin are macros: the low seven bits are the signal.
    let status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
    return Tool(status: status, text: text ?? "no end after \(seconds) s")
  }

  /// Reads until the process ends; nil after the limit.
  ///
  /// What it started may hold the pipe for longer.
  private static func read(_ pipe: Int32, until end: Int32, seconds: Int) -> String? {
    let deadline = deeplink_monotonic_nanoseconds() + Int64(seconds) * 1_000_000_000
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var polls = [
        pollfd(fd: pipe, events: Int16(POLLIN), revents: 0),
        pollfd(fd: end, events: Int16(POLLIN), revents: 0),
      ]
      let left = (deadline - deeplink_monotonic_nanoseconds()) / 1_000_000
      guard left > 0, unsafe poll(&polls, 2, Int32(clamping: left)) != 0 else { return nil }
      if polls[0].revents & Int16(POLLIN) != 0 {
        let count = unsafe Glibc.read(pipe, &buffer, buffer.count)
        if count > 0, bytes.count < maximumText { bytes += buffer[..<count] }
      } else if polls[1].revents != 0 {
        return String(decoding: bytes, as: UTF8.self)
      }
    }
  }
}
