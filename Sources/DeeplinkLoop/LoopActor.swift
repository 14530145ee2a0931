/// The actor that everything on the event loop's thread belongs to.
@globalActor public actor LoopActor {
  public static let shared = LoopActor()

  nonisolated let sources = LoopSources()

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe EventLoop.shared.asUnownedSerialExecutor()
  }

  /// Runs `body`, which is isolated to this actor, from a plain callback on the loop's thread.
  ///
  /// The compiler has this for `MainActor` alone. Traps on any other thread: the caller is a
  /// callback of libdbus or of `epoll`, which exist on the loop's thread only.
  public static func assumeIsolated<T>(_ body: @LoopActor () throws -> T) rethrows -> T {
    EventLoop.shared.checkIsolated()
    return try onLoopThread(body)
  }

  /// Waits, without leaving the loop's thread, until `body` has given an answer, which it does once.
  ///
  /// A continuation by itself resumes on the global pool, from where its task comes back here: two
  /// hops between threads, and a pool whose monitor wakes the process every second from then on.
  @LoopActor public static func answer<Answer: Sendable>(
    _ body: @LoopActor (@escaping @LoopActor (Answer) -> Void) -> Void
  ) async -> Answer {
    await withTaskExecutorPreference(EventLoop.shared) {
      await withCheckedContinuation { continuation in
        body { continuation.resume(returning: $0) }
      }
    }
  }

  static func onLoopThread<T>(_ body: @LoopActor () throws -> T) rethrows -> T {
    // The function type differs in its isolation alone, which has no place in its calling
    // convention; the standard library's MainActor.assumeIsolated does the same.
    try withoutActuallyEscaping(body) { body in
      try unsafe unsafeBitCast(body, to: (() throws -> T).self)()
    }
  }
}

extension Task where Failure == Never {
  /// The value, awaited without leaving the loop's thread; see `LoopActor.answer`.
  @LoopActor public var answer: Success {
    get async { await withTaskExecutorPreference(EventLoop.shared) { await value } }
  }
}
