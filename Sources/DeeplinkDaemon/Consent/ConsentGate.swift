import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Lets a link through to its route: by what the manifest, the settings and the person say.
///
/// A link that waits here waits alone; it joins its target's queue when it is let through.
@LoopActor final class ConsentGate {
  enum Ruling: Hashable, Sendable {
    case allowed
    /// The route is for other sources: the next one may try.
    case notForThisSource
    case denied(String)
    case unavailable(String)
  }

  private let book: DeliveryBook
  private let configuration: Configuration
  private let grants: GrantsFile
  private let desk: ConsentDesk

  init(
    book: DeliveryBook, configuration: Configuration, directories: BaseDirectories,
    asker: any Asker
  ) {
    self.book = book
    self.configuration = configuration
    grants = GrantsFile(path: Grants.path(directories))
    desk = ConsentDesk(asker: asker)
    desk.isSettled = { [weak self] question in
      guard let self, question.offersAlways, question.destination == nil,
        let route = configuration.table.plugin(question.plugin)?.route(question.route)
      else { return false }
      return grants.allow(question.plugin, route, source: question.source.key)
    }
  }

  /// Rules on `match` for a link; `ruled` runs once, at once where nothing has to be found out, and not
  /// at all for a link that ended meanwhile.
  func pass(
    _ delivery: Delivery, _ match: Match, _ environment: [String: String],
    _ ruled: @escaping @LoopActor (Ruling) -> Void
  ) {
    let rule = configuration.settings.consentRule(match.plugin.id, match.route.name)
    guard !ConsentPolicy.ignoresSource(match.route, rule: rule) else {
      return ruled(rule == .deny ? .denied(Self.settingsReason) : .allowed)
    }
    delivery.whenSourceIsKnown { [self] source in
      guard !delivery.state.isOutcome else { return }
      guard match.isFor(source) else { return ruled(.notForThisSource) }
      let isGranted = grants.allow(match.plugin.id, match.route, source: source.key)
      switch ConsentPolicy.verdict(match.route.consent, rule: rule, isGranted: isGranted) {
      case .allow: ruled(.allowed)
      case .deny: ruled(.denied(Self.settingsReason))
      case .ask(let offersAlways):
        ask(
          Question(match, delivery.link, from: source, offersAlways: offersAlways), delivery,
          match, environment, ruled)
      }
    }
  }

  /// Rules on sending what an action returned to `destination`, a scheme and host that the link chose.
  ///
  /// A page chooses it, so it is asked about once whatever the route's effect is; what a person
  /// allowed for a whole plugin does not count here.
  func passCallback(
    _ delivery: Delivery, _ match: Match, sending members: [(String, String)],
    to destination: String, _ environment: [String: String],
    _ ruled: @escaping @LoopActor (Bool) -> Void
  ) {
    guard configuration.settings.consentRule(match.plugin.id, match.route.name) != .deny else {
      return ruled(false)
    }
    let key = Grants.callbackPrefix + destination
    guard !grants.allowsExactly(match.plugin.id, match.route, source: key) else {
      return ruled(true)
    }
    let question = Question(
      match, sending: members, to: destination, from: delivery.source ?? .unknown)
    desk.ask(question, for: delivery.id, environment) { [self] ruling in
      switch ruling {
      case .answered(.once): ruled(true)
      case .answered(.always):
        grants.add(
          Grants.Grant(
            plugin: match.plugin, route: match.route, source: key, time: Clock.secondsSince1970))
        ruled(true)
      case .answered, .denied: ruled(false)
      }
    }
  }

  /// Takes a link back that waits for an answer.
  func cancel(_ delivery: Delivery) -> Bool { desk.cancel(delivery.id) }

  private static let settingsReason = "the settings deny it"

  private func ask(
    _ question: Question, _ delivery: Delivery, _ match: Match, _ environment: [String: String],
    _ ruled: @escaping @LoopActor (Ruling) -> Void
  ) {
    book.move(delivery, to: .asking)
    desk.ask(question, for: delivery.id, environment) { [self] ruling in
      guard !delivery.state.isOutcome else { return }
      switch ruling {
      case .denied(let reason): ruled(.denied(reason))
      case .answered(.no): ruled(.denied("the person said no"))
      case .answered(.silence): ruled(.denied("nobody answered the question"))
      case .answered(.unavailable): ruled(.unavailable(Self.hint(question)))
      case .answered(.once(let token)): allow(delivery, token, ruled)
      case .answered(.always(let token)):
        grants.add(
          Grants.Grant(
            plugin: match.plugin, route: match.route, source: question.source.key,
            time: Clock.secondsSince1970))
        allow(delivery, token, ruled)
      }
    }
  }

  private func allow(
    _ delivery: Delivery, _ token: String?, _ ruled: @LoopActor (Ruling) -> Void
  ) {
    if let token { delivery.useToken(token) }
    book.move(delivery, to: .waiting)
    ruled(.allowed)
  }

  private static func hint(_ question: Question) -> String {
    "there was no way to ask you: no notification service with buttons, no zenity or kdialog; "
      + "\"consent\": {\"\(question.plugin)/\(question.route)\": \"allow\"} in settings.json "
      + "would allow it"
  }
}

/// The person's grants, read anew when the file was changed.
@LoopActor final class GrantsFile {
  private let path: String
  private var grants = Grants()
  private var version: SmallFile.Version?
  private var hasFailed = false

  init(path: String) { self.path = path }

  func allow(_ plugin: PluginID, _ route: Route, source: String) -> Bool {
    refresh()
    return grants.allows(plugin, route, source: source)
  }

  func allowsExactly(_ plugin: PluginID, _ route: Route, source: String) -> Bool {
    refresh()
    return grants.allowsExactly(plugin, route, source: source)
  }

  /// Keeps a grant; one that cannot be kept holds for as long as the daemon runs.
  func add(_ grant: Grants.Grant) {
    refresh()
    grants.add(grant)
    do throws(Grants.FileError) {
      guard !hasFailed else { throw Grants.FileError(description: "'\(path)' cannot be read") }
      try grants.write(path)
      version = SmallFile.version(path)
    } catch {
      Log.error("a grant will not outlive the daemon: \(error), ignoring")
    }
  }

  private func refresh() {
    let present = SmallFile.version(path)
    guard present != version else { return }
    version = present
    hasFailed = false
    do throws(Grants.FileError) { grants = try Grants.read(path) } catch {
      // Nothing is granted by a file that cannot be understood, and it is not written over.
      Log.error("\(error), so every route is asked about, ignoring")
      grants = Grants()
      hasFailed = true
    }
  }
}
