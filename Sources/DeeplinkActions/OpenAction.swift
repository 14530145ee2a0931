import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Another URL, opened in its default application by xdg-open.
public enum OpenAction {
  /// How long xdg-open has to fail: some of its ways end only with the application.
  private static let verdict = Duration.seconds(5)

  /// Whatever it starts is no part of the plugin that sent the URL; such an id tells nothing of a source.
  private static let id = "org.deeplinkd.Open"

  /// - Parameter isAllowed: Whether URLs of a scheme may be sent out, and that this one was.
  @LoopActor public static func run(
    _ action: Action.OpenURL, _ handover: Handover, _ environment: LaunchEnvironment,
    launcher: ProgramLauncher, isAllowed: @LoopActor (ParsedURL) -> Bool,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    guard let text = action.url(handover.substitution), let url = try? ParsedURL.parse(text) else {
      return completion(
        .failed(.error, "the values of the link would make another URL than its route opens"))
    }
    guard isAllowed(url) else {
      return completion(
        .failed(
          .error, "'\(url.scheme)' URLs are not sent out: settings have the list outgoingSchemes"))
    }
    send(url, environment, launcher: launcher, completion: completion)
  }

  /// Hands a URL to its default application; handled when xdg-open did not say at once that it failed.
  @LoopActor public static func send(
    _ url: ParsedURL, _ environment: LaunchEnvironment, launcher: ProgramLauncher,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    let variables = environment.all
    guard
      let program = ProgramLookup.path(of: "xdg-open", in: "/", searching: variables["PATH"] ?? "")
    else { return completion(.failed(.launch, "there is no xdg-open")) }
    let answer = FirstAnswer(completion)
    answer.give(after: verdict) { .handled([:]) }
    launcher.launch(
      ProcessDescription(
        arguments: [program, url.canonical.href], environment: variables,
        folder: variables["HOME"] ?? "/"),
      id: id, environment
    ) { end in
      answer.give(end.isFailure ? .failed(.exit, "xdg-open: \(end.message)") : .handled([:]))
    }
  }
}
