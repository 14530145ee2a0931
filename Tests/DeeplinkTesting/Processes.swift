import CDeeplinkLinux
import Foundation

/// What a program left behind.
public struct Finished: Sendable {
  /// Its exit status; the negated signal number when a signal ended it.
  public let status: Int32
  public let output: String
  public let errors: String
}

/// Runs a program found in PATH, or by its path, and waits for its end, at most `limit`.
public func run(
  _ arguments: [String], environment: [String: String], input: Data? = nil,
  limit: Duration = .seconds(30)
) throws -> Finished {
  let process = try RunningProcess(arguments, environment: environment, input: input)
  guard process.waitForEnd(limit: limit) else {
    process.signal(SIGKILL)
    throw TestingError("\(arguments.joined(separator: " ")) did not end in \(limit)")
  }
  return process.finished
}

/// A child process with its output kept in files; killed when nobody holds it any more.
public final class RunningProcess: @unchecked Sendable {
  // @unchecked: `status` is written once, by the one `waitForEnd` that reaps the child, under `lock`.
  public let pid: pid_t
  private let files: URL
  private let lock = NSLock()
  private var status: Int32?

  public init(
    _ arguments: [String], environment: [String: String], input: Data? = nil
  ) throws {
    files = FileManager.default.temporaryDirectory.appending(path: "process-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    try (input ?? Data()).write(to: files.appending(path: "input"))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, files.path + "/input", O_RDONLY, 0)
    let write = O_WRONLY | O_CREAT | O_APPEND
    posix_spawn_file_actions_addopen(&actions, 1, files.path + "/output", write, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, files.path + "/errors", write, 0o600)
    deeplink_spawn_close_from(&actions, 3)
    // Threads of the test runner block signals, and a child would inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var argv = arguments.map { strdup($0) } + [nil]
    var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    var pid: pid_t = 0
    let failed = posix_spawnp(&pid, arguments[0], &actions, &attributes, &argv, &envp)
    guard failed == 0 else {
      throw TestingError("\(arguments[0]): \(String(cString: strerror(failed)))")
    }
    self.pid = pid
  }

  deinit {
    if !isFinished {
      kill(pid, SIGKILL)
      var raw: Int32 = 0
      waitpid(pid, &raw, 0)
    }
    try? FileManager.default.removeItem(at: files)
  }

  public var output: String { text("output") }
  public var errors: String { text("errors") }
  public var isFinished: Bool { lock.withLock { status != nil } }

  public func signal(_ number: Int32) { if !isFinished { kill(pid, number) } }

  /// False when `limit` passed first.
  public func waitForEnd(limit: Duration = .seconds(30)) -> Bool {
    if isFinished { return true }
    let descriptor = deeplink_pidfd_open(pid)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard waitUntilReadable(descriptor, limit: limit) else { return false }
    lock.withLock {
      guard status == nil else { return }
      var raw: Int32 = 0
      waitpid(pid, &raw, 0)
      // WIFEXITED and its kin are macros: the low seven bits are the signal.
      status = raw & 0x7f == 0 ? (raw >> 8) & 0xff : -(raw & 0x7f)
    }
    return true
  }

  public var finished: Finished {
    Finished(status: lock.withLock { status } ?? Int32.min, output: output, errors: errors)
  }

  private func text(_ name: String) -> String {
    (try? Data(contentsOf: files.appending(path: name))).map { String(decoding: $0, as: UTF8.self) }
      ?? ""
  }
}

/// False when `limit` passed first.
public func waitUntilReadable(_ descriptor: Int32, limit: Duration) -> Bool {
  var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  let deadline = ContinuousClock.now + limit
  while true {
    let left = ContinuousClock.now.duration(to: deadline)
    let milliseconds =
      left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
    guard milliseconds > 0 else { return false }
    let count = Glibc.poll(&poll, 1, Int32(clamping: milliseconds))
    if count > 0 { return true }
    if count == 0 || errno != EINTR { return false }
  }
}
