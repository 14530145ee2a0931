import DeeplinkTesting
import DeeplinkWire
import Testing

@testable import DeeplinkDaemon

/// Random lives of a target against what must hold in every one of them.
@Suite struct TargetMachinePropertyTests {
  @Test func `the promises hold in tens of thousands of random events`() {
    var events = 0
    var starts = 0
    for seed in 1...2_000 as ClosedRange<UInt64> {
      var life = RandomLife(seed: seed)
      life.run(events: 100)
      events += life.events
      starts += life.starts
    }
    #expect(events == 200_000)
    #expect(starts > 10_000)
  }
}

/// One random sequence of events with a model beside it that notes every broken promise.
private struct RandomLife {
  typealias ID = UInt64

  /// What is known of a link.
  private struct Facts {
    var isIdempotent: Bool
    var handOvers = 0
    var mayBeHandedOver = true
    var attempt = 1
    var undelivered = 0
    var life = 0
    var mode = TargetMachine.Mode.running
  }

  let seed: UInt64
  let concurrency: Int
  let probes: Bool
  let isWorker: Bool
  private var random: SplitMix64
  private var machine: TargetMachine
  private(set) var events = 0
  private(set) var starts = 0

  private var links: [ID: Facts] = [:]
  private var ended: Set<ID> = []
  private var waiting: [ID] = []
  private var inHands: [ID] = []
  private var isStarting = false
  private var isRunning = false
  private var life = 0
  private var launchIsDue = false
  private var fruitfulLife = 0
  private var retries = 0
  private var now = 0.0
  private var nextID: ID = 1

  init(seed: UInt64) {
    self.seed = seed
    random = SplitMix64(seed: seed)
    concurrency = [1, 2, 3, 16][Int(random.next() % 4)]
    probes = random.next() % 2 == 0
    isWorker = !probes
    machine = TargetMachine(concurrency: concurrency, firstLinkProbes: probes)
  }

  mutating func run(events count: Int) {
    for _ in 0..<count {
      step()
      check()
    }
    finish()
  }

  /// One event that can happen now.
  private mutating func step() {
    events += 1
    now += Double(random.next() % 20)
    switch random.next() % 12 {
    case 0, 1, 2: arrive()
    case 3 where isStarting: ready()
    case 4 where isStarting: startFailed()
    case 5 where isRunning && random.next() % 3 == 0: gone()
    case 6 where retries > 0:
      retries -= 1
      perform(machine.retry())
    case 7: if let id = anyOf(inHands) { perform(machine.probeIsOver(id)) }
    case 8: cancel()
    default: if let id = anyOf(inHands) { end(id) }
    }
  }

  private mutating func arrive() {
    let id = nextID
    nextID += 1
    let isIdempotent = random.next() % 4 == 0
    links[id] = Facts(isIdempotent: isIdempotent)
    waiting.append(id)
    perform(machine.arrive(id, isIdempotent: isIdempotent, now: now))
  }

  private mutating func cancel() {
    guard let id = anyOf(waiting + inHands) else { return }
    let effects = machine.cancel(id)
    note(effects == (waiting.contains(id) ? [.finish(id, .cancelled)] : nil), "cancel of \(id)")
    if let effects { perform(effects) }
  }

  private mutating func ready() {
    isStarting = false
    isRunning = true
    life += 1
    launchIsDue = random.next() % 4 != 0
    perform(machine.ready(wasRunning: !launchIsDue))
  }

  private mutating func startFailed() {
    isStarting = false
    let held = waiting
    let effects = machine.startFailed(.launch, "no", now: now)
    note(
      effects == held.map { .finish($0, .failed(.launch, "no")) },
      "a failed start fails all that wait")
    perform(effects)
  }

  private mutating func gone() {
    isRunning = false
    perform(machine.gone())
  }

