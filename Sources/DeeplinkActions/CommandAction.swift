import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire
import Glibc

/// One process for each link: arguments made after splitting, output collected, status judged.
@LoopActor public final class CommandAction {
  /// What it may write to standard output, in bytes.
  static let maximumOutput = 1 << 20

  private let sandbox: Sandbox
  private var output: [UInt8] = []
  private var lastErrors: [UInt8] = []
  private var failure: HandoverResult?
  private var limit: LoopTimer?

  private init(_ sandbox: Sandbox) { self.sandbox = sandbox }

  /// Runs the command for `handover`; `completion` runs once, after its end.
  public static func run(
    _ command: Action.Command, _ handover: Handover, at place: PluginPlace,
    _ environment: LaunchEnvironment,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    let words = command.arguments(handover.substitution)
    var description: ProcessDescription
    do throws(PluginProcessError) {
      description = try .plugin(words, in: command.sandbox, at: place, environment)
    } catch {
      return completion(.failed(.launch, error.description))
    }
    description.hasOwnSession = true
    do throws(SpawnError) {
      let child = try ChildProcess(description)
      let run = CommandAction(command.sandbox)
      child.onOutput = { [unowned child] in run.received($0, from: child) }
      child.onErrorOutput = { run.lastErrors = (run.lastErrors + $0).suffix(1000) }
      child.onEnd = { [unowned child] in completion(run.result($0, of: child)) }
      if command.input == .context {
        child.write((handover.confined(to: command.sandbox).json.description + "\n").utf8)
      }
      child.closeInput()
      run.limit = EventLoop.shared.after(command.timeLimit) { [weak child] in
        run.stop(child, "it took longer than \(command.timeLimit)")
      }
    } catch {
      completion(.failed(.launch, error.description))
    }
  }

  private func received(_ bytes: ArraySlice<UInt8>, from child: ChildProcess) {
    output += bytes
    guard output.count > Self.maximumOutput else { return }
    output = []
    stop(child, "it wrote more than \(Self.maximumOutput) bytes")
  }

  private func stop(_ child: ChildProcess?, _ message: String) {
    if failure == nil { failure = .failed(.limit, message) }
    child?.signal(SIGKILL)
  }

  private func result(_ end: ProcessEnd, of child: ChildProcess) -> HandoverResult {
    limit?.cancel()
    if let failure { return failure }
    switch end {
    case .exited(0):
      return .handled([
        "exitStatus": .integer(0), "output": .string(String(decoding: output, as: UTF8.self)),
      ])
    // Not its own fault: the daemon ends.
    case .exited where child.isAskedToEnd, .signalled where child.isAskedToEnd:
      return .interrupted
    case .exited, .signalled:
      let words = String(decoding: lastErrors, as: UTF8.self).split(whereSeparator: \.isNewline)
      if let error = SandboxError(lastLine: words.last.map(String.init), in: sandbox) {
        return .failed(.launch, error.description)
      }
      return .failed(.exit, "\(end)\(words.last.map { ": \($0)" } ?? "")")
    }
  }
}
