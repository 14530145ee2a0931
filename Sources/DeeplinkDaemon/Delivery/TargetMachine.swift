import DeeplinkActions
import DeeplinkWire

/// The state machine of one target: holds links while it starts, hands them over in order.
///
/// ```
/// absent ──link──> starting ──ready──> running ──gone──> absent
///              (hold, one launch)  (hand over in order)
/// ```
///
/// A pure value: each method takes an event and returns what to do next, in order. It knows links by
/// their number alone; processes, buses, clocks and the ledger belong to its owner.
struct TargetMachine: Sendable {
  typealias ID = UInt64

  enum Phase: Hashable, Sendable { case absent, starting, running }

  typealias Mode = Handover.Mode

  /// What the owner has to do.
  enum Effect: Hashable, Sendable {
    /// Start the target, and say `ready` or `startFailed` once.
    case start
    /// Hand the link over, and say how that ended once.
    case handOver(ID, Mode, attempt: Int)
    /// The link has come to its end here.
    case finish(ID, Ending)
    /// Say `retry` after so many milliseconds.
    case retry(milliseconds: Int)
    /// End the target's process: it does not answer.
    case stop
  }

  /// How a link ends without an answer of the target's.
  enum Ending: Hashable, Sendable {
    case failed(FailureReason, String)
    case timedOut
    case interrupted
    case cancelled
  }

  /// A link that is held or in the target's hands.
  private struct Entry: Hashable, Sendable {
    let id: ID
    /// The place in the order of arrival at this target; kept when the link comes back.
    let place: UInt64
    let isIdempotent: Bool
    var attempt = 1
    /// Whether it came back undelivered once already.
    var cameBack = false
    /// Of its last hand-over: how, and in which life of the target.
    var mode = Mode.running
    var life = 0
  }

  /// Links handed over and unanswered, at most.
  let concurrency: Int
  /// Whether a target that owns its name may still lack its object (D-Bus), so that the first link of a
  /// start shows when it is ready.
  let firstLinkProbes: Bool

  private(set) var phase = Phase.absent
  /// Whether one link at a time is tried, until the target has shown that it has its object.
  private(set) var isProbing = false
  private var waiting: [Entry] = []
  private var handedOver: [Entry] = []
  private var nextPlace: UInt64 = 0
  /// How often it became ready: what ends late says nothing about the life after.
  private var life = 0
  private var nextIsLaunch = false
  /// The last life in which it answered a link.
  private var lastFruitfulLife = 0
  private var retries = 0
  private var isPaused = false
  /// Seconds of the last failed starts.
  private var failedStarts: [Double] = []
  private var refusesUntil = -Double.infinity

  init(concurrency: Int, firstLinkProbes: Bool) {
    self.concurrency = concurrency
    self.firstLinkProbes = firstLinkProbes
  }

  var waitingCount: Int { waiting.count }
  /// The link that the next start is for.
  var firstWaiting: ID? { waiting.first?.id }

  // MARK: Links

  /// A link for this target arrived; `now` is in seconds of any steady clock.
  ///
  /// An `attempt` of 2 is one that an earlier daemon left in the target's hands.
  mutating func arrive(
    _ id: ID, isIdempotent: Bool, attempt: Int = 1, now: Double
  ) -> [Effect] {
    if phase == .absent, now < refusesUntil {
      return [
        .finish(id, .failed(.launch, "it failed to start three times in the last minute"))
      ]
    }
    waiting.append(
      Entry(id: id, place: nextPlace, isIdempotent: isIdempotent, attempt: attempt))
    nextPlace += 1
    return proceed()
  }

  /// Takes a link back that is not handed over yet; nil when it is, or is not here.
  mutating func cancel(_ id: ID) -> [Effect]? {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
    waiting.remove(at: index)
    return [.finish(id, .cancelled)]
  }

  // MARK: The target

  /// It is ready for links; `wasRunning` when the start found it so and launched nothing.
  mutating func ready(wasRunning: Bool) -> [Effect] {
    guard phase == .starting else { return [] }
    phase = .running
    life += 1
    nextIsLaunch = !wasRunning
    isProbing = firstLinkProbes
    retries = 0
    isPaused = false
    failedStarts = []
    return proceed()
  }

  /// It did not start, or was not ready in time: every link that waits fails with what is known.
  mutating func startFailed(_ reason: FailureReason, _ message: String, now: Double) -> [Effect] {
    guard phase == .starting else { return [] }
    phase = .absent
    failedStarts = failedStarts.filter { now - $0 < 60 } + [now]
    if failedStarts.count >= 3 {
      refusesUntil = now + 60
      failedStarts = []
    }
    defer { waiting = [] }
    return waiting.map { .finish($0.id, .failed(reason, message)) }
  }

