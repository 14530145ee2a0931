import DeeplinkBus
import DeeplinkContract
import DeeplinkDesktop
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
  private let builtIn: BuiltInLinks
  private var rates = Rates()
  /// How many refusals of texts that no plugin has are remembered: one a second.
  private var strangers = TokenBucket(capacity: 60, perSecond: 1, now: Clock.seconds)

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
    builtIn = BuiltInLinks(book: book)
  }

  // MARK: Admission

  /// Accepts the link as a delivery, or finds the one that the same request has already.
  ///
  /// `accepted` runs before anything that comes of the link, once the link is kept.
  private func accept(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    accepted: @escaping @LoopActor (DeliveryBook.Known) -> Void
  ) throws(Refusal) {
    if let known = book.known(request: options.request) {
      return ledger.afterCommit { accepted(known) }
    }
    do throws(Refusal) {
      let link = try admit(url)
      if link.scheme == BuiltInLinks.scheme { return accepted(.ended(try builtIn.open(link))) }
      try checkRate(link, options, sender)
      let hops = try hops(of: link)
      let matches = try configuration.table.matches(for: link)
      guard courier.hasRoom(for: matches) else {
        throw Refusal(
          .queueFull, "too many links wait for this app already", hint: "try again in a moment")
      }
      let delivery = book.add(
        link, options, from: sender, source: callers.sources.known(sender), matches: matches,
        hops: hops)
      // Answered only then: an opener that has its answer ends, and nobody can look at it any more.
      delivery.whenSourceIsKnown { [ledger] _ in
        ledger.afterCommit { accepted(.open(delivery)) }
      }
      callers.sources.find(sender) { delivery.sourceIsKnown($0) }
      book.announce(delivery)
      courier.deliver(delivery)
    } catch {
      refused(url, options, error, from: sender)
      throw error
    }
  }

  /// A refusal does nothing but be told: to the sender, in the history, and to the person where nobody
  /// looks at a terminal.
  private func refused(
    _ url: String, _ options: LinkOptions, _ refusal: Refusal, from sender: UniqueName?
  ) {
    book.countRefusal(refusal.code)
    let name = url.utf8.prefix(65).prefix { $0 != UInt8(ascii: ":") }
    let scheme = Scheme(String(decoding: name, as: UTF8.self))
    let owner = scheme.flatMap { configuration.table.owner(of: $0) }
    // A flood is counted, and told once a minute; it does not fill the history. Neither do texts of no
    // plugin, which cost their sender nothing.
    let isWorthKeeping =
      owner == nil ? strangers.take(now: Clock.seconds) : refusal.code != .rateLimited
    if isWorthKeeping {
      recorder.record(
        refusal, scheme: owner == nil ? "" : scheme?.text ?? "", size: url.utf8.count,
        source: callers.sources.known(sender) ?? .unknown)
    }
    guard !options.isInteractive else { return }
    notifier.tell(
      "A link was not opened", refusal.message, plugin: owner?.id, icon: owner?.icon)
  }

  private func admit(_ url: String) throws(Refusal) -> Link {
    // Far too long to be looked at: even blanks that would be trimmed are work.
    guard url.utf8.count <= 16 * configuration.settings.maximumLength else {
      throw Refusal(
        .tooLong,
        "the link has more than \(configuration.settings.maximumLength) bytes, the most that is taken"
      )
    }
    return try Link(admitting: Array(url.utf8), maximumLength: configuration.settings.maximumLength)
  }

  /// Links of schemes that nobody has cost nothing, so they take no token.
  ///
  /// A sender that was not looked up yet counts as unknown: openers come once, and so share a bucket.
  private func checkRate(
    _ link: Link, _ options: LinkOptions, _ sender: UniqueName?
  ) throws(Refusal) {
    guard configuration.table.owner(of: link.scheme) != nil else { return }
    let key = Rates.Key(
      source: (callers.sources.known(sender) ?? .unknown).key, scheme: link.scheme,
      isInteractive: options.isInteractive)
    guard rates.take(key, configuration.settings.rates, now: Clock.seconds) else {
      throw Refusal(
        .rateLimited, "too many '\(link.scheme)' links came at once",
        hint: "try again in a moment; settings have the limits under 'rates'")
    }
  }

  /// How many links of ours led to this one.
  private func hops(of link: Link) throws(Refusal) -> Int {
    let hops = courier.sent.hops(of: link.canonical.href, now: Clock.seconds)
    guard hops <= configuration.settings.maximumHops else {
      throw Refusal(.loop, "the link was sent out by an action of a link, over and over again")
    }
    return hops
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
      if callForeignApp(url, options, from: sender, completion: completion) { return }
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
    guard !delivery.state.isOutcome else { return answer(delivery.reply) }
    var limit: LoopTimer?
    let number = delivery.wait { delivery in
      limit?.cancel()
      answer(delivery.reply)
    }
    guard let number else { return answer(delivery.reply) }
    limit = EventLoop.shared.after(min(timeout, Self.longestWait)) {
      delivery.forgetWaiter(number)
      answer(delivery.reply)
    }
  }

  /// Nobody looks at an answer that comes later.
  private static let longestWait = Duration.seconds(86_400)

  private static let openTimeout = Duration.milliseconds(Int64(Limit.openMilliseconds))

  private func facts(of delivery: Delivery) -> [String: Value] {
    var facts: [String: Value] = ["durable": .boolean(isDurable)]
    if let match = delivery.match {
      facts["plugin"] = .string(match.plugin.id.text)
      facts["route"] = .string(match.route.name)
    }
    return facts
  }

  /// What a person asked a foreign app for, where no plugin has the link's scheme.
  private func callForeignApp(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor (Result<OpenReply, DispatcherError>) -> Void
  ) -> Bool {
    guard options.wantsCallback, let link = try? admit(url), link.scheme != BuiltInLinks.scheme,
      configuration.table.owner(of: link.scheme) == nil
    else { return false }
    Task {
      do throws(DispatcherError) {
        // A sandboxed app has a portal to open links with, which asks.
        try await callers.requireUnconfined(sender)
        ForeignCall(builtIn: builtIn, book: book, launcher: courier.launcher).open(
          link, limit: options.timeout ?? Self.openTimeout,
          courier.launchEnvironment(options)
        ) { completion($0.mapError(\.dispatcherError)) }
      } catch {
        completion(.failure(error))
      }
    }
    return true
  }

  func canOpen(_ url: String) -> Bool {
    guard let link = try? admit(url) else { return false }
    if link.scheme == BuiltInLinks.scheme { return builtIn.canOpen(link) }
    return (try? configuration.table.matches(for: link)) != nil
  }

  func explain(_ url: String) -> String {
    let settings = configuration.settings
    // Which sources were allowed is the person's to know, not every caller's.
    return DeeplinkRouting.explain(
      Array(url.utf8), table: configuration.table, maximumLength: settings.maximumLength
    ) { settings.consentText($0, $1, grants: Grants()) }.json.description
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
