import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire
import Glibc

/// A process that stays, and is handed links on its standard input.
///
/// It is ready when it has answered `initialize`. It ends with the daemon, after `idleTimeout`
/// without a link, and when it does not answer one in time.
@LoopActor public final class WorkerTarget: Target {
  public var onEvent: (@LoopActor (TargetEvent) -> Void)?
  /// Lines for the journal: what the worker logs and what it writes to standard error.
  public var onLog: (@LoopActor (_ level: String, _ line: String) -> Void)?

  private let action: Action.Worker
  private let place: PluginPlace
  private var process: Running?
  /// A start that waits for the last process to be gone.
  private var waitingStart: LaunchEnvironment?

  /// One life of the worker.
  private struct Running {
    let child: ChildProcess
    var lines = LineSplitter(limit: WorkerProtocol.maximumLine)
    var errorLines = LineSplitter(limit: 4096)
    var lastErrorLine: String?
    var isReady = false
    /// It gets no more links.
    var isStopping = false
    /// It was stopped for being late.
    var wasStopped = false
    /// It wrote something that means nothing, and is being killed for it.
    var isBroken = false
    var nextRequest: UInt64 = 1
    /// How many bytes all requests have.
    var requestedCount = 0
    var unanswered: [UInt64: Request] = [:]
    var idle: LoopTimer?
    var kill: LoopTimer?
  }

  private struct Request {
    /// Where its last byte stands in the worker's input; never there when it was not written.
    let end: Int
    let completion: @LoopActor (HandoverResult) -> Void
  }

  public init(_ action: Action.Worker, at place: PluginPlace) {
    self.action = action
    self.place = place
  }

  /// How long a worker has to end by itself once its input is closed.
  private static let grace = Duration.seconds(5)
  /// The same for one that does not answer, or that the next one waits for.
  private static let shortGrace = Duration.seconds(1)

  // MARK: Starting

  public func start(_ environment: LaunchEnvironment) {
    if let child = process?.child {
      waitingStart = environment
      return killIfStillThere(child, after: Self.shortGrace)
    }
    var description: ProcessDescription
    do throws(PluginProcessError) {
      description = try .plugin(action.run, in: action.sandbox, at: place, environment)
    } catch {
      return cannotStart(error.description)
    }
    description.hasOwnSession = true
    do throws(SpawnError) {
      let child = try ChildProcess(description)
      child.onOutput = { [weak self] in self?.received($0) }
      child.onErrorOutput = { [weak self] in self?.receivedError($0) }
      child.onEnd = { [weak self] in self?.ended($0) }
      child.onInputEnd = { [weak self] in self?.inputEnded() }
      process = Running(child: child)
      request(
        "initialize",
        .object(["protocol": .integer(WorkerProtocol.version), "plugin": .string(place.id.text)])
      ) { [weak self] result in
        guard let self, process?.isStopping == false else { return }
        switch result {
        case .handled:
          process?.isReady = true
          onEvent?(.ready(wasRunning: false))
        case .failed(let reason, let message):
          stop()
          onEvent?(.startFailed(reason, "it answered initialize with: \(message)"))
        case .declined, .notReady, .notDelivered, .interrupted: break
        }
      }
    } catch {
      cannotStart(error.description)
    }
  }

  /// After the caller's turn, so that an event never comes before the call that causes it returns.
  private func cannotStart(_ message: String) {
    EventLoop.shared.eachRound { [weak self] in
      self?.onEvent?(.startFailed(.launch, message))
      return true
    }
  }

  // MARK: Links

  public func handOver(
    _ handover: Handover, limit: Duration,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    guard let process, process.isReady else {
      return completion(.notDelivered("the worker had ended"))
    }
    guard !process.isStopping, !process.isBroken, process.child.takesInput else {
      // On its way out. Told at its end: what it has answered until then comes first.
      self.process?.unanswered[process.nextRequest] = Request(end: .max, completion: completion)
      self.process?.nextRequest += 1
      if !process.isStopping { end(process.child) }
      return killIfStillThere(process.child, after: Self.shortGrace)
    }
    process.idle?.cancel()
    self.process?.idle = nil
    request("deliver", handover.confined(to: action.sandbox).json, completion)
  }

  private func request(
    _ method: String, _ parameters: JSONValue,
    _ completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    guard let child = process?.child, let id = process?.nextRequest else { return }
    let line = WorkerProtocol.request(method, id: id, parameters).utf8
    let end = (process?.requestedCount ?? 0) + line.count
    process?.nextRequest += 1
    process?.requestedCount = end
    process?.unanswered[id] = Request(end: end, completion: completion)
    child.write(line)
  }

  // MARK: What it writes

