import DeeplinkLoop
import Glibc

/// Work that waits for something, from a command that is a plain function.
enum LoopWork {
  /// Runs `body` on the event loop, on this thread, and gives its answer.
  ///
  /// - Parameter waiting: What a person at a terminal reads once it takes longer than a second; nil
  ///   for work that has no end.
  static func perform<Answer: Sendable>(
    _ waiting: String?, _ body: @escaping @LoopActor () async -> Answer
  ) -> Answer {
    var work: Work<Answer>?
    return EventLoop.shared.run { () -> Answer? in
      if work == nil {
        work = Work()
        work?.start(waiting, body)
      }
      return work?.answer
    }
  }

  @LoopActor private final class Work<Answer: Sendable> {
    private(set) var answer: Answer?

    func start(_ waiting: String?, _ body: @escaping @LoopActor () async -> Answer) {
      let progress = Progress(waiting)
      Task {
        let answer = await body()
        progress.stop()
        self.answer = answer
      }
    }
  }
}

/// A line on a terminal's standard error that counts the seconds, from the first on.
@LoopActor private final class Progress {
  private let text: String
  private var seconds = 0
  private var timer: LoopTimer?

  init(_ text: String?) {
    self.text = text ?? ""
    if text != nil, isatty(STDERR_FILENO) == 1 { wait() }
  }

  private func wait() {
    timer = EventLoop.shared.after(.seconds(1)) { [weak self] in self?.tick() }
  }

  private func tick() {
    seconds += 1
    write("\r\u{1B}[K\(text) … \(seconds) s")
    wait()
  }

  func stop() {
    timer?.cancel()
    if seconds > 0 { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) {
    var text = text
    text.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
