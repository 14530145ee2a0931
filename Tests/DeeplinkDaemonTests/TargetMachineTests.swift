import DeeplinkWire
import Testing

@testable import DeeplinkDaemon

/// The state machine of a target, event by event.
@Suite struct TargetMachineTests {
  typealias Effect = TargetMachine.Effect

  /// A machine of an app on the bus with `links` waiting for its start.
  private func starting(_ links: ClosedRange<UInt64>, concurrency: Int = 16) -> TargetMachine {
    var machine = TargetMachine(concurrency: concurrency, firstLinkProbes: true)
    for link in links { _ = machine.arrive(link, isIdempotent: false, now: 0) }
    return machine
  }

  /// A worker that runs with `links` in its hands.
  private func working(_ links: ClosedRange<UInt64>, idempotent: Bool = false) -> TargetMachine {
    var machine = TargetMachine(concurrency: 16, firstLinkProbes: false)
    for link in links { _ = machine.arrive(link, isIdempotent: idempotent, now: 0) }
    _ = machine.ready(wasRunning: false)
    return machine
  }

  // MARK: Starting

  @Test(arguments: [1, 2, 100, 1000] as [UInt64])
  func `many links are one start, and are handed over in order`(count: UInt64) {
    var machine = TargetMachine(concurrency: 16, firstLinkProbes: false)
    var starts = 0
    for link in 1...count {
      starts += machine.arrive(link, isIdempotent: false, now: 0).count { $0 == .start }
    }
    #expect(starts == 1)
    #expect(machine.firstWaiting == 1 && machine.waitingCount == Int(count))
    var effects = machine.ready(wasRunning: false)
    var handed: [UInt64] = []
    while let effect = effects.first {
      effects.removeFirst()
      guard case .handOver(let link, let mode, attempt: 1) = effect else {
        Issue.record("\(effect)")
        break
      }
      #expect(mode == (link == 1 ? .launch : .running))
      handed.append(link)
      effects += machine.answered(link)
    }
    #expect(handed == Array(1...count))
  }

  @Test func `a target that was found running has no link that launched it`() {
    var machine = starting(1...2)
    #expect(machine.ready(wasRunning: true) == [.handOver(1, .running, attempt: 1)])
    #expect(machine.answered(1) == [.handOver(2, .running, attempt: 1)])
  }

