import Glibc
import Synchronization

/// Runs an actor's jobs one after the other away from the event loop: on a thread that lives as long
/// as there are any.
///
/// For what may block, such as a file on a slow disk. The global pool does the same, but whoever uses
/// it once has threads for good, of which one wakes the process every second to look after the
/// others.
public final class SideExecutor: SerialExecutor, TaskExecutor, Sendable {
  private let inbox = Mutex(Inbox())

  private struct Inbox {
    var jobs: [UnownedJob] = []
    var hasThread = false
  }

  public init() {}

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let needsThread = inbox.withLock { inbox in
      inbox.jobs.append(job)
      defer { inbox.hasThread = true }
      return !inbox.hasThread
    }
    guard needsThread else { return }
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self)
    let failed = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<SideExecutor>.fromOpaque(context).takeRetainedValue().drain()
        return nil
      }, context.toOpaque())
    guard failed != 0 else {
      pthread_detach(thread)
      return
    }
    // No thread is to be had: the caller waits, and nothing is lost.
    unsafe context.release()
    drain()
  }

  private func drain() {
    while true {
      let jobs = inbox.withLock { inbox in
        let jobs = inbox.jobs
        inbox.jobs = []
        inbox.hasThread = !jobs.isEmpty
        return jobs
      }
      if jobs.isEmpty { return }
      for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    unsafe UnownedTaskExecutor(ordinary: self)
  }
}
