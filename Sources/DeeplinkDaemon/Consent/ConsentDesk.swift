import DeeplinkLoop
import DeeplinkRouting

/// A way to put a question to a person.
@LoopActor protocol Asker: AnyObject {
  /// Shows the question; `answer` runs once, unless it is withdrawn before.
  func ask(
    _ question: Question, _ environment: [String: String], limit: Duration,
    _ answer: @escaping @LoopActor (Answer) -> Void
  ) -> any AskedQuestion
}

/// A question that is on the screen.
@LoopActor protocol AskedQuestion: AnyObject {
  /// Takes it from the screen; nothing is answered any more.
  func withdraw()
}

/// Puts questions to a person one at a time, so that no page can cover the screen with them.
///
/// Equal questions are asked once. Of one source at most one waits beside the one that is asked; what
/// is over is denied. A source whose question nobody answered is denied for a while.
@LoopActor final class ConsentDesk {
  /// What came of a question for one link.
  enum Ruling: Hashable, Sendable {
    case answered(Answer)
    /// Without asking, and why.
    case denied(String)
  }

  private struct Entry {
    let question: Question
    let environment: [String: String]
    var waiting: [(id: UInt64, ruled: @LoopActor (Ruling) -> Void)]
  }

  private let asker: any Asker
  private let limit: Duration
  private let silentFor: Double
  private let now: @LoopActor () -> Double
  private var entries: [Entry] = []
  /// Whether the first entry is on the screen.
  private var isOnScreen = false
  private var asked: (any AskedQuestion)?
  /// Which showing it is.
  private var number = 0
  private var isRuling = false
  private var timer: LoopTimer?
  /// Until when a source is denied, in seconds.
  private var mutedUntil: [String: Double] = [:]
  /// Whether an answer to another question settled this one.
  var isSettled: (@LoopActor (Question) -> Bool)?

  static let limit = Duration.seconds(60)
  private static let maximum = 16

  init(
    asker: any Asker, limit: Duration = limit, silentFor: Duration = .seconds(300),
    now: @escaping @LoopActor () -> Double = { Clock.seconds }
  ) {
    self.asker = asker
    self.limit = limit
    self.silentFor = Double(silentFor.components.seconds)
    self.now = now
  }

  /// Asks, now or when it is its turn; `ruled` runs once, unless the link is taken back.
  func ask(
    _ question: Question, for id: UInt64, _ environment: [String: String],
    _ ruled: @escaping @LoopActor (Ruling) -> Void
  ) {
    mutedUntil = mutedUntil.filter { $0.value > now() }
    guard mutedUntil[question.source.key] == nil else { return ruled(.denied(Self.mutedReason)) }
    if let index = entries.firstIndex(where: { $0.question == question }) {
      entries[index].waiting.append((id, ruled))
      return
    }
    let waits = entries.dropFirst().contains { $0.question.source.key == question.source.key }
    guard !waits, entries.count < Self.maximum else {
      return ruled(.denied("too many questions wait for an answer already"))
    }
    entries.append(Entry(question: question, environment: environment, waiting: [(id, ruled)]))
    show()
  }

  /// Takes a link back; a question that nobody waits for any more disappears.
  ///
  /// False where it is not here.
  func cancel(_ id: UInt64) -> Bool {
    for index in entries.indices {
      guard let place = entries[index].waiting.firstIndex(where: { $0.id == id }) else { continue }
      entries[index].waiting.remove(at: place)
      guard entries[index].waiting.isEmpty else { return true }
      entries.remove(at: index)
      if index == 0, isOnScreen {
        asked?.withdraw()
        clear()
        show()
      }
      return true
    }
    return false
  }

  private static let mutedReason =
    "a question was not answered; this source is not asked about for 5 minutes"

  /// Shows the first question where none is on the screen.
  private func show() {
    guard !isOnScreen, !isRuling, let entry = entries.first else { return }
    isOnScreen = true
    number += 1
    let number = number
    if isSettled?(entry.question) == true { return answered(.once(token: nil), number) }
    timer = EventLoop.shared.after(limit) { [weak self] in
      self?.asked?.withdraw()
      self?.answered(.silence, number)
    }
    asked = asker.ask(entry.question, entry.environment, limit: limit) { [weak self] in
      self?.answered($0, number)
    }
  }

  private func clear() {
    timer?.cancel()
    timer = nil
    asked = nil
    isOnScreen = false
  }

  private func answered(_ answer: Answer, _ number: Int) {
    // A late answer is not one to the question that is on the screen now.
    guard isOnScreen, number == self.number else { return }
    clear()
    let entry = entries.removeFirst()
    var denied: [Entry] = []
    if answer == .silence {
      let source = entry.question.source.key
      mutedUntil[source] = now() + silentFor
      denied = entries.filter { $0.question.source.key == source }
      entries.removeAll { $0.question.source.key == source }
    }
    // Told before the next one is shown, which the answer may settle.
    isRuling = true
    for link in entry.waiting { link.ruled(.answered(answer)) }
    for link in denied.flatMap(\.waiting) { link.ruled(.denied(Self.mutedReason)) }
    isRuling = false
    show()
  }
}
