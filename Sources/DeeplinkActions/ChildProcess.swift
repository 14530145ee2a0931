import CDeeplinkLinux
import DeeplinkLoop
import Glibc

/// How a process ended.
public enum ProcessEnd: Hashable, Sendable, CustomStringConvertible {
  case exited(Int32)
  case signalled(Int32)

  public var description: String {
    switch self {
    case .exited(let status): "it exited with status \(status)"
    case .signalled(let number): "signal \(number) ended it"
    }
  }
}

/// A program to be started: words, never a command line.
public struct ProcessDescription: Hashable, Sendable {
  /// The program's path, then its arguments.
  public var arguments: [String]
  public var environment: [String: String]
  public var folder: String
  /// Whether it lives in a session of its own, out of reach of signals to ours.
  public var hasOwnSession = false
  /// Whether it goes on when the daemon ends: then its standard streams are no pipes to it, but for
  /// the first 64 KiB of standard error, which are kept to tell why it failed.
  public var outlivesDaemon = false

  public init(arguments: [String], environment: [String: String], folder: String) {
    self.arguments = arguments
    self.environment = environment
    self.folder = folder
  }
}

/// A program that could not be started.
public struct SpawnError: Error, Hashable, Sendable, CustomStringConvertible {
  public let program: String
  public let number: Int32
  public var description: String {
    "\(program) cannot be started: \(unsafe String(cString: strerror(number)))"
  }
}

/// A child with its standard streams as pipes on the event loop; reaped through its pidfd.
///
/// It inherits no other descriptor and no blocked signal. `onEnd` comes once, after the last byte of
/// its output.
@LoopActor public final class ChildProcess {
  public let id: pid_t
  public var onOutput: (@LoopActor (ArraySlice<UInt8>) -> Void)?
  public var onErrorOutput: (@LoopActor (ArraySlice<UInt8>) -> Void)?
  public var onEnd: (@LoopActor (ProcessEnd) -> Void)?
  /// It closed its standard input, maybe because it is ending.
  public var onInputEnd: (@LoopActor () -> Void)?

  private var input: Pipe?
  private var output: Pipe?
  private var errors: Pipe?
  private var pidfd: Int32
  private var endWatch: LoopSources.Watch?
  private var unwritten: ArraySlice<UInt8> = []
  private var closesInput = false
  private var writtenCount = 0
  private var hasOwnSession: Bool
  private var end: ProcessEnd?
  private var keptErrors: Int32?
  /// Whether it was told to end, by a signal or in words that it knows: nothing that it started in a
  /// session of its own stays behind then.
  public private(set) var isAskedToEnd = false

  /// Our end of one pipe.
  private struct Pipe {
    let descriptor: Int32
    let watch: LoopSources.Watch

    @LoopActor func close() {
      watch.cancel()
      Glibc.close(descriptor)
    }
  }

  public init(_ description: ProcessDescription) throws(SpawnError) {
    let spawned = try Spawner.spawn(description)
    id = spawned.id
    pidfd = spawned.pidfd
    keptErrors = spawned.keptErrors
    hasOwnSession = description.hasOwnSession
    if let pipes = spawned.pipes {
      input = pipe(pipes.input, []) { [unowned self] readiness in
        // The kernel tells of a closed end again and again.
        readiness.contains(.ended) ? inputEnded() : writeMore()
      }
      output = pipe(pipes.output, .readable) { [unowned self] _ in
        if !read(output, to: onOutput) { closeOutput() }
      }
      errors = pipe(pipes.errors, .readable) { [unowned self] _ in
        if !read(errors, to: onErrorOutput) { closeErrors() }
      }
    }
    if !description.outlivesDaemon { Self.running[id] = self }
    // Kept alive by its watch until it is reaped.
    endWatch = EventLoop.shared.watch(pidfd, .readable) { _ in self.reap() }
  }

