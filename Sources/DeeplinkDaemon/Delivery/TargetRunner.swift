import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// What the runner of a target needs of the daemon around it.
@LoopActor protocol TargetRunnerOwner: AnyObject {
  func delivery(_ id: UInt64) -> Delivery?
  func launchEnvironment(for delivery: Delivery?) -> LaunchEnvironment
  /// What the target gets; nil when the delivery has no route any more.
  func handover(of delivery: Delivery, _ mode: Handover.Mode, attempt: Int) -> Handover?
  /// Runs `action` once everything written so far is kept.
  func afterCommit(_ action: @escaping @LoopActor () -> Void)
  func timeout(of delivery: Delivery) -> Duration
  func move(_ delivery: Delivery, to state: DeliveryState)
  func ended(_ delivery: Delivery, _ result: HandoverResult)
  func ended(_ delivery: Delivery, _ ending: TargetMachine.Ending)
}

/// One target with its state machine: does what the machine says, and tells it what happens.
@LoopActor final class TargetRunner {
  private let target: any Target
  private unowned let owner: any TargetRunnerOwner
  private let launchTimeout: Duration
  /// Whether a link that is not answered in time ends the target.
  private let stopsWhenLate: Bool
  private var machine: TargetMachine
  private var launchLimit: LoopTimer?
  private var settling: LoopTimer?
  private var readyAt = 0.0
  /// The hand-overs that are unanswered, each with its limit.
  private var handovers: [UInt64: LoopTimer] = [:]

  init(
    _ target: any Target, owner: any TargetRunnerOwner, concurrency: Int, launchTimeout: Duration,
    stopsWhenLate: Bool, firstLinkProbes: Bool
  ) {
    self.target = target
    self.owner = owner
    self.launchTimeout = launchTimeout
    self.stopsWhenLate = stopsWhenLate
    machine = TargetMachine(concurrency: concurrency, firstLinkProbes: firstLinkProbes)
    target.onEvent = { [unowned self] in happened($0) }
  }

  var waitingCount: Int { machine.waitingCount + arriving.count }

  /// Links whose source is looked up, in the order of arrival: it goes with the link, so those that
  /// come after wait as well.
  private var arriving: [Delivery] = []

  func add(_ delivery: Delivery) {
    arriving.append(delivery)
    delivery.whenSourceIsKnown { [weak self] _ in self?.takeIn() }
  }

  private func takeIn() {
    while let first = arriving.first, first.source != nil {
      arriving.removeFirst()
      arrive(first)
    }
  }

  private func arrive(_ delivery: Delivery) {
    let isIdempotent = delivery.match?.route.isIdempotent ?? false
    let effects = machine.arrive(
      delivery.id, isIdempotent: isIdempotent, attempt: delivery.attempt, now: Clock.seconds)
    if case .handOver? = effects.first {
    } else {
      owner.move(delivery, to: machine.phase == .starting ? .starting : .waiting)
    }
    perform(effects)
  }

  /// Takes a link back; false when it is in the target's hands.
  func cancel(_ delivery: Delivery) -> Bool {
    if let index = arriving.firstIndex(where: { $0 === delivery }) {
      arriving.remove(at: index)
      owner.ended(delivery, .cancelled)
      takeIn()
      return true
    }
    guard let effects = machine.cancel(delivery.id) else { return false }
    perform(effects)
    return true
  }

  /// It has no link and is not starting.
  var isIdle: Bool {
    arriving.isEmpty && machine.waitingCount == 0 && handovers.isEmpty
      && machine.phase != .starting
  }

  /// It gets no more links: a worker ends, and an app is left alone.
  func discard() {
    target.onEvent = nil
    settling?.cancel()
    target.discard()
  }

  /// The daemon ends: what has no answer yet is the next one's.
  func stop() {
    isStopped = true
    target.stop()
  }

  private var isStopped = false

  // MARK: What the machine says

  private func perform(_ effects: [TargetMachine.Effect]) {
    guard !isStopped else { return }
    for effect in effects {
      switch effect {
      case .start: start()
      case .handOver(let id, let mode, let attempt): handOver(id, mode, attempt)
      case .finish(let id, let ending):
        handovers.removeValue(forKey: id)?.cancel()
        if let delivery = owner.delivery(id) { owner.ended(delivery, ending) }
      case .retry(let milliseconds):
        EventLoop.shared.after(.milliseconds(milliseconds)) { [weak self] in
          guard let self else { return }
          perform(machine.retry())
        }
      case .stop: target.stop()
      }
    }
  }

  private func start() {
    launchLimit = EventLoop.shared.after(launchTimeout) { [unowned self] in
      target.stop()
      perform(
        machine.startFailed(
          .launch, "it was not ready after \(launchTimeout.text)", now: Clock.seconds))
    }
    target.start(owner.launchEnvironment(for: machine.firstWaiting.flatMap(owner.delivery)))
  }

  private func handOver(_ id: UInt64, _ mode: Handover.Mode, _ attempt: Int) {
    guard let delivery = owner.delivery(id),
      let handover = owner.handover(of: delivery, mode, attempt: attempt)
    else { return perform(machine.answered(id)) }
    let limit = owner.timeout(of: delivery)
    handovers[id] = EventLoop.shared.after(limit) { [unowned self] in
      perform(machine.timedOut(id, stopsTarget: stopsWhenLate))
    }
    if machine.isProbing {
      settling?.cancel()
      settling = EventLoop.shared.after(Self.probeTime) { [unowned self] in
        perform(machine.probeIsOver(id))
      }
    }
    owner.afterCommit { [unowned self] in
      target.handOver(handover, limit: limit) { [unowned self] in answered(id, $0) }
    }
  }

  /// How long a target without its object takes at most to say so.
  private static let probeTime = Duration.seconds(1)

  // MARK: What happens

  private func happened(_ event: TargetEvent) {
    switch event {
    case .ready(let wasRunning):
      launchLimit?.cancel()
      readyAt = Clock.seconds
      perform(machine.ready(wasRunning: wasRunning))
    case .startFailed(let reason, let message):
      launchLimit?.cancel()
      perform(machine.startFailed(reason, message, now: Clock.seconds))
    case .gone: perform(machine.gone())
    }
  }

  private func answered(_ id: UInt64, _ result: HandoverResult) {
    // A late answer to a link that has its outcome.
    guard let limit = handovers.removeValue(forKey: id) else { return }
    limit.cancel()
    if isStopped {
      if let delivery = owner.delivery(id) { owner.ended(delivery, result) }
      return
    }
    switch result {
    case .handled, .declined, .failed:
      // What waits here goes before a link that is declined, and comes back for its next route.
      perform(machine.answered(id))
      if let delivery = owner.delivery(id) { owner.ended(delivery, result) }
    case .notReady(let message):
      isBack(id)
      perform(
        machine.notReady(id, message, isLate: .seconds(Clock.seconds - readyAt) > launchTimeout))
    case .notDelivered(let message):
      isBack(id)
      perform(machine.notDelivered(id, message))
    case .interrupted:
      let effects = machine.interrupted(id)
      if effects.first != .finish(id, .interrupted) { isBack(id, attempt: 2) }
      perform(effects)
    }
  }

  /// The target does not have the link after all.
  private func isBack(_ id: UInt64, attempt: Int = 1) {
    guard let delivery = owner.delivery(id) else { return }
    delivery.attempt = max(delivery.attempt, attempt)
    owner.move(delivery, to: .waiting)
  }
}
