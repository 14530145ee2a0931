import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire
import Glibc

/// Starts a plugin's programs once, so that what they miss is known before a link needs them.
///
/// A worker is started in its sandbox, asked to `initialize`, and ended; it gets no link. Of a command
/// the program is looked up and its sandbox described, as it does nothing without a link.
@LoopActor public struct Trial {
  /// What a program will not do, and where the manifest says it.
  public struct Fault: Hashable, Sendable {
    /// The place of the action's kind: `$.routes[1].action.worker`.
    public let path: String
    /// A lower-case sentence.
    public let reason: String
    public let hint: String?
  }

  /// What came of the trial.
  public struct Findings: Hashable, Sendable {
    public var faults: [Fault] = []
    /// How many workers were ready.
    public var startedCount = 0
    /// The places of workers that were not started, as they can reach more than their own.
    public var notStarted: [String] = []
  }

  private let place: PluginPlace
  private let environment: LaunchEnvironment
  private var findings = Findings()

  /// Tries the programs of `plugin`, each once however many routes name it.
  ///
  /// - Parameters:
  ///   - place: With a home of the trial's own: what the plugin keeps is not touched.
  ///   - launchTimeout: For workers whose manifest does not say how long they may take.
  ///   - mayStart: Whether a worker with such a sandbox is started.
  public static func findings(
    of plugin: Plugin, at place: PluginPlace, _ environment: [String: String],
    launchTimeout: Duration, mayStart: (Sandbox) -> Bool
  ) async -> Findings {
    var trial = Trial(
      place: place, environment: LaunchEnvironment(variables: environment))
    if plugin.runsConfined, let error = await Sandbox.availability(environment) {
      trial.findings.faults = [Fault(path: "$", reason: error.description, hint: nil)]
      return trial.findings
    }
    var tried: Set<[String]> = []
    for (index, route) in plugin.routes.enumerated() {
      let path = "$.routes[\(index)].action"
      switch route.action {
      case .worker(let worker) where tried.insert(worker.run + ["\(worker.sandbox)"]).inserted:
        guard mayStart(worker.sandbox) else {
          trial.findings.notStarted.append("\(path).worker")
          continue
        }
        await trial.start(
          worker, within: worker.limits.launchTimeout ?? launchTimeout, "\(path).worker")
      case .command(let command):
        trial.lookUp(
          command.run.prefix(1).map { $0.text { _ in "" } }, command.sandbox, "\(path).command")
      default: break
      }
    }
    return trial.findings
  }

  private mutating func start(
    _ worker: Action.Worker, within limit: Duration, _ path: String
  ) async {
    let target = WorkerTarget(worker, at: place)
    var lines: [String] = []
    target.onLog = { level, line in
      if level == "stderr" { lines = (lines + [line]).suffix(50) }
    }
    let event = await withCheckedContinuation { continuation in
      var waiting: CheckedContinuation<TargetEvent?, Never>? = continuation
      func tell(_ event: TargetEvent?) {
        waiting?.resume(returning: event)
        waiting = nil
      }
      let timer = EventLoop.shared.after(limit) { tell(nil) }
      target.onEvent = {
        timer.cancel()
        tell($0)
      }
      target.start(environment)
    }
    target.stop()
    // Its end is waited for: whoever looks at the plugin next finds nothing of it running.
    await withCheckedContinuation { continuation in
      ChildProcess.endAll(within: .seconds(6)) { continuation.resume() }
    }
    switch event {
    case .ready: findings.startedCount += 1
    case .startFailed(_, let message): addFault(path, message, lines, worker.sandbox)
    case .gone, nil:
      addFault(
        path, "it did not answer initialize in \(limit.components.seconds) s", lines,
        worker.sandbox)
    }
  }

  private mutating func lookUp(_ words: [String], _ sandbox: Sandbox, _ path: String) {
    do throws(PluginProcessError) {
      _ = try ProcessDescription.plugin(words, in: sandbox, at: place, environment)
    } catch {
      addFault(path, error.description, [], sandbox)
    }
  }

  private mutating func addFault(
    _ path: String, _ message: String, _ lines: [String], _ sandbox: Sandbox
  ) {
    let missed = MissedOpening(lines: lines, sandbox, place, environment.variables)
    findings.faults.append(Fault(path: path, reason: message, hint: missed?.hint))
  }
}

extension Plugin {
  /// Whether one of its programs runs in a sandbox.
  public var runsConfined: Bool {
    routes.contains { route in
      switch route.action.sandbox {
      case .confined: true
      case Sandbox.none?, nil: false
      }
    }
  }
}
