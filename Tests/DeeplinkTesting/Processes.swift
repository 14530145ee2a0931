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

  /// - Parameters:
  ///   - takesLines: Whether its input stays open, for `send`, in place of `input`.
  ///   - inputDescriptor: What it reads from in place of `input`.
  public init(
    _ arguments: [String], environment: [String: String], input: Data? = nil,
    takesLines: Bool = false, inputDescriptor: Int32? = nil
  ) throws {
    files = FileManager.default.temporaryDirectory.appending(path: "process-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    if takesLines {
      guard mkfifo(files.path + "/input", 0o600) == 0 else {
        throw TestingError("mkfifo: \(String(cString: strerror(errno)))")
      }
    } else {
      try (input ?? Data()).write(to: files.appending(path: "input"))
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let inputDescriptor {
      posix_spawn_file_actions_adddup2(&actions, inputDescriptor, 0)
    } else {
      // A pipe's reader would wait for a writer; as its own writer it does not.
      let read = takesLines ? O_RDWR : O_RDONLY
      posix_spawn_file_actions_addopen(&actions, 0, files.path + "/input", read, 0)
    }
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

  /// Writes a line to the input of a process that was started to take them.
  public func send(_ line: String) throws {
    let pipe = try FileHandle(forWritingTo: files.appending(path: "input"))
    try pipe.write(contentsOf: Data("\(line)\n".utf8))
    try pipe.close()
  }

  /// Waits until it has written `count` lines, and gives the last of them.
  public func outputLine(_ count: Int, limit: Duration = .seconds(60)) throws -> String {
    do {
      return try waitForLines(count, in: files.appending(path: "output"), limit: limit)[count - 1]
    } catch {
      throw TestingError("\(error); it said: \(errors)")
    }
  }

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

  /// The first of `processes` to end; nil when `limit` passes first.
  public static func firstToEnd(
    of processes: [RunningProcess], limit: Duration = .seconds(30)
  ) -> RunningProcess? {
    let descriptors = processes.map { deeplink_pidfd_open($0.pid) }
    defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
    guard let index = firstReadable(descriptors, limit: limit), processes[index].waitForEnd() else {
      return nil
    }
    return processes[index]
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
  firstReadable([descriptor], limit: limit) != nil
}

/// The index of a descriptor that can be read; nil when `limit` passes first.
private func firstReadable(_ descriptors: [Int32], limit: Duration) -> Int? {
  var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  let deadline = ContinuousClock.now + limit
  while true {
    let left = ContinuousClock.now.duration(to: deadline)
    let milliseconds =
      left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
    guard milliseconds > 0 else { return nil }
    let count = poll(&polls, nfds_t(polls.count), Int32(clamping: milliseconds))
    if count > 0 { return polls.firstIndex { $0.revents != 0 } }
    if count == 0 || errno != EINTR { return nil }
  }
}
