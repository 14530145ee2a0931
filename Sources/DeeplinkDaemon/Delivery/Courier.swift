import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Takes each delivery to its action: through its target's queue, or at once where there is no target.
@LoopActor final class Courier: TargetRunnerOwner {
  private let connection: Connection
  let launcher: ProgramLauncher
  let scenes: SceneRegistry
  private let book: DeliveryBook
  private let ledger: Ledger
  private let configuration: Configuration
  private let directories: BaseDirectories
  /// The daemon's own environment, with the session's variables of the last sender.
  private var variables: [String: String]
  private let entries: DesktopEntries
  private lazy var targets = Targets(
    connection: connection, launcher: launcher, scenes: scenes, configuration: configuration,
    directories: directories, entries: entries, owner: self)
  private var commands: [PluginID: CommandQueue] = [:]
  private var system: Connection?
  /// What actions of links sent out.
  private(set) var sent = SentLinks()
  let gate: ConsentGate
  /// Nothing begins any more, and what does not come to its own end is the next daemon's.
  private var isLeaving = false

  init(
    connection: Connection, book: DeliveryBook, ledger: Ledger, configuration: Configuration,
    directories: BaseDirectories, environment: [String: String]
  ) {
    self.connection = connection
    launcher = ProgramLauncher(connection: connection)
    scenes = SceneRegistry(connection: connection)
    self.book = book
    self.ledger = ledger
    self.configuration = configuration
    self.directories = directories
    entries = DesktopEntries(dataDirectories: directories.allData)
    variables = environment
    gate = ConsentGate(
      book: book, configuration: configuration, directories: directories,
      asker: PersonAsker(connection: connection))
  }

  // MARK: On the way

  /// Whether the first of `matches` may have one more link waiting.
  func hasRoom(for matches: [Match]) -> Bool {
    guard book.count < configuration.settings.queue.total else { return false }
    guard let match = matches.first else { return true }
    let waiting = targets.waitingCount(for: match) ?? commands(of: match)?.waitingCount
    return (waiting ?? 0) < configuration.settings.queue.perTarget
  }

  /// Brings a delivery to the route whose turn it is.
  func deliver(_ delivery: Delivery) {
    variables.merge(delivery.options.environment) { $1 }
    guard !isLeaving else { return }
    guard let match = delivery.match else { return book.finish(delivery, .declined) }
    gate.pass(delivery, match, variables) { [self] ruling in
      guard !isLeaving else { return }
      switch ruling {
      case .allowed: carry(delivery, match)
      case .notForThisSource:
        delivery.dropMatch()
        guard delivery.match == nil else { return deliver(delivery) }
        book.finish(delivery, .denied, message: "the route is not for links of this source")
      case .denied(let reason): book.finish(delivery, .denied, message: reason)
      case .unavailable(let reason):
        book.finish(delivery, .consentUnavailable, message: reason)
      }
    }
  }

  /// Takes a link that may to its target, or does its action once the source is known.
  private func carry(_ delivery: Delivery, _ match: Match) {
    if let runner = targets.runner(for: match) { return runner.add(delivery) }
    delivery.whenSourceIsKnown { [self] _ in
      guard !delivery.state.isOutcome, !isLeaving else { return }
      guard let queue = commands(of: match) else { return act(delivery, match) }
      if queue.isFull { book.move(delivery, to: .waiting) }
      queue.add(delivery) { [self] in act(delivery, match) }
    }
  }

  /// Where the commands of a plugin wait for each other; nil for other actions.
  private func commands(of match: Match) -> CommandQueue? {
    guard case .command = match.route.action else { return nil }
    let id = match.plugin.id
    let queue = commands[id] ?? CommandQueue()
    commands[id] = queue
    return queue
  }

  private func act(_ delivery: Delivery, _ match: Match) {
    guard !isLeaving, !delivery.state.isOutcome,
      let handover = handover(of: delivery, .launch, attempt: delivery.attempt)
    else {
      commands(of: match)?.ended()
      return
    }
    ledger.afterCommit { [self] in if !isLeaving { perform(match, handover, delivery) } }
  }