  @Test func `a start that fails ends every link that waits, with what is known`() {
    var machine = starting(1...3)
    let end = TargetMachine.Ending.failed(.launch, "it exited with status 7")
    #expect(
      machine.startFailed(.launch, "it exited with status 7", now: 1)
        == [.finish(1, end), .finish(2, end), .finish(3, end)])
    #expect(machine.phase == .absent)
    #expect(machine.arrive(4, isIdempotent: false, now: 2) == [.start])
  }

  @Test(arguments: [
    (times: [0.0, 20, 40], next: 41.0, isRefused: true), ([0, 20, 40], 99, true),
    ([0, 20, 40], 100, false), ([0, 30, 61], 62, false), ([0, 20], 21, false),
  ])
  func `after three failed starts in a minute links fail at once for a minute`(
    times: [Double], next: Double, isRefused: Bool
  ) {
    var machine = TargetMachine(concurrency: 16, firstLinkProbes: false)
    for (index, time) in times.enumerated() {
      #expect(machine.arrive(UInt64(index), isIdempotent: false, now: time) == [.start])
      #expect(machine.startFailed(.launch, "no", now: time).count == 1)
    }
    let effects = machine.arrive(9, isIdempotent: false, now: next)
    #expect((effects != [.start]) == isRefused)
    if isRefused {
      #expect(
        effects
          == [.finish(9, .failed(.launch, "it failed to start three times in the last minute"))])
    }
  }

  @Test func `what comes late from a start that was given up counts for nothing`() {
    var machine = starting(1...1)
    _ = machine.startFailed(.launch, "late", now: 0)
    #expect(machine.ready(wasRunning: false) == [])
    #expect(machine.startFailed(.launch, "late", now: 0) == [])
    #expect(machine.gone() == [])
    #expect(machine.phase == .absent)
  }

  // MARK: Ready means ready

  @Test func `one link tries whether the object is there, after 50, 100, 200 ms and so on`() {
    var machine = starting(1...3)
    #expect(machine.ready(wasRunning: false) == [.handOver(1, .launch, attempt: 1)])
    for milliseconds in [50, 100, 200, 400, 800, 1000, 1000] {
      #expect(machine.notReady(1, "", isLate: false) == [.retry(milliseconds: milliseconds)])
      #expect(machine.retry() == [.handOver(1, .launch, attempt: 1)])
    }
    #expect(
      machine.answered(1) == [
        .handOver(2, .running, attempt: 1), .handOver(3, .running, attempt: 1),
      ])
  }

  @Test func `a link that is tried and takes long holds up no other`() {
    var machine = starting(1...2)
    _ = machine.ready(wasRunning: false)
    #expect(machine.probeIsOver(9) == [])
    #expect(machine.probeIsOver(1) == [.handOver(2, .running, attempt: 1)])
  }

  @Test func `a second without an object does not end the wait for it`() {
    var machine = starting(1...2)
    _ = machine.ready(wasRunning: false)
    _ = machine.notReady(1, "", isLate: false)
    #expect(machine.probeIsOver(1) == [])
    #expect(machine.retry() == [.handOver(1, .launch, attempt: 1)])
    #expect(machine.probeIsOver(1) == [.handOver(2, .running, attempt: 1)])
    // Both find no object after all: they come back in order, the first as the one that launched.
    #expect(machine.notReady(2, "", isLate: false) == [.retry(milliseconds: 100)])
    #expect(machine.notReady(1, "", isLate: false) == [])
    #expect(machine.retry() == [.handOver(1, .launch, attempt: 1)])
  }

  @Test func `an object that never comes is a failure of each link`() {
    var machine = starting(1...2)
    _ = machine.ready(wasRunning: false)
    #expect(
      machine.notReady(1, "no such object", isLate: true) == [
        .finish(1, .failed(.error, "no such object")), .handOver(2, .running, attempt: 1),
      ])
  }

  @Test func `an app that has answered once is not waited for again`() {
    var machine = starting(1...1)
    _ = machine.ready(wasRunning: false)
    _ = machine.answered(1)
    _ = machine.arrive(2, isIdempotent: false, now: 1)
    #expect(machine.notReady(2, "no", isLate: false) == [.finish(2, .failed(.error, "no"))])
  }

  @Test func `a link that is cancelled while the object is awaited leaves its place to the next`() {
    var machine = starting(1...2)
    _ = machine.ready(wasRunning: false)
    #expect(machine.cancel(1) == nil)
    _ = machine.notReady(1, "", isLate: false)
    #expect(machine.cancel(1) == [.finish(1, .cancelled)])
    #expect(machine.retry() == [.handOver(2, .launch, attempt: 1)])
  }

  // MARK: On its way out

  @Test func `a link that was not delivered is first in the queue of one new start`() {
    var machine = working(1...2)
    _ = machine.answered(1)
    _ = machine.arrive(3, isIdempotent: false, now: 1)
    #expect(machine.notDelivered(2, "gone") == [.start])
    #expect(machine.gone() == [])
    #expect(machine.notDelivered(3, "gone") == [])
    #expect(
      machine.ready(wasRunning: false) == [
        .handOver(2, .launch, attempt: 1), .handOver(3, .running, attempt: 1),
      ])
    #expect(machine.notDelivered(2, "again") == [.finish(2, .failed(.exit, "again"))])
  }

  @Test func `a target that ends after each link it answers is started for each`() {
    var machine = working(1...5)
    for link in 1...4 as ClosedRange<UInt64> {
      _ = machine.answered(link)
      #expect(machine.gone() == [])
      #expect(machine.notDelivered(link + 1, "unread") == [.start])
      for other in stride(from: link + 2, through: 5, by: 1) {
        #expect(machine.notDelivered(other, "unread") == [])
      }
      #expect(machine.ready(wasRunning: false).count == Int(5 - link))
    }
    #expect(machine.answered(5) == [])
  }

  @Test func `news of an earlier life do not touch the life after`() {
    var machine = working(1...3)
    #expect(machine.gone() == [])
    #expect(machine.arrive(4, isIdempotent: false, now: 1) == [.start])
    #expect(machine.ready(wasRunning: false) == [.handOver(4, .launch, attempt: 1)])
    #expect(machine.notDelivered(1, "") == [.handOver(1, .running, attempt: 1)])
    #expect(machine.timedOut(2, stopsTarget: true) == [.finish(2, .timedOut)])
    #expect(machine.interrupted(3) == [.finish(3, .interrupted)])
    #expect(machine.phase == .running)
  }

  // MARK: At most once

  @Test func `a link that may have been acted on is not handed over again`() {
    var machine = working(1...1)
    #expect(machine.gone() == [])
    #expect(machine.interrupted(1) == [.finish(1, .interrupted)])
    #expect(machine.answered(1) == [])
  }

  @Test func `an idempotent link is handed over once more, as attempt 2, and not a third time`() {
    var machine = working(1...1, idempotent: true)
    _ = machine.gone()
    #expect(machine.interrupted(1) == [.start])
    #expect(machine.ready(wasRunning: false) == [.handOver(1, .launch, attempt: 2)])
    _ = machine.gone()
    #expect(machine.interrupted(1) == [.finish(1, .interrupted)])
    var replayed = TargetMachine(concurrency: 1, firstLinkProbes: false)
    _ = replayed.arrive(7, isIdempotent: true, attempt: 2, now: 0)
    #expect(replayed.ready(wasRunning: false) == [.handOver(7, .launch, attempt: 2)])
    #expect(replayed.interrupted(7) == [.finish(7, .interrupted)])
  }

  // MARK: Slow is not stuck

  @Test func `an app that is late with one link gets the next ones`() {
    var machine = starting(1...1, concurrency: 1)
    _ = machine.ready(wasRunning: false)
    #expect(machine.arrive(2, isIdempotent: false, now: 1) == [])
    #expect(
      machine.timedOut(1, stopsTarget: false) == [
        .finish(1, .timedOut), .handOver(2, .running, attempt: 1),
      ])
    #expect(machine.answered(1) == [])
  }

  @Test func `a worker that is late is stopped, and what waits is for a new one`() {
    var machine = TargetMachine(concurrency: 2, firstLinkProbes: false)
    for link in 1...3 as ClosedRange<UInt64> {
      _ = machine.arrive(link, isIdempotent: false, now: 0)
    }
    _ = machine.ready(wasRunning: false)
    #expect(machine.timedOut(1, stopsTarget: true) == [.finish(1, .timedOut), .stop, .start])
    #expect(machine.gone() == [])
    #expect(machine.interrupted(2) == [.finish(2, .interrupted)])
    #expect(machine.ready(wasRunning: false) == [.handOver(3, .launch, attempt: 1)])
  }

  @Test func `a link in the target's hands cannot be taken back, one that waits can`() {
    var machine = TargetMachine(concurrency: 1, firstLinkProbes: false)
    _ = machine.arrive(1, isIdempotent: false, now: 0)
    _ = machine.arrive(2, isIdempotent: false, now: 0)
    _ = machine.ready(wasRunning: false)
    #expect(machine.cancel(1) == nil)
    #expect(machine.cancel(2) == [.finish(2, .cancelled)])
    #expect(machine.cancel(2) == nil)
    #expect(machine.answered(1) == [])
  }
}
