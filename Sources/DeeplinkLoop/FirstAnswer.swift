/// Somebody who waits for one answer and is told it once: the first one counts.
///
/// Several may answer, as a program that fails, its success, and the limit past which nothing more is
/// waited for. Who asks lives on as long as somebody holds this.
@LoopActor public final class FirstAnswer<Answer> {
  private var told: (@LoopActor (Answer) -> Void)?
  private var limit: LoopTimer?

  public init(_ told: @escaping @LoopActor (Answer) -> Void) { self.told = told }

  /// Does nothing where there was an answer already.
  public func give(_ answer: Answer) {
    limit?.cancel()
    limit = nil
    let told = told
    self.told = nil
    told?(answer)
  }

  /// Gives the answer that `otherwise` makes when no other came before `limit` has passed.
  public func give(
    after limit: Duration, otherwise answer: @escaping @LoopActor () -> Answer
  ) {
    guard told != nil else { return }
    self.limit?.cancel()
    self.limit = EventLoop.shared.after(limit) { [self] in give(answer()) }
  }
}
