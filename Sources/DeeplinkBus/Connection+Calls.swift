import CDeeplinkDBus
import DeeplinkLoop

extension Connection {
  /// The limit of a call that says none: libdbus' own default.
  public static let defaultTimeout = Duration.seconds(25)

  /// Sends `call` and waits for its answer, at most `timeout`.
  ///
  /// Throws `BusError.remote` for an error reply, `.noReply(after:)` past the limit, and
  /// `.disconnected` when the connection ends first.
  public func call(
    _ call: MethodCall, timeout: Duration = defaultTimeout
  ) async throws(BusError) -> [Value] {
    try await LoopActor.answer { self.call(call, timeout: timeout, completion: $0) }.get()
  }

  /// Sends `call`; `completion` runs exactly once, on the loop's thread, in the order of answers.
  ///
  /// For where the order matters or a task for each call would cost too much.
  public func call(
    _ call: MethodCall, timeout: Duration = defaultTimeout,
    completion: @escaping @LoopActor (Result<[Value], BusError>) -> Void
  ) {
    do throws(BusError) {
      let message = try Message.methodCall(call)
      try pending.start(message, on: self, timeout: timeout, completion)
    } catch {
      completion(.failure(error))
    }
  }

  /// Sends `signal`: to everyone who asked for it, or to `destination` alone.
  public func emit(_ signal: Signal, to destination: Destination? = nil) throws(BusError) {
    try send(try Message.signal(signal, to: destination))
  }
}

/// The calls of one connection that wait for their answers.
@LoopActor struct PendingCalls {
  private var calls: Set<Entry> = []

  /// One call that waits; alive while it stands in the set.
  @safe @LoopActor final class Entry: Hashable {
    private let connection: Connection
    private let completion: @LoopActor (Result<[Value], BusError>) -> Void
    fileprivate var pending: OpaquePointer?
    fileprivate var limit: LoopTimer?

    init(
      _ connection: Connection,
      _ completion: @escaping @LoopActor (Result<[Value], BusError>) -> Void
    ) {
      self.connection = connection
      self.completion = completion
    }

    func finish(_ result: Result<[Value], BusError>) {
      guard connection.pending.calls.remove(self) != nil else { return }
      limit?.cancel()
      if let pending = unsafe pending {
        // Cancelling makes a late answer be thrown away.
        unsafe dbus_pending_call_cancel(pending)
        unsafe dbus_pending_call_unref(pending)
      }
      completion(result)
    }

    fileprivate func answered() {
      guard let pending = unsafe pending,
        let message = unsafe Message(owning: dbus_pending_call_steal_reply(pending))
      else { return finish(.failure(.disconnected)) }
      do throws(BusError) {
        finish(.success(try message.result()))
      } catch {
        finish(.failure(error))
      }
    }

    nonisolated static func == (left: Entry, right: Entry) -> Bool { left === right }
    nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  mutating func start(
    _ message: Message, on connection: Connection, timeout: Duration,
    _ completion: @escaping @LoopActor (Result<[Value], BusError>) -> Void
  ) throws(BusError) {
    let entry = Entry(connection, completion)
    unsafe entry.pending = try unsafe connection.sendWithReply(
      message,
      { _, context in
        guard let context = unsafe context else { return }
        nonisolated(unsafe) let entry = unsafe context
        LoopActor.assumeIsolated {
          unsafe Unmanaged<Entry>.fromOpaque(entry).takeUnretainedValue().answered()
        }
      }, Unmanaged.passUnretained(entry).toOpaque())
    calls.insert(entry)
    entry.limit = EventLoop.shared.after(timeout) { [unowned entry] in
      entry.finish(.failure(.noReply(after: timeout)))
    }
  }

  func failAll(_ error: BusError) {
    for entry in calls { entry.finish(.failure(error)) }
  }
}
