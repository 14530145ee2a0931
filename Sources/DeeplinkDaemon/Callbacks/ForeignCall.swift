import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Calls an app that knows nothing of deeplinkd but speaks x-callback-url: its URL goes to the
/// default application of its scheme with callbacks of ours, and its callback is the answer.
@LoopActor struct ForeignCall {
  let builtIn: BuiltInLinks
  let book: DeliveryBook
  let launcher: ProgramLauncher

  /// `answer` runs once: with the outcome, or with none when `limit` passed.
  func open(
    _ link: Link, limit: Duration, _ environment: LaunchEnvironment,
    answer: @escaping @LoopActor (Result<OpenReply, Refusal>) -> Void
  ) {
    let id = book.nextID()
    let answer = FirstAnswer(answer)
    let nonce = builtIn.expectCallback { outcome, result in
      var result = result
      if outcome == .failed {
        result["reason"] = .string(FailureReason.error.rawValue)
        result["message"] = result["errorMessage"] ?? .string("the app called back with an error")
      }
      answer.give(.success(OpenReply(id: id, outcome: outcome, result: result)))
    }
    guard let nonce else {
      return answer.give(.failure(Refusal(.queueFull, "too many calls wait for an answer already")))
    }
    let callback = "\(BuiltInLinks.scheme.text):callback/\(nonce)"
    let url = CallbackURL.url(
      link.canonical.href,
      adding: [
        ("x-source", "deeplinkd"), ("x-success", "\(callback)/success"),
        ("x-error", "\(callback)/error"), ("x-cancel", "\(callback)/cancel"),
      ])
    guard let url else {
      builtIn.forget(nonce)
      return answer.give(.failure(Refusal(.malformed, "the link has no room for a callback")))
    }
    answer.give(after: limit) { [builtIn] in
      builtIn.forget(nonce)
      return .success(OpenReply(id: id, outcome: nil, result: [:]))
    }
    OpenAction.send(url, environment, launcher: launcher) {
      [builtIn] result in
      guard case .failed(let reason, let message) = result else { return }
      builtIn.forget(nonce)
      answer.give(
        .success(
          OpenReply(
            id: id, outcome: .failed,
            result: ["reason": .string(reason.rawValue), "message": .string(message)])))
    }
  }
}
