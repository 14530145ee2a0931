import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// An application without a bus interface: its `Exec=` is started once for each link, as apps expect
/// that forward to their first instance themselves.
public enum ExecApplication {
  /// How long it has to fail.
  private static let verdict = Duration.seconds(1)

  /// Starts it for one link; handled when it started and did not fail within a second.
  @LoopActor public static func open(
    _ handover: Handover, _ entry: DesktopEntry, at location: String, id: String,
    _ environment: LaunchEnvironment, launcher: ProgramLauncher,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    do throws(ExecLine.Invalid) {
      let line = try ExecLine(entry.string("Exec") ?? "")
      guard line.takesURL else { throw ExecLine.Invalid("its Exec takes no URL (%u)") }
      guard !entry.runsInTerminal else { throw ExecLine.Invalid("it runs in a terminal") }
      let words = line.arguments(
        url: handover.link.canonical.href, icon: entry.icon, name: entry.name, location: location)
      let variables = environment.all
      guard
        let program = ProgramLookup.path(
          of: words[0], in: "/", searching: variables["PATH"] ?? "")
      else { throw ExecLine.Invalid("there is no program '\(words[0])' that can be run") }
      let description = ProcessDescription(
        arguments: [program] + words.dropFirst(), environment: variables,
        folder: entry.folder ?? variables["HOME"] ?? "/")
      start(description, id: id, environment, launcher, completion)
    } catch {
      completion(.failed(.launch, "the application \(id) cannot be opened: \(error)"))
    }
  }

  @LoopActor private static func start(
    _ description: ProcessDescription, id: String, _ environment: LaunchEnvironment,
    _ launcher: ProgramLauncher, _ completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    let answer = FirstAnswer(completion)
    answer.give(after: verdict) { .handled([:]) }
    launcher.launch(description, id: id, environment) { end in
      answer.give(end.isFailure ? .failed(.exit, end.message) : .handled([:]))
    }
  }
}
