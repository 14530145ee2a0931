import CDeeplinkLinux

/// What a descriptor is ready for, or what is wanted of it.
public struct Readiness: OptionSet, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let readable = Readiness(rawValue: 1)
  public static let writable = Readiness(rawValue: 2)
  /// The other end is gone or the descriptor failed; always reported, never asked for.
  public static let ended = Readiness(rawValue: 4)

  init(epoll events: UInt32) {
    self = []
    if events & EPOLLIN.rawValue != 0 { insert(.readable) }
    if events & EPOLLOUT.rawValue != 0 { insert(.writable) }
    if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { insert(.ended) }
  }

  var epoll: UInt32 {
    (contains(.readable) ? EPOLLIN.rawValue : 0) | (contains(.writable) ? EPOLLOUT.rawValue : 0)
  }
}

/// Everything that can wake the loop but jobs: watched descriptors, timers, unfinished work.
@LoopActor public final class LoopSources {
  nonisolated init() {}

  let timers = TimerQueue()
  private var watches: [Int32: [Watch]] = [:]
  /// Descriptors that nobody watches since this round's events were taken.
  private var freed: Set<Int32> = []
  private var unfinished: [@LoopActor () -> Bool] = []
  private var endOfRound: [@LoopActor () -> Void] = []

  /// One interest in a descriptor; ends with `cancel()`.
  ///
  /// The descriptor stays the caller's.
  @LoopActor public final class Watch {
    public let descriptor: Int32
    public private(set) var interest: Readiness
    fileprivate let handler: @LoopActor (Readiness) -> Void
    private var isActive = true

    fileprivate init(
      _ descriptor: Int32, _ interest: Readiness,
      _ handler: @escaping @LoopActor (Readiness) -> Void
    ) {
      self.descriptor = descriptor
      self.interest = interest
      self.handler = handler
    }

    /// Changes what is waited for; an empty set pauses the watch.
    public func setInterest(_ interest: Readiness) {
      guard isActive, interest != self.interest else { return }
      self.interest = interest
      LoopActor.shared.sources.update(descriptor, isNew: false)
    }

    /// Ends the watch; call it before the descriptor is closed.
    public func cancel() {
      guard isActive else { return }
      isActive = false
      LoopActor.shared.sources.remove(self)
    }

    fileprivate func ready(_ readiness: Readiness) {
      let relevant = readiness.intersection(interest.union(.ended))
      if isActive, !relevant.isEmpty { handler(relevant) }
    }
  }

  fileprivate func add(_ watch: Watch) -> Bool {
    let isNew = watches[watch.descriptor] == nil
    watches[watch.descriptor, default: []].append(watch)
    return update(watch.descriptor, isNew: isNew)
  }

  fileprivate func remove(_ watch: Watch) {
    watches[watch.descriptor]?.removeAll { $0 === watch }
    update(watch.descriptor, isNew: false)
    guard watches[watch.descriptor]?.isEmpty == true else { return }
    watches[watch.descriptor] = nil
    freed.insert(watch.descriptor)
  }

  /// Several watches of one descriptor (libdbus has one to read and one to write) are one to epoll.
  @discardableResult fileprivate func update(_ descriptor: Int32, isNew: Bool) -> Bool {
    let all = watches[descriptor, default: []].reduce(into: Readiness()) {
      $0.formUnion($1.interest)
    }
    return EventLoop.shared.setInterest(
      all, in: descriptor, isEmpty: watches[descriptor, default: []].isEmpty, isNew: isNew)
  }

  /// Events were taken from the kernel; what is freed from now on has none among them.
  func startRound() { freed.removeAll(keepingCapacity: true) }

  func ready(_ descriptor: Int32, _ readiness: Readiness) {
    // The number may be another file's by now. Nothing is lost: the kernel tells again.
    guard !freed.contains(descriptor) else { return }
    for watch in watches[descriptor, default: []] { watch.ready(readiness) }
  }

  // MARK: Unfinished work

  var hasUnfinished: Bool { !unfinished.isEmpty || !endOfRound.isEmpty }

  /// Runs what was kept for the end of the round; what that adds belongs to the next one.
  func runEndOfRound() {
    let round = endOfRound
    endOfRound = []
    for work in round { work() }
  }

  fileprivate func addToEndOfRound(_ work: @escaping @LoopActor () -> Void) {
    endOfRound.append(work)
  }

  func runUnfinished() {
    let round = unfinished
    unfinished = []
    for work in round where !work() { unfinished.append(work) }
  }

  fileprivate func addUnfinished(_ work: @escaping @LoopActor () -> Bool) {
    unfinished.append(work)
  }
}

extension EventLoop {
  /// Calls `handler` on the loop's thread whenever `descriptor` is ready for `interest` or ended;
  /// nil if the kernel cannot watch it.
  @LoopActor public func watch(
    _ descriptor: Int32, _ interest: Readiness,
    _ handler: @escaping @LoopActor (Readiness) -> Void
  ) -> LoopSources.Watch? {
    let watch = LoopSources.Watch(descriptor, interest, handler)
    guard LoopActor.shared.sources.add(watch) else {
      watch.cancel()
      return nil
    }
    return watch
  }

  /// Calls `handler` once, after `delay`; the timer ends early with `cancel()`.
  @LoopActor @discardableResult public func after(
    _ delay: Duration, _ handler: @escaping @LoopActor () -> Void
  ) -> LoopTimer {
    LoopActor.shared.sources.timers.add(LoopTimer(deadline: .now + delay, handler))
  }

  /// Calls `work` once, after everything else of this round.
  @LoopActor public func atEndOfRound(_ work: @escaping @LoopActor () -> Void) {
    LoopActor.shared.sources.addToEndOfRound(work)
  }

  /// Calls `work` once in every round, after the round's events, until it says that it is done.
  @LoopActor public func eachRound(_ work: @escaping @LoopActor () -> Bool) {
    LoopActor.shared.sources.addUnfinished(work)
  }
}