  private func received(_ bytes: ArraySlice<UInt8>) {
    guard process?.isBroken == false else { return }
    guard let lines = process?.lines.lines(adding: bytes) else {
      return broken("it wrote a line of more than \(WorkerProtocol.maximumLine) bytes")
    }
    for line in lines where !line.isEmpty {
      switch WorkerProtocol.incoming(line) {
      case .answer(let id, let result): answered(id, Self.result(of: result))
      case .error(let id, let message): answered(id, .failed(.error, message))
      case .log(let level, let message): onLog?(level, Self.printable(message))
      case .other: break
      case nil: return broken("it wrote a line that is no JSON object")
      }
    }
  }

  private func answered(_ id: UInt64, _ result: HandoverResult) {
    guard let request = process?.unanswered.removeValue(forKey: id) else { return }
    request.completion(result)
    startIdleTimer()
  }

  /// `{"handled": true|false, "result": {…}}`; an answer without `handled` has handled it.
  private static func result(of answer: JSONValue) -> HandoverResult {
    if answer["handled"]?.boolean == false { return .declined }
    return .handled(answer["result"]?.object ?? [:])
  }

  /// It does not speak the protocol: what it writes after this means nothing.
  private func broken(_ message: String) {
    onLog?("error", message)
    process?.isBroken = true
    process?.lastErrorLine = message
    process?.child.signal(SIGKILL)
  }

  private func receivedError(_ bytes: ArraySlice<UInt8>) {
    guard let lines = process?.errorLines.lines(adding: bytes) else {
      process?.errorLines = LineSplitter(limit: 4096)
      return
    }
    for line in lines where !line.isEmpty {
      let text = Self.printable(String(decoding: line, as: UTF8.self))
      process?.lastErrorLine = text
      onLog?("stderr", text)
    }
  }

  /// One line that steers no terminal and no log.
  private static func printable(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(500) {
      line.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    return String(line)
  }

  // MARK: Ending

  private func startIdleTimer() {
    guard let process, process.isReady, process.unanswered.isEmpty, !process.isStopping else {
      return
    }
    self.process?.idle = EventLoop.shared.after(action.idleTimeout) { [weak self] in
      self?.shutDown()
    }
  }

  /// Asks it to end: `shutdown`, then the end of its input, then SIGKILL.
  private func shutDown() {
    guard let child = process?.child, process?.isStopping == false else { return }
    request("shutdown", .object([:])) { _ in }
    process?.isStopping = true
    child.closeInput()
    child.end()
    killIfStillThere(child, after: Self.grace)
  }

  private func killIfStillThere(_ child: ChildProcess, after grace: Duration) {
    process?.kill?.cancel()
    process?.kill = EventLoop.shared.after(grace) { [weak child] in child?.signal(SIGKILL) }
  }

  public func stop() {
    waitingStart = nil
    guard let child = process?.child else { return }
    if process?.isReady == true, process?.unanswered.isEmpty == true { return shutDown() }
    // It has something that it does not answer: asking would wait behind that.
    process?.wasStopped = true
    end(child)
  }

  /// It reads no more links: those that it has not read are for the next one.
  private func inputEnded() {
    guard let process, process.isReady, !process.isStopping, !process.unanswered.isEmpty else {
      return
    }
    end(process.child)
  }

  private func end(_ child: ChildProcess) {
    process?.isStopping = true
    child.end(SIGTERM)
    killIfStillThere(child, after: Self.shortGrace)
  }

  private func ended(_ end: ProcessEnd) {
    guard let process else { return }
    self.process = nil
    process.idle?.cancel()
    process.kill?.cancel()
    if process.isReady {
      // First, so that nothing that waits is handed to a process that is no more.
      onEvent?(.gone)
      for request in process.unanswered.sorted(by: { $0.key < $1.key }).map(\.value) {
        request.completion(result(of: request, in: process))
      }
    } else if !process.isStopping {
      let lastWords = process.lastErrorLine.map { ": \($0)" } ?? ""
      let sandbox = SandboxError(lastLine: process.lastErrorLine, in: action.sandbox)
      onEvent?(
        .startFailed(.launch, sandbox?.description ?? "\(end) before it was ready\(lastWords)"))
    }
    if let environment = waitingStart {
      waitingStart = nil
      start(environment)
    }
  }

  /// What becomes of a request that a worker that is gone has not answered.
  ///
  /// One that ended by itself and left it unread, or a part of it, has not acted on it.
  private func result(of request: Request, in process: Running) -> HandoverResult {
    let isUnread = process.child.readCount < request.end
    let endedByItself = !process.wasStopped && !process.isBroken
    return isUnread && endedByItself || request.end == .max
      ? .notDelivered("the worker ended before it read the link") : .interrupted
  }
}