  /// The last line that it wrote to a standard error that is no pipe.
  public var lastKeptError: String? {
    guard let keptErrors else { return nil }
    var buffer = [UInt8](repeating: 0, count: Spawner.keptErrorSize)
    let count = unsafe pread(keptErrors, &buffer, buffer.count, 0)
    // The file has its full size from the beginning; what was not written is zero.
    let written = buffer.prefix(max(0, count)).prefix { $0 != 0 }
    let lines = String(decoding: written, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.last.map(String.init)
  }

  /// Queues bytes for its standard input.
  public func write(_ bytes: some Sequence<UInt8>) {
    guard takesInput else { return }
    unwritten.append(contentsOf: bytes)
    writeMore()
  }

  /// Whether its standard input is open at both ends.
  public var takesInput: Bool { input != nil && !closesInput }

  /// How many bytes of what was queued it had read when its input was closed, at its end at the latest.
  public private(set) var readCount = 0

  /// Closes its standard input once everything is written.
  public func closeInput() {
    closesInput = true
    writeMore()
  }

  /// Sends a signal to it, or, where it has a session of its own, to all that it started in it.
  public func signal(_ number: Int32) {
    // Not after it was reaped: the number may be another process's by then.
    if end == nil { kill(hasOwnSession ? -id : id, number) }
  }

  /// Tells it to end with a signal, or notes that it was told in its own words.
  public func end(_ number: Int32? = nil) {
    isAskedToEnd = true
    if let number { signal(number) }
  }

  // MARK: All of them

  /// Those that end with this process.
  private static var running: [pid_t: ChildProcess] = [:]
  private static var whenAllEnded: (@LoopActor () -> Void)?

  /// Ends all children but those that outlive this process: with SIGTERM, unless they were asked
  /// already, and after `limit` with SIGKILL; then runs `action`.
  public static func endAll(within limit: Duration, then action: @escaping @LoopActor () -> Void) {
    whenAllEnded = action
    for child in running.values where !child.isAskedToEnd { child.end(SIGTERM) }
    EventLoop.shared.after(limit) {
      for child in running.values { child.signal(SIGKILL) }
      allEnded()
    }
    if running.isEmpty { allEnded() }
  }

  private static func allEnded() {
    whenAllEnded?()
    whenAllEnded = nil
  }

  // MARK: Pipes

  private func pipe(
    _ descriptor: Int32, _ interest: Readiness, _ handler: @escaping @LoopActor (Readiness) -> Void
  ) -> Pipe? {
    guard let watch = EventLoop.shared.watch(descriptor, interest, handler) else {
      close(descriptor)
      return nil
    }
    return Pipe(descriptor: descriptor, watch: watch)
  }

  private func writeMore() {
    guard let pipe = input else { return }
    while !unwritten.isEmpty {
      let count = unsafe unwritten.withUnsafeBytes {
        unsafe Glibc.write(pipe.descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else {
        if errno == EINTR { continue }
        if errno == EAGAIN { return pipe.watch.setInterest(.writable) }
        // It closed its end: what is left will never be read.
        return inputEnded()
      }
      unwritten.removeFirst(count)
      writtenCount += count
    }
    unwritten = []
    pipe.watch.setInterest([])
    if closesInput { closeInputNow() }
  }

  private func inputEnded() {
    closeInputNow()
    onInputEnd?()
  }

  private func closeInputNow() {
    guard let pipe = input else { return }
    // What nobody has read stays in the pipe until both ends are closed (pipe(7), FIONREAD).
    readCount = writtenCount - max(0, Int(deeplink_unread_bytes(pipe.descriptor)))
    pipe.close()
    input = nil
    unwritten = []
  }

  private func closeOutput() {
    output?.close()
    output = nil
  }

  private func closeErrors() {
    errors?.close()
    errors = nil
  }

  /// Reads what is there, a bounded part of it; false at the end.
  private func read(
    _ pipe: Pipe?, to handler: (@LoopActor (ArraySlice<UInt8>) -> Void)?
  ) -> Bool {
    guard let pipe else { return false }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe Glibc.read(pipe.descriptor, &buffer, buffer.count)
    if count > 0 {
      handler?(buffer[..<count])
      return true
    }
    return count < 0 && (errno == EAGAIN || errno == EINTR)
  }

  // MARK: The end

  private func reap() {
    var status: Int32 = 0
    guard end == nil else { return }
    // As long as it is not reaped its number is its group's and nobody else's.
    if isAskedToEnd && hasOwnSession { kill(-id, SIGKILL) }
    let reaped = unsafe waitpid(id, &status, WNOHANG)
    // Where SIGCHLD is ignored the kernel reaps, and how it ended is lost (waitpid(2), ECHILD).
    guard reaped == id || reaped < 0 && errno == ECHILD else { return }
    // WIFEXITED and its kin are macros: the low seven bits are the signal, 0 for none.
    let signal = status & 0x7f
    let end: ProcessEnd =
      reaped < 0 ? .exited(-1) : signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    self.end = end
    Self.running[id] = nil
    endWatch?.cancel()
    close(pidfd)
    closeInputNow()
    drain()
    onEnd?(end)
    onEnd = nil
    onInputEnd = nil
    onOutput = nil
    onErrorOutput = nil
    if let keptErrors { close(keptErrors) }
    keptErrors = nil
    if Self.running.isEmpty { Self.allEnded() }
    // Only now: the watch held the last reference.
    endWatch = nil
  }

  /// Takes what it wrote before its end.
  ///
  /// Something that it started may hold the pipes open and go on writing, so there is a limit.
  private func drain() {
    for _ in 0..<128 {
      guard let output, hasInput(output.descriptor), read(output, to: onOutput) else { break }
    }
    for _ in 0..<128 {
      guard let errors, hasInput(errors.descriptor), read(errors, to: onErrorOutput) else { break }
    }
    closeOutput()
    closeErrors()
  }

  private func hasInput(_ descriptor: Int32) -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe Glibc.poll(&poll, 1, 0) > 0
  }
}