  /// One of the ways in which a hand-over can end.
  private mutating func end(_ id: ID) {
    guard var facts = links[id] else { return }
    let isOfThisLife = isRunning && facts.life == life
    switch random.next() % 8 {
    case 0:
      let effects = machine.interrupted(id)
      let again = facts.isIdempotent && facts.attempt == 1
      if again {
        facts.attempt = 2
        putBack(id, facts)
      }
      note(effects.contains(.finish(id, .interrupted)) != again, "interrupted \(id)")
      perform(effects)
    case 1:
      facts.undelivered += 1
      let again = facts.undelivered == 1 || facts.life <= fruitfulLife
      if isOfThisLife { isRunning = false }
      let effects = machine.notDelivered(id, "gone")
      if again { putBack(id, facts) }
      note(effects.contains(.finish(id, .failed(.exit, "gone"))) != again, "not delivered \(id)")
      perform(effects)
    case 2 where probes:
      let effects = machine.notReady(id, "no object", isLate: false)
      let again = !effects.contains(.finish(id, .failed(.error, "no object")))
      if again {
        if isOfThisLife, facts.mode == .launch { launchIsDue = true }
        putBack(id, facts)
      }
      perform(effects)
    case 3:
      let effects = machine.timedOut(id, stopsTarget: isWorker)
      note(effects.first == .finish(id, .timedOut), "timed out \(id)")
      note(effects.contains(.stop) == (isWorker && isOfThisLife), "a worker is stopped, no other")
      if effects.contains(.stop) { isRunning = false }
      perform(effects)
    default:
      leave(id)
      if facts.life == life { fruitfulLife = life }
      perform(machine.answered(id))
    }
  }

  private mutating func putBack(_ id: ID, _ facts: Facts) {
    var facts = facts
    facts.mayBeHandedOver = true
    links[id] = facts
    inHands.removeAll { $0 == id }
    waiting.append(id)
    waiting.sort()
  }

  /// The link's one end.
  private mutating func leave(_ id: ID) {
    note(ended.insert(id).inserted, "\(id) ended twice")
    inHands.removeAll { $0 == id }
    waiting.removeAll { $0 == id }
  }

  private mutating func perform(_ effects: [TargetMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .start:
        note(!isStarting && !isRunning, "a start while one is under way")
        note(!waiting.isEmpty, "a start for nobody")
        isStarting = true
        starts += 1
      case .handOver(let id, let mode, let attempt):
        note(isRunning, "handed over to nobody")
        note(waiting.first == id, "\(id) handed over before \(waiting.first ?? 0)")
        note(mode == (launchIsDue ? .launch : .running), "\(id) is \(mode)")
        note(links[id]?.mayBeHandedOver == true, "\(id) handed over again")
        note(links[id]?.attempt == attempt, "\(id) is attempt \(attempt)")
        launchIsDue = false
        waiting.removeAll { $0 == id }
        inHands.append(id)
        links[id]?.mayBeHandedOver = false
        links[id]?.life = life
        links[id]?.mode = mode
        let unanswered = inHands.count { links[$0]?.life == life }
        note(unanswered <= concurrency, "\(unanswered) unanswered")
      case .finish(let id, _): leave(id)
      case .retry(let milliseconds):
        note((50...1000).contains(milliseconds), "retry after \(milliseconds)")
        retries += 1
      case .stop: note(!isRunning, "stopped and still running")
      }
    }
  }

  /// What holds between events.
  private mutating func check() {
    note(machine.waitingCount == waiting.count, "\(waiting.count) wait")
    switch machine.phase {
    case .absent: note(waiting.isEmpty && !isStarting, "absent, and nobody starts it")
    case .starting: note(isStarting, "starting, and nobody was told")
    case .running:
      let unanswered = inHands.count { links[$0]?.life == life }
      let limit = machine.isProbing ? 1 : concurrency
      note(
        waiting.isEmpty || unanswered >= limit || retries > 0, "a link waits, and nothing holds it")
    }
  }

  /// Everything comes to its end, and every link has had exactly one.
  private mutating func finish() {
    var rounds = 0
    while ended.count < links.count, rounds < 10_000 {
      rounds += 1
      if isStarting { ready() }
      if retries > 0 {
        retries -= 1
        perform(machine.retry())
      }
      if let id = inHands.first {
        leave(id)
        perform(machine.answered(id))
      }
      check()
    }
    note(ended.count == links.count, "\(links.count - ended.count) links never ended")
  }

  private mutating func anyOf(_ ids: [ID]) -> ID? {
    ids.isEmpty ? nil : ids[Int(random.next() % UInt64(ids.count))]
  }

  private func note(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds { Issue.record("seed \(seed), event \(events): \(what())") }
  }
}
