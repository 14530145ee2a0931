import DeeplinkLoop
import Glibc
import Testing

@testable import DeeplinkActions

/// The event loop where descriptors are closed and made while their events are handed out.
@Suite(.timeLimit(.minutes(1))) struct LoopTests {
  init() { EventLoop.shared.startThread() }

  @LoopActor private final class Life {
    var watches: [LoopSources.Watch] = []
    var early = 0
    var late = 0
  }

  @Test @LoopActor func `an event of a closed descriptor never reaches the next one of its number`()
    async throws
  {
    let life = Life()
    var ends: [[Int32]] = []
    for _ in 0..<2 {
      var pair: [Int32] = [-1, -1]
      try #require(pipe(&pair) == 0)
      ends.append(pair)
    }
    var successor: [Int32] = [-1, -1]
    try #require(pipe(&successor) == 0)
    let readers = ends.map { $0[0] }
    let (reader, writer) = (successor[0], successor[1])
    await withCheckedContinuation { continuation in
      for descriptor in readers {
        let watch = EventLoop.shared.watch(descriptor, .readable) { _ in
          life.early += 1
          // Whichever comes first takes both away, and their numbers are another pipe's at once.
          for watch in life.watches { watch.cancel() }
          for descriptor in readers { _ = dup2(reader, descriptor) }
          life.watches = readers.compactMap {
            EventLoop.shared.watch($0, .readable) { _ in life.late += 1 }
          }
          EventLoop.shared.after(.zero) { continuation.resume() }
        }
        if let watch { life.watches.append(watch) }
      }
      // Both ends are in one batch: the loop waits for events only after this.
      for pair in ends { close(pair[1]) }
    }
    #expect(life.early == 1)
    #expect(life.late == 0)
    _ = write(writer, "x", 1)
    await withCheckedContinuation { continuation in
      EventLoop.shared.after(.zero) {
        EventLoop.shared.after(.zero) { continuation.resume() }
      }
    }
    #expect(life.late >= 2)
    for watch in life.watches { watch.cancel() }
    for descriptor in readers + [reader, writer] { close(descriptor) }
  }

  @Test @LoopActor func `who waits for an answer goes on where it waited`() async {
    let thread = pthread_self()
    for expected in 1...100 {
      let answer = await LoopActor.answer { give in
        EventLoop.shared.after(.zero) { give(expected) }
      }
      #expect(answer == expected && pthread_equal(thread, pthread_self()) != 0)
    }
  }

  private actor Aside {
    private let executor = SideExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      unsafe executor.asUnownedSerialExecutor()
    }
    private var count = 0

    func add() -> (count: Int, isOnLoop: Bool) {
      count += 1
      return (count, EventLoop.shared.isIsolatingCurrentContext() == true)
    }
  }

  @Test func `jobs aside run one after the other, and never on the loop`() async {
    let aside = Aside()
    let tasks = (0..<1_000).map { _ in Task { @LoopActor in await aside.add() } }
    var counts: [Int] = []
    for task in tasks {
      let (count, isOnLoop) = await task.value
      #expect(!isOnLoop)
      counts.append(count)
    }
    #expect(counts.sorted() == Array(1...1_000))
  }

  @LoopActor private final class Answers { var all: [Int] = [] }

  @Test @LoopActor func `of several answers the first is told, and what came of none at the limit`()
    async throws
  {
    let answers = Answers()
    let early = FirstAnswer<Int> { answers.all.append($0) }
    early.give(after: .milliseconds(1)) { 2 }
    early.give(1)
    early.give(3)
    early.give(after: .zero) { 4 }
    await withCheckedContinuation { continuation in
      let late = FirstAnswer<Int> {
        answers.all.append($0)
        continuation.resume()
      }
      // Held by nothing but its limit, which is later than the other one's.
      late.give(after: .milliseconds(10)) { 5 }
    }
    #expect(answers.all == [1, 5])
  }
}
