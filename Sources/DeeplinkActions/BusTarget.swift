import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// An app on the bus, reached through a well-known name.
///
/// Starting it and handing a link over are separate calls: it is started by the bus or by its own
/// program, and a link goes to the unique name of the owner, which the bus never starts. Owners are
/// followed by signals, so that a link to a running app costs one call.
@LoopActor public final class BusTarget: Target {
  public var onEvent: (@LoopActor (TargetEvent) -> Void)?

  private let name: WellKnownName
  private let door: BusDoor
  private let connection: Connection
  /// How the app is started where the bus does not do it.
  private let program: (any ProgramLaunch)?
  private let launchTimeout: Duration
  /// The windows that asked for links of their own; nil where the door has none.
  private let scenes: SceneRegistry?

  private var owner: UniqueName?
  /// How often a signal told of the owner: an answer that was asked for before it is old.
  private var ownerChanges = 0
  /// Whether this owner has answered a link: before that, a missing object means "not yet".
  private var ownerHasAnswered = false
  private var subscription: Subscription?
  private var isStarting = false
  private var starts = 0
  /// Links whose object was missing, until it is known whether the app is going.
  private var leaving: [UInt64: @LoopActor (_ isGone: Bool) -> Void] = [:]

  public init(
    _ name: WellKnownName, door: BusDoor, on connection: Connection,
    program: (any ProgramLaunch)?, launchTimeout: Duration, scenes: SceneRegistry?
  ) {
    self.name = name
    self.door = door
    self.connection = connection
    self.program = program
    self.launchTimeout = launchTimeout
    self.scenes = scenes
  }

  // MARK: Starting

  public func start(_ environment: LaunchEnvironment) {
    isStarting = true
    starts += 1
    Task { await self.appear(environment, start: self.starts) }
  }

  private func appear(_ environment: LaunchEnvironment, start: Int) async {
    do throws(BusError) {
      if subscription == nil {
        let subscription = try await connection.subscribe(.owner(of: name)) {
          [weak self] signal in
          self?.ownerChanged(to: signal.arguments.last?.string ?? "")
        }
        do throws(BusError) { try await lookUpOwner() } catch {
          subscription.cancel()
          throw error
        }
        // A later start asks itself: this one has no say in it.
        guard starts == start else { return subscription.cancel() }
        self.subscription = subscription
      }
      if owner != nil { return started(wasRunning: true) }
      if let program {
        // Ready is when the name has an owner; the program tells only how it failed.
        return program.launch(environment) { [weak self] message in
          // A program of an earlier start has no say in this one.
          if self?.starts == start { self?.startFailed(message) }
        }
      }
      try await connection.startService(name, timeout: launchTimeout)
      guard starts == start else { return }
      // The signal came before this answer, or the app was there all the time.
      if owner == nil { try await lookUpOwner() }
      if owner != nil, starts == start { started(wasRunning: false) }
    } catch {
      if starts == start { startFailed(error.sentence) }
    }
  }

  private func lookUpOwner() async throws(BusError) {
    let before = ownerChanges
    let answer = try await connection.owner(of: name)
    if ownerChanges == before { owner = answer }
  }

  private func started(wasRunning: Bool) {
    guard isStarting else { return }
    isStarting = false
    onEvent?(.ready(wasRunning: wasRunning))
  }

  private func startFailed(_ message: String) {
    guard isStarting else { return }
    isStarting = false
    onEvent?(.startFailed(.launch, message))
  }

  private func ownerChanged(to text: String) {
    let former = owner
    ownerChanges += 1
    owner = try? UniqueName(text)
    guard owner != former else { return }
    ownerHasAnswered = false
    let waiting = leaving.sorted { $0.key < $1.key }
    leaving = [:]
    for (_, verdict) in waiting { verdict(true) }
    if former != nil { onEvent?(.gone) }
    if owner != nil { started(wasRunning: false) }
  }

  public func stop() { isStarting = false }

  public func discard() {
    isStarting = false
    starts += 1
    subscription?.cancel()
    subscription = nil
  }

  // MARK: Links

  public func handOver(
    _ handover: Handover, limit: Duration,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    guard let owner else { return completion(.notDelivered("the app had left the bus")) }
    let path =
      scenes?.path(for: handover.route.name, of: handover.plugin, at: owner) ?? name.applicationPath
    // A little more than its owner waits, which has the say.
    connection.call(
      door.call(handover, to: owner, at: path), timeout: limit + .seconds(5)
    ) { [weak self] result in
      self?.answered(handover.id, result, owner: owner, completion)
    }
  }

  private func answered(
    _ id: UInt64, _ result: Result<[Value], BusError>, owner: UniqueName,
    _ completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    switch result {
    case .success(let values):
      if owner == self.owner { ownerHasAnswered = true }
      completion(door.result(values))
    case .failure(.remote(let name, let message)):
      switch name {
      // The bus tells of the owner's end before it says so: else these are the app's own words, and
      // it has the link.
      case .serviceUnknown, .nameHasNoOwner:
        completion(owner == self.owner ? .failed(.error, message) : .notDelivered(message))
      // The bus's own words for an app that went away with the call in its hands.
      case .noReply, .disconnected: completion(.interrupted)
      case .unknownObject, .unknownInterface, .unknownMethod:
        missingObject(id, message, owner: owner, completion)
      default:
        if owner == self.owner { ownerHasAnswered = true }
        completion(.failed(.error, message))
      }
    case .failure(.disconnected): completion(.interrupted)
    case .failure(let error): completion(.failed(.error, error.sentence))
    }
  }

  /// How long an app that takes its objects away has until its name goes too.
  private static let leaveTime = Duration.seconds(1)

  /// The app has its name and not the object: it is still coming, or already going.
  private func missingObject(
    _ id: UInt64, _ message: String, owner: UniqueName,
    _ completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    guard owner == self.owner else { return completion(.notDelivered(message)) }
    guard ownerHasAnswered else { return completion(.notReady(message)) }
    leaving[id] = { isGone in completion(isGone ? .notDelivered(message) : .notReady(message)) }
    EventLoop.shared.after(Self.leaveTime) { [weak self] in
      self?.leaving.removeValue(forKey: id)?(false)
    }
  }
}

extension BusError {
  /// For outcomes: what happened, in the bus's words where it has some.
  package var sentence: String {
    switch self {
    case .cannotConnect(_, _, let message): message
    case .disconnected: "the session bus has ended"
    case .noReply(let limit): "there was no answer in \(limit)"
    case .remote(_, let message): message
    case .unexpectedReply(let signature): "it answered with values of type (\(signature))"
    case .invalidName(let kind, let text): "'\(text)' is no \(kind)"
    case .invalidValue(let what): "\(what) cannot be sent"
    case .tooLarge: "the answer is too large"
    case .outOfMemory: "there is no memory left"
    }
  }
}