  /// Does an action that has no target.
  private func perform(_ match: Match, _ handover: Handover, _ delivery: Delivery) {
    let environment = launchEnvironment(for: delivery)
    let completion: @LoopActor (HandoverResult) -> Void = { [weak self] in
      self?.commands(of: match)?.ended()
      self?.ended(delivery, $0)
    }
    switch match.route.action {
    case .command(let command):
      CommandAction.run(
        command, handover,
        at: PluginPlace(id: match.plugin.id, folder: match.plugin.folder, in: directories),
        environment, completion: completion)
    case .application(let application):
      let id = application.desktopEntry
      guard let (entry, path) = entries.entry(id) else {
        return completion(.failed(.launch, "there is no desktop entry '\(id)'"))
      }
      ExecApplication.open(
        handover, entry, at: path, id: id, environment, launcher: launcher, completion: completion)
    case .call(let call): perform(call, handover, limit: timeout(of: delivery), completion)
    case .open(let action):
      OpenAction.run(
        action, handover, environment, launcher: launcher,
        isAllowed: { [self] in mayBeSent($0, hops: delivery.hops) }, completion: completion)
    case .notify(let notify):
      NotifyAction.run(
        notify, handover, icon: match.plugin.icon, on: connection, completion: completion)
    // Both have targets; one that has none names a bus name that is no bus name.
    case .worker, .handler:
      completion(.failed(.launch, "the route's target has no valid name"))
    }
  }

  private func perform(
    _ call: Action.Call, _ handover: Handover, limit: Duration,
    _ completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    guard call.bus == .system else {
      return CallAction.run(call, handover, on: connection, limit: limit, completion: completion)
    }
    Task {
      do throws(BusError) {
        let bus = try await systemBus(limit: min(limit, Connection.defaultTimeout))
        CallAction.run(call, handover, on: bus, limit: limit, completion: completion)
      } catch {
        completion(.failed(.error, "the system bus cannot be reached"))
      }
    }
  }

  /// Connected when the first link needs it.
  private func systemBus(limit: Duration) async throws(BusError) -> Connection {
    if let system, system.isOpen { return system }
    // D-Bus specification, "Well-known Message Bus Instances".
    let address =
      variables["DBUS_SYSTEM_BUS_ADDRESS"] ?? "unix:path=/var/run/dbus/system_bus_socket"
    let connection = try await Connection.open(address: address, limit: limit)
    // Of two that were opened at once the first is kept.
    if let system, system.isOpen {
      connection.close()
      return system
    }
    system = connection
    return connection
  }

  /// Whether an action may send this URL out; remembers it, so that it is known when it comes back.
  private func mayBeSent(_ url: ParsedURL, hops: Int) -> Bool {
    let scheme = Scheme(url.scheme)
    guard
      configuration.settings.outgoingSchemes.contains(url.scheme)
        || scheme.flatMap({ configuration.table.owner(of: $0) }) != nil
    else { return false }
    sent.add(url.canonical.href, hops: hops, now: Clock.seconds)
    return true
  }

  /// Sends out a URL that nobody waits for, and remembers it as every one that is sent.
  func send(_ url: ParsedURL, hops: Int, of id: PluginID, _ environment: LaunchEnvironment) {
    sent.add(url.canonical.href, hops: hops, now: Clock.seconds)
    OpenAction.send(url, environment, launcher: launcher) { result in
      if case .failed(_, let message) = result {
        Log.notice("a callback of \(id) was not opened: \(message)")
      }
    }
  }

  /// Takes a link back that is not handed over yet; false when it is.
  func cancel(_ delivery: Delivery) -> Bool {
    if gate.cancel(delivery) {
      book.finish(delivery, .cancelled)
      return true
    }
    if delivery.match.flatMap(commands(of:))?.cancel(delivery) == true {
      book.finish(delivery, .cancelled)
      return true
    }
    return targets.cancel(delivery)
  }

