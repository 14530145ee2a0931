import CDeeplinkLinux

/// A point of `CLOCK_MONOTONIC`, in nanoseconds.
struct MonotonicInstant: Comparable, Sendable {
  let nanoseconds: Int64

  static var now: MonotonicInstant {
    MonotonicInstant(nanoseconds: deeplink_monotonic_nanoseconds())
  }

  static func + (start: MonotonicInstant, delay: Duration) -> MonotonicInstant {
    let (seconds, attoseconds) = delay.components
    // A delay of centuries is "never", not an overflow.
    let limited = min(max(seconds, 0), 1 << 32)
    return MonotonicInstant(
      nanoseconds: start.nanoseconds + limited * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
    )
  }

  static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

/// One call in the future.
///
/// Keep it only to cancel it.
@LoopActor public final class LoopTimer {
  let deadline: MonotonicInstant
  fileprivate var handler: (@LoopActor () -> Void)?
  fileprivate var place: Int?

  init(deadline: MonotonicInstant, _ handler: @escaping @LoopActor () -> Void) {
    self.deadline = deadline
    self.handler = handler
  }

  /// Does nothing once the timer has fired.
  public func cancel() {
    handler = nil
    LoopActor.shared.sources.timers.remove(self)
  }
}

/// A binary heap of timers by deadline.
///
/// Each timer knows its place, so that cancelling removes it: most timers are limits of calls that
/// were answered long before.
@LoopActor final class TimerQueue {
  private var heap: [LoopTimer] = []

  nonisolated init() {}

  func add(_ timer: LoopTimer) -> LoopTimer {
    heap.append(timer)
    timer.place = heap.count - 1
    siftUp(heap.count - 1)
    return timer
  }

  func remove(_ timer: LoopTimer) {
    guard let place = timer.place else { return }
    timer.place = nil
    let last = heap.removeLast()
    guard last !== timer else { return }
    put(last, at: place)
    siftUp(place)
    siftDown(place)
  }

  /// Fires what is due at `now`, earliest first.
  func fire(now: MonotonicInstant) {
    while let first = heap.first, first.deadline <= now {
      let handler = first.handler
      first.handler = nil
      remove(first)
      handler?()
    }
  }

  /// The limit for `epoll_wait`: -1 when there is no timer; rounded up, so that it is due on waking.
  func millisecondsToNext() -> Int32 {
    guard let first = heap.first else { return -1 }
    let left = first.deadline.nanoseconds - MonotonicInstant.now.nanoseconds
    return left <= 0 ? 0 : Int32(clamping: (left + 999_999) / 1_000_000)
  }

  private func put(_ timer: LoopTimer, at place: Int) {
    heap[place] = timer
    timer.place = place
  }

  private func siftUp(_ start: Int) {
    var place = start
    while place > 0, heap[place].deadline < heap[(place - 1) / 2].deadline {
      swap(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private func siftDown(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < heap.count && heap[child].deadline < heap[least].deadline {
        least = child
      }
      guard least != place else { return }
      swap(place, least)
      place = least
    }
  }

  private func swap(_ a: Int, _ b: Int) {
    let timer = heap[a]
    put(heap[b], at: a)
    put(timer, at: b)
  }
}