  /// It is gone; what becomes of each link in its hands is said by that link's own event.
  mutating func gone() -> [Effect] {
    guard phase == .running else { return [] }
    phase = .absent
    return proceed()
  }

  // MARK: Ends of hand-overs

  /// The target answered, whatever it said.
  mutating func answered(_ id: ID) -> [Effect] {
    guard let entry = take(id) else { return [] }
    if entry.life == life {
      isProbing = false
      lastFruitfulLife = life
    }
    return proceed()
  }

  /// It has its name and not yet its object; `isLate` when it has had its time.
  mutating func notReady(_ id: ID, _ message: String, isLate: Bool) -> [Effect] {
    guard let entry = take(id) else { return [] }
    guard isOfThisLife(entry) else {
      putBack(entry)
      return proceed()
    }
    guard lastFruitfulLife < life, !isLate else {
      return [.finish(id, .failed(.error, message))] + proceed()
    }
    // The next one, which is this one again, is still the first of the start.
    if entry.mode == .launch { nextIsLaunch = true }
    putBack(entry)
    isProbing = true
    guard !isPaused else { return [] }
    isPaused = true
    defer { retries += 1 }
    return [.retry(milliseconds: min(50 << min(retries, 6), 1000))]
  }

  mutating func retry() -> [Effect] {
    isPaused = false
    return proceed()
  }

  /// The target had gone before it received the link: one new launch, at the head of the queue.
  mutating func notDelivered(_ id: ID, _ message: String) -> [Effect] {
    guard var entry = take(id) else { return [] }
    if isOfThisLife(entry) { phase = .absent }
    // A target that ends after each link it answers gets them all; one that answers none has had its
    // new launch.
    guard !entry.cameBack || entry.life <= lastFruitfulLife else {
      return [.finish(id, .failed(.exit, message))] + proceed()
    }
    entry.cameBack = true
    putBack(entry)
    return proceed()
  }

  /// It went away with the link in its hands: the link may have been acted on.
  mutating func interrupted(_ id: ID) -> [Effect] {
    guard var entry = take(id) else { return [] }
    guard entry.isIdempotent, entry.attempt == 1 else {
      return [.finish(id, .interrupted)] + proceed()
    }
    entry.attempt = 2
    putBack(entry)
    return proceed()
  }

  /// It did not answer in time.
  ///
  /// A worker is stopped for it, and what waits is for the next one; an app has its other links
  /// still.
  mutating func timedOut(_ id: ID, stopsTarget: Bool) -> [Effect] {
    guard let entry = take(id) else { return [] }
    guard isOfThisLife(entry) else { return [.finish(id, .timedOut)] + proceed() }
    isProbing = false
    guard stopsTarget else { return [.finish(id, .timedOut)] + proceed() }
    phase = .absent
    return [.finish(id, .timedOut), .stop] + proceed()
  }

  /// The link that is tried takes long: the target has its object, or would have said that not.
  mutating func probeIsOver(_ id: ID) -> [Effect] {
    guard handedOver.contains(where: { $0.id == id && isOfThisLife($0) }) else { return [] }
    isProbing = false
    return proceed()
  }

  // MARK: What comes next

  private mutating func proceed() -> [Effect] {
    guard !waiting.isEmpty else { return [] }
    switch phase {
    case .starting: return []
    case .absent:
      phase = .starting
      return [.start]
    case .running:
      guard !isPaused else { return [] }
      let unanswered = handedOver.count { $0.life == life }
      let free = max(0, (isProbing ? 1 : concurrency) - unanswered)
      let next = waiting.prefix(free)
      waiting.removeFirst(next.count)
      return next.map { entry in
        var entry = entry
        entry.mode = nextIsLaunch ? .launch : .running
        entry.life = life
        nextIsLaunch = false
        handedOver.append(entry)
        return .handOver(entry.id, entry.mode, attempt: entry.attempt)
      }
    }
  }

  private func isOfThisLife(_ entry: Entry) -> Bool { phase == .running && entry.life == life }

  private mutating func take(_ id: ID) -> Entry? {
    guard let index = handedOver.firstIndex(where: { $0.id == id }) else { return nil }
    return handedOver.remove(at: index)
  }

  /// Before every link that arrived after it.
  private mutating func putBack(_ entry: Entry) {
    let index = waiting.firstIndex { $0.place > entry.place } ?? waiting.endIndex
    waiting.insert(entry, at: index)
  }
}