  /// The daemon ends: every worker is told.
  func stop() {
    isLeaving = true
    targets.stop()
  }

  /// Manifests were changed: what nobody names any more is let go of.
  func dropIdleTargets() { targets.dropIdle() }

  // MARK: TargetRunnerOwner

  func delivery(_ id: UInt64) -> Delivery? { book.delivery(id) }

  func launchEnvironment(for delivery: Delivery?) -> LaunchEnvironment {
    LaunchEnvironment(
      variables: variables, activationToken: delivery?.freshToken,
      startupID: delivery?.freshStartupID)
  }

  /// For what is sent out without a delivery.
  func launchEnvironment(_ options: LinkOptions) -> LaunchEnvironment {
    LaunchEnvironment(
      variables: variables.merging(options.environment) { $1 },
      activationToken: options.activationToken, startupID: options.startupID)
  }

  func timeout(of delivery: Delivery) -> Duration {
    delivery.match?.route.timeout ?? configuration.settings.timeout
  }

  func handover(
    of delivery: Delivery, _ mode: Handover.Mode, attempt: Int
  ) -> Handover? {
    guard let match = delivery.match else { return nil }
    delivery.mode = mode
    delivery.attempt = attempt
    book.move(delivery, to: .handingOver)
    return Handover(
      id: delivery.id, link: delivery.link, plugin: match.plugin.id, route: match.route,
      parameters: match.parameters, mode: mode, attempt: attempt,
      source: delivery.source?.key ?? Source.unknown.key,
      activationToken: delivery.freshToken, startupID: delivery.freshStartupID,
      hops: delivery.hops)
  }

  func afterCommit(_ action: @escaping @LoopActor () -> Void) { ledger.afterCommit(action) }

  func move(_ delivery: Delivery, to state: DeliveryState) { book.move(delivery, to: state) }

  func ended(_ delivery: Delivery, _ result: HandoverResult) {
    if isLeaving {
      switch result {
      case .handled, .failed: break
      case .declined, .notReady, .notDelivered, .interrupted: return
      }
    }
    switch result {
    case .handled(let result):
      book.finish(delivery, .delivered, result.compactMapValues(Value.init(json:)))
    case .declined:
      delivery.dropMatch()
      book.move(delivery, to: .waiting)
      deliver(delivery)
    case .failed(let reason, let message):
      book.finish(delivery, .failed, reason: reason, message)
    case .notReady(let message), .notDelivered(let message):
      book.finish(delivery, .failed, reason: .error, message)
    case .interrupted: book.finish(delivery, .interrupted)
    }
  }

  func ended(_ delivery: Delivery, _ ending: TargetMachine.Ending) {
    switch ending {
    case .failed(let reason, let message):
      book.finish(delivery, .failed, reason: reason, message)
    case .timedOut: book.finish(delivery, .timedOut)
    case .interrupted: book.finish(delivery, .interrupted)
    case .cancelled: book.finish(delivery, .cancelled)
    }
  }
}

extension DeliveryBook {
  func finish(_ delivery: Delivery, _ outcome: DeliveryState, message: String) {
    finish(delivery, outcome, ["message": .string(message.asMessage)])
  }

  func finish(
    _ delivery: Delivery, _ outcome: DeliveryState, reason: FailureReason, _ message: String
  ) {
    finish(
      delivery, outcome,
      ["reason": .string(reason.rawValue), "message": .string(message.asMessage)])
  }
}

extension String {
  /// As much of a target's words as anybody reads, and as D-Bus takes them.
  fileprivate var asMessage: String {
    let words = unicodeScalars.lazy.filter { $0 != "\0" }
    let start = words.prefix(1000)
    return String(String.UnicodeScalarView(start)) + (words.dropFirst(1000).isEmpty ? "" : "…")
  }
}
