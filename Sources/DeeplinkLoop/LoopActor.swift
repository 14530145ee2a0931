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

  static func onLoopThread<T>(_ body: @LoopActor () throws -> T) rethrows -> T {
    // The function type differs in its isolation alone, which has no place in its calling
    // convention; the standard library's MainActor.assumeIsolated does the same.
    try withoutActuallyEscaping(body) { body in
      try unsafe unsafeBitCast(body, to: (() throws -> T).self)()
    }
  }
}
