import DeeplinkBus
import DeeplinkLoop
import Glibc

/// Finds out who is behind a connection: one call to the bus, then the process.
///
/// What was found is kept, as a bus never gives a unique name twice. A look-up that takes too long
/// ends as unknown, and holds up nothing but what asked for it.
@LoopActor final class SourceFinder {
  private let connection: Connection
  private let reader: ProcessReader
  private let limit: Duration
  private var lookups: [UniqueName: Lookup] = [:]
  private var lastUse = 0

  private static let capacity = 256

  @LoopActor private final class Lookup {
    var source: Source?
    var waiting: [@LoopActor (Source) -> Void] = []
    var limit: LoopTimer?
    var use = 0
  }

  init(
    connection: Connection, reader: ProcessReader = ProcessReader(),
    limit: Duration = .seconds(1)
  ) {
    self.connection = connection
    self.reader = reader
    self.limit = limit
  }

  /// What is known already.
  func known(_ sender: UniqueName?) -> Source? { sender.flatMap { lookups[$0]?.source } }

  /// Gives the source, at once where it is known; an unknown sender's after `limit` at the latest.
  func find(_ sender: UniqueName?, _ found: @escaping @LoopActor (Source) -> Void) {
    guard let sender else { return found(.unknown) }
    lastUse += 1
    if let lookup = lookups[sender] {
      lookup.use = lastUse
      if let source = lookup.source { return found(source) }
      return lookup.waiting.append(found)
    }
    let lookup = Lookup()
    lookup.use = lastUse
    lookup.waiting = [found]
    makeRoom()
    lookups[sender] = lookup
    lookup.limit = EventLoop.shared.after(limit) { [weak self] in
      // Not remembered: the next link of this sender may have more luck.
      self?.finish(sender, lookup, nil)
    }
    start(sender, lookup)
  }

  func source(of sender: UniqueName) async -> Source {
    await LoopActor.answer { find(sender, $0) }
  }

  private func start(_ sender: UniqueName, _ lookup: Lookup) {
    let reader = reader
    Task { [weak self] in
      guard let process = try? await self?.connection.credentials(of: sender).processID else {
        self?.finish(sender, lookup, nil)
        return
      }
      let isStarted = SideThread.run({ reader.source(of: process) }) { [weak self] in
        self?.finish(sender, lookup, $0)
      }
      if !isStarted { self?.finish(sender, lookup, nil) }
    }
  }

  private func finish(_ sender: UniqueName, _ lookup: Lookup, _ source: Source?) {
    lookup.limit?.cancel()
    let waiting = lookup.waiting
    lookup.waiting = []
    if lookup.source == nil { lookup.source = source }
    if lookup.source == nil, lookups[sender] === lookup { lookups[sender] = nil }
    for found in waiting { found(source ?? .unknown) }
  }

  private func makeRoom() {
    guard lookups.count >= Self.capacity,
      let oldest = lookups.min(by: { $0.value.use < $1.value.use })?.key
    else { return }
    lookups[oldest] = nil
  }
}

/// Threads for work that somebody else may hold up for ever, a few of them at most.
@LoopActor enum SideThread {
  private static var count = 0
  private static let maximum = 16
  /// Work for which there is no thread yet.
  private static var waiting: [Work] = []
  private static let maximumWaiting = 1024

  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `work` on a thread, in its turn, and hands what it gives to `answer`; false where there is none.
  static func run<Answer: Sendable>(
    _ work: @escaping @Sendable () -> Answer, _ answer: @escaping @LoopActor (Answer) -> Void
  ) -> Bool {
    let work = Work {
      let result = work()
      Task { @LoopActor in
        count -= 1
        if !waiting.isEmpty, start(waiting[0]) {
          waiting.removeFirst()
          count += 1
        }
        answer(result)
      }
    }
    guard count < maximum else {
      guard waiting.count < maximumWaiting else { return false }
      waiting.append(work)
      return true
    }
    guard start(work) else { return false }
    count += 1
    return true
  }

  // The new thread's function belongs to no actor.
  private nonisolated static func start(_ work: Work) -> Bool {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(work)
    let failed = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard failed == 0 else {
      unsafe context.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
