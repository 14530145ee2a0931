import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// The one way in: every link, however it was sent, is admitted, routed and kept here.
@LoopActor final class Intake: Dispatcher, ApplicationService {
  let book: DeliveryBook
  private let ledger: Ledger
  let courier: Courier
  let configuration: Configuration
  let callers: Callers
  let recorder: HistoryRecorder
  private let notifier: Notifier

  init(
    book: DeliveryBook, ledger: Ledger, courier: Courier, configuration: Configuration,
    callers: Callers, recorder: HistoryRecorder, notifier: Notifier
  ) {
    self.book = book
    self.ledger = ledger
    self.courier = courier
    self.configuration = configuration
    self.callers = callers
    self.recorder = recorder
    self.notifier = notifier
  }

  // MARK: Admission

  /// Accepts the link as a delivery, or finds the one that the same request has already.
  ///
  /// `accepted` runs before anything that comes of the link, once the link is kept.
  private func accept(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    accepted: @escaping @LoopActor (DeliveryBook.Known) -> Void
  ) throws(Refusal) {
    if let known = book.known(request: options.request) { return accepted(known) }
    do throws(Refusal) {
      if let reply = try ownReply(to: url) {
        book.announce(reply)
        return accepted(.ended(reply))
      }
      let (link, matches) = try admit(url)
      guard courier.hasRoom(for: matches) else {
        throw Refusal(
          .queueFull, "too many links wait for this app already", hint: "try again in a moment")
      }
      let delivery = book.add(link, options, from: sender, matches: matches)
      ledger.afterCommit { accepted(.open(delivery)) }
      book.announce(delivery)
      courier.deliver(delivery)
    } catch {
      refused(url, options, error)
      throw error
    }
  }

  /// A refusal does nothing but be told: to the sender, in the history, and to the person where nobody
  /// looks at a terminal.
  private func refused(_ url: String, _ options: LinkOptions, _ refusal: Refusal) {
    book.countRefusal(refusal.code)
    let scheme = Scheme(String(url.prefix { $0 != ":" }))
    let owner = scheme.flatMap { configuration.table.owner(of: $0) }
    recorder.record(
      refusal, scheme: owner == nil ? "" : scheme?.text ?? "", size: url.utf8.count)
    guard !options.isInteractive else { return }
    notifier.tell(
      "A link was not opened", refusal.message, plugin: owner?.id, icon: owner?.icon)
  }

  private func admit(_ url: String) throws(Refusal) -> (Link, [Match]) {
    let link = try Link(
      admitting: Array(url.utf8), maximumLength: configuration.settings.maximumLength)
    return (link, try configuration.table.matches(for: link))
  }

  // MARK: Dispatcher

  func submit(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor (Result<SubmitReply, DispatcherError>) -> Void
  ) {
    whenOpen { [self] in
      do throws(Refusal) {
        try accept(url, options, from: sender) { [self] known in
          switch known {
          case .open(let delivery):
            completion(.success(SubmitReply(id: delivery.id, facts: facts(of: delivery))))
          case .ended(let reply):
            completion(
              .success(SubmitReply(id: reply.id, facts: ["durable": .boolean(isDurable)])))
          }
        }
      } catch {
        completion(.failure(error.dispatcherError))
      }
    }
  }

  func open(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor (Result<OpenReply, DispatcherError>) -> Void
  ) {
    whenOpen { [self] in
      do throws(Refusal) {
        try accept(url, options, from: sender) { [self] known in
          switch known {
          case .open(let delivery):
            wait(for: delivery, options.timeout ?? Self.openTimeout) { completion(.success($0)) }
          case .ended(let reply): completion(.success(reply))
          }
        }
      } catch {
        completion(.failure(error.dispatcherError))
      }
    }
  }

  // MARK: The gate

  /// Calls that came before the ledger was replayed; nil once it was.
  private var early: [@LoopActor () -> Void]? = []

  /// What an earlier daemon accepted goes before every new link.
  func openGate() {
    let calls = early ?? []
    early = nil
    for call in calls { call() }
  }

  private func whenOpen(_ call: @escaping @LoopActor () -> Void) {
    early == nil ? call() : early?.append(call)
  }

  /// Answers with the outcome, or with none once `timeout` has passed.
  private func wait(
    for delivery: Delivery, _ timeout: Duration, _ answer: @escaping @LoopActor (OpenReply) -> Void
  ) {
    var isAnswered = false
    let once: @LoopActor (OpenReply) -> Void = { reply in
      guard !isAnswered else { return }
      isAnswered = true
      answer(reply)
    }
    let limit = EventLoop.shared.after(timeout) { once(delivery.reply) }
    let ended: @LoopActor (Delivery) -> Void = { delivery in
      limit.cancel()
      once(delivery.reply)
    }
    delivery.state.isOutcome ? ended(delivery) : delivery.waiters.append(ended)
  }

  /// Below the 25 s after which most clients give up.
  private static let openTimeout = Duration.seconds(20)

  private func facts(of delivery: Delivery) -> [String: Value] {
    var facts: [String: Value] = ["durable": .boolean(isDurable)]
    if let match = delivery.match {
      facts["plugin"] = .string(match.plugin.id.text)
      facts["route"] = .string(match.route.name)
    }
    return facts
  }

  func canOpen(_ url: String) -> Bool {
    (try? ownReply(to: url)) != nil || (try? admit(url)) != nil
  }

  func explain(_ url: String) -> String {
    DeeplinkRouting.explain(
      Array(url.utf8), table: configuration.table,
      maximumLength: configuration.settings.maximumLength
    ).json.description
  }

  var schemes: [String] { configuration.table.schemes.map(\.text) }
  var pendingCount: UInt32 { UInt32(clamping: book.count) }
  var isDurable: Bool { ledger.isDurable }
  var statistics: [String: UInt64] { book.statistics }

  // MARK: ApplicationService

  func open(
    urls: [String], _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor () -> Void
  ) {
    whenOpen { [self] in
      for (index, url) in urls.enumerated() {
        // A request names one link; several in one call are told apart by their number.
        var options = options
        options.request = options.request.map { urls.count > 1 ? "\($0)/\(index)" : $0 }
        do throws(Refusal) { try accept(url, options, from: sender) { _ in } } catch {
          Log.notice("a link was refused (\(error.code.rawValue)): \(error.message)")
        }
      }
      ledger.afterCommit(completion)
    }
  }
}

extension Refusal {
  var dispatcherError: DispatcherError {
    DispatcherError(
      code: code.errorName, message: hint.map { "\(message)\nhint: \($0)" } ?? message)
  }
}
