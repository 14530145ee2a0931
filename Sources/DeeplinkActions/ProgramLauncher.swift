import DeeplinkBus
import DeeplinkLoop
import Glibc

/// Starts programs of apps so that they outlive the daemon.
///
/// Where the session has systemd, as transient units named by the desktop convention, in a cgroup of
/// their own; elsewhere in a session of their own.
@LoopActor public final class ProgramLauncher {
  private let connection: Connection
  /// The sessions of programs that run, each with the app that it was started for.
  private var sessions: [pid_t: String] = [:]

  public init(connection: Connection) { self.connection = connection }

  /// Whether `process` is of a program that was started for the app `id`, in a session of its own.
  ///
  /// A number is not given to another session as long as one has it.
  public func hasStarted(_ process: UInt32, for id: String) -> Bool {
    sessions[getsid(pid_t(truncatingIfNeeded: process))] == id
  }

  /// A program that ended, and whether that is a failure.
  public struct End: Hashable, Sendable {
    public var isFailure: Bool
    public var message: String
  }

  /// Starts `description` for the app `id`; `ended` runs at most once, when it could not be started
  /// or has ended.
  public func launch(
    _ description: ProcessDescription, id: String, _ environment: LaunchEnvironment,
    ended: @escaping @LoopActor (End) -> Void
  ) {
    Task {
      let systemd = try? await connection.owner(of: SystemdUnit.manager)
      if let systemd {
        await SystemdUnit.start(
          description, id: id, environment, on: connection, manager: systemd, ended: ended)
      } else {
        spawn(description, id: id, ended: ended)
      }
    }
  }

  private func spawn(
    _ description: ProcessDescription, id: String, ended: @escaping @LoopActor (End) -> Void
  ) {
    var description = description
    description.hasOwnSession = true
    description.outlivesDaemon = true
    do throws(SpawnError) {
      let child = try ChildProcess(description)
      sessions[child.id] = id
      child.onEnd = { [self, unowned child] end in
        sessions[child.id] = nil
        let words = child.lastKeptError.map { ": \($0)" } ?? ""
        ended(End(isFailure: end != .exited(0), message: "\(end)\(words)"))
      }
    } catch {
      ended(End(isFailure: true, message: error.description))
    }
  }
}

/// A `ProgramLaunch` of fixed words: the `launch` of a manifest.
@LoopActor public final class FixedProgram: ProgramLaunch {
  private let launcher: ProgramLauncher
  private let words: [String]
  private let id: String
  private let folder: String

  public init(_ words: [String], id: String, folder: String, launcher: ProgramLauncher) {
    self.words = words
    self.id = id
    self.folder = folder
    self.launcher = launcher
  }

  public func launch(
    _ environment: LaunchEnvironment, failed: @escaping @LoopActor (String) -> Void
  ) {
    let variables = environment.all
    let program = words.first ?? ""
    guard let path = ProgramLookup.path(of: program, in: folder, searching: variables["PATH"] ?? "")
    else { return failed("there is no program '\(program)' that can be run") }
    let description = ProcessDescription(
      arguments: [path] + words.dropFirst(), environment: variables,
      folder: variables["HOME"] ?? "/")
    launcher.launch(description, id: id, environment) { end in
      // A program that goes to the background ends well long before its service is ready.
      if end.isFailure { failed("\(end.message) before it was ready") }
    }
  }
}
