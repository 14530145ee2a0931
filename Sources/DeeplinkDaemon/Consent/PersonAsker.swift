import DeeplinkBus
import DeeplinkLoop

/// Asks by a notification with buttons where all of the question fits into one, else by a dialog.
@LoopActor final class PersonAsker: Asker {
  private let connection: Connection

  init(connection: Connection) { self.connection = connection }

  func ask(
    _ question: Question, _ environment: [String: String], limit: Duration,
    _ answer: @escaping @LoopActor (Answer) -> Void
  ) -> any AskedQuestion {
    let asking = Asking(answer)
    Task { [connection] in
      if question.isShort,
        let service = await NotificationService.found(on: connection),
        await service.show(question, limit: limit, asking)
      {
        return
      }
      guard !asking.isOver else { return }
      if !DialogProgram.show(question, environment, asking) { asking.answer(.unavailable) }
    }
    return asking
  }
}

/// A question on its way to the screen, or there.
@LoopActor final class Asking: AskedQuestion {
  private var answered: (@LoopActor (Answer) -> Void)?
  private var takeAway: (@LoopActor () -> Void)?

  init(_ answered: @escaping @LoopActor (Answer) -> Void) { self.answered = answered }

  var isOver: Bool { answered == nil }

  /// Says how it is taken from the screen; at once where it is over already.
  func isShown(_ takeAway: @escaping @LoopActor () -> Void) {
    isOver ? takeAway() : (self.takeAway = takeAway)
  }

  /// The first answer counts.
  func answer(_ answer: Answer) {
    guard let answered else { return }
    withdraw()
    answered(answer)
  }

  func withdraw() {
    answered = nil
    takeAway?()
    takeAway = nil
  }
}
