import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Takes each delivery to its action: through its target's queue, or at once where there is no target.
@LoopActor final class Courier: TargetRunnerOwner {
  private let book: DeliveryBook
  private let ledger: Ledger
  private let settings: Settings
  private let directories: BaseDirectories
  /// The daemon's own environment, with the session's variables of the last sender.
  private var variables: [String: String]
  private var runners: [TargetKey: TargetRunner] = [:]

  /// What makes two actions hand links to the same target.
  private enum TargetKey: Hashable {
    case worker(PluginID, Action.Worker)
  }

  init(
    book: DeliveryBook, ledger: Ledger, settings: Settings, directories: BaseDirectories,
    environment: [String: String]
  ) {
    self.book = book
    self.ledger = ledger
    self.settings = settings
    self.directories = directories
    variables = environment
  }

  // MARK: On the way

  /// Whether the first of `matches` may have one more link waiting.
  func hasRoom(for matches: [Match]) -> Bool {
    guard book.count < settings.queue.total else { return false }
    guard let match = matches.first, let key = key(of: match), let runner = runners[key] else {
      return true
    }
    return runner.waitingCount < settings.queue.perTarget
  }

  /// Brings a delivery to the route whose turn it is.
  func deliver(_ delivery: Delivery) {
    variables.merge(delivery.options.environment) { $1 }
    guard let match = delivery.match else { return book.finish(delivery, .declined) }
    switch match.route.action {
    case .worker(let worker): runner(for: match, worker).add(delivery)
    case .command(let command):
      guard let handover = handover(of: delivery, .launch, attempt: delivery.attempt) else {
        return
      }
      ledger.afterCommit { [self] in
        CommandAction.run(
          command, handover, folder: match.plugin.folder ?? "/",
          home: directories.home(of: match.plugin.id.text), launchEnvironment(for: delivery)
        ) { [weak self] in self?.ended(delivery, $0) }
      }
    case .application, .handler, .call, .open, .notify:
      book.finish(
        delivery, .failed,
        reason: .error, "this version has no action '\(match.route.action.kind.rawValue)'")
    }
  }

  /// Ends every worker, and says when all are gone.
  func stop() {
    for runner in runners.values { runner.stop() }
  }

  // MARK: Targets

  private func key(of match: Match) -> TargetKey? {
    if case .worker(let worker) = match.route.action {
      .worker(match.plugin.id, worker)
    } else {
      nil
    }
  }

  private func runner(for match: Match, _ worker: Action.Worker) -> TargetRunner {
    let key = TargetKey.worker(match.plugin.id, worker)
    if let runner = runners[key] { return runner }
    let id = match.plugin.id
    let target = WorkerTarget(
      worker, plugin: id, folder: match.plugin.folder ?? "/", home: directories.home(of: id.text))
    target.onLog = { level, line in Log.info("worker of \(id): \(level): \(line)") }
    let runner = TargetRunner(
      target, owner: self, concurrency: worker.limits.concurrency,
      launchTimeout: worker.limits.launchTimeout ?? settings.launchTimeout, stopsWhenLate: true,
      firstLinkProbes: false)
    runners[key] = runner
    return runner
  }

  // MARK: TargetRunnerOwner

  func delivery(_ id: UInt64) -> Delivery? { book.delivery(id) }

  func launchEnvironment(for delivery: Delivery?) -> LaunchEnvironment {
    LaunchEnvironment(
      variables: variables, activationToken: delivery?.freshToken,
      startupID: delivery?.freshStartupID)
  }

  func timeout(of delivery: Delivery) -> Duration {
    delivery.match?.route.timeout ?? settings.timeout
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
      parameters: match.parameters, mode: mode, attempt: attempt, source: "unknown",
      activationToken: delivery.freshToken, startupID: delivery.freshStartupID, hops: 0)
  }

  func afterCommit(_ action: @escaping @LoopActor () -> Void) { ledger.afterCommit(action) }

  func move(_ delivery: Delivery, to state: DeliveryState) { book.move(delivery, to: state) }

  func ended(_ delivery: Delivery, _ result: HandoverResult) {
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
  func finish(
    _ delivery: Delivery, _ outcome: DeliveryState, reason: FailureReason, _ message: String
  ) {
    finish(
      delivery, outcome,
      ["reason": .string(reason.rawValue), "message": .string(message.withoutNUL)])
  }
}

extension String {
  fileprivate var withoutNUL: String { String(unicodeScalars.filter { $0 != "\0" }) }
}

extension Delivery {
  /// How long a desktop honours an activation token, in seconds.
  private static let tokenLife = 30.0

  var freshToken: String? { age < Self.tokenLife ? options.activationToken : nil }
  var freshStartupID: String? { age < Self.tokenLife ? options.startupID : nil }
}
