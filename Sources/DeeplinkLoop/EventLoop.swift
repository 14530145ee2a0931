import CDeeplinkLinux
import Glibc
import Synchronization

/// One thread that waits for descriptors, timers and Swift jobs: the executor of `LoopActor`.
///
/// libdbus wants one thread that reads its socket and runs its callbacks. This is that thread, and
/// because it runs the actor's jobs as well, a callback and the code that it wakes need no hop
/// between threads. With nothing to do it sleeps in `epoll_wait` without a limit: no idle wake-ups.
///
/// A program runs it on its main thread with `run(until:)`; a library or a test that has no
/// thread to give calls `startThread()`.
public final class EventLoop: SerialExecutor, TaskExecutor, Sendable {
  public static let shared = EventLoop()

  private let epoll: Int32
  private let wake: Int32
  private let inbox = Mutex(Inbox())

  private struct Inbox {
    var jobs: [UnownedJob] = []
    var thread: pthread_t?
    var hasThread = false
  }

  private init() {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    // Without these two descriptors there is no program: nothing was opened before them.
    precondition(epoll >= 0 && wake >= 0, "cannot create the event loop's descriptors")
    _ = deeplink_epoll_control(epoll, EPOLL_CTL_ADD, wake, EPOLLIN.rawValue)
  }

  // MARK: Running

  /// Runs on the calling thread until `result`, asked in each round, gives one.
  public func run<Result: Sendable>(until result: @LoopActor () -> Result?) -> Result {
    inbox.withLock {
      precondition(!$0.hasThread, "the event loop already has a thread")
      $0.hasThread = true
      $0.thread = pthread_self()
    }
    defer {
      inbox.withLock {
        $0.hasThread = false
        $0.thread = nil
      }
    }
    return LoopActor.onLoopThread { drain(until: result) }
  }

  /// Runs on a thread of its own from now on; calls after the first do nothing.
  public func startThread() {
    let first = inbox.withLock { inbox in
      defer { inbox.hasThread = true }
      return !inbox.hasThread
    }
    guard first else { return }
    var thread = pthread_t()
    let failed = unsafe pthread_create(
      &thread, nil,
      { _ in
        let loop = EventLoop.shared
        loop.inbox.withLock { $0.thread = pthread_self() }
        LoopActor.onLoopThread { loop.drain(until: { () -> Void? in nil }) }
        return nil
      }, nil)
    precondition(failed == 0, "cannot start the event loop's thread")
  }

  @LoopActor private func drain<Result>(until result: @LoopActor () -> Result?) -> Result {
    var events = unsafe [epoll_event](repeating: epoll_event(), count: 64)
    let sources = LoopActor.shared.sources
    while true {
      runJobs()
      sources.timers.fire(now: .now)
      runJobs()
      sources.runEndOfRound()
      if let result = result() { return result }
      let limit: Int32 = hasJobs || sources.hasUnfinished ? 0 : sources.timers.millisecondsToNext()
      let count = unsafe epoll_wait(epoll, &events, Int32(events.count), limit)
      sources.startRound()
      for index in 0..<max(0, Int(count)) {
        let descriptor = unsafe deeplink_epoll_descriptor(&events[index])
        if descriptor == wake {
          var value: UInt64 = 0
          _ = unsafe read(wake, &value, 8)
        } else {
          sources.ready(descriptor, Readiness(epoll: unsafe events[index].events))
        }
      }
      sources.runUnfinished()
    }
  }

  // MARK: Jobs

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustWake = inbox.withLock { inbox in
      inbox.jobs.append(job)
      return inbox.jobs.count == 1 && !Self.isCurrent(inbox.thread)
    }
    guard mustWake else { return }
    var one: UInt64 = 1
    _ = unsafe write(wake, &one, 8)
  }

  private var hasJobs: Bool { inbox.withLock { !$0.jobs.isEmpty } }

  private func runJobs() {
    // What these jobs enqueue runs in the next round, so that descriptors get their turn.
    let jobs = inbox.withLock { inbox in
      let jobs = inbox.jobs
      inbox.jobs.removeAll(keepingCapacity: jobs.count <= 64)
      return jobs
    }
    for job in jobs {
      unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }

  // MARK: SerialExecutor

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    unsafe UnownedTaskExecutor(ordinary: self)
  }

  public func checkIsolated() {
    precondition(isOnLoopThread, "this must run on the event loop's thread")
  }

  public func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }

  private var isOnLoopThread: Bool { inbox.withLock { Self.isCurrent($0.thread) } }

  private static func isCurrent(_ thread: pthread_t?) -> Bool {
    guard let thread = thread else { return false }
    return pthread_equal(thread, pthread_self()) != 0
  }

  // MARK: Descriptors

  @LoopActor func setInterest(
    _ events: Readiness, in descriptor: Int32, isEmpty: Bool, isNew: Bool
  ) -> Bool {
    let operation = isEmpty ? EPOLL_CTL_DEL : isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
    return deeplink_epoll_control(epoll, operation, descriptor, events.epoll) == 0
  }
}
