import DeeplinkBus
import DeeplinkContract
import DeeplinkLoop
import DeeplinkWire

/// The app's side of the bus: its object, its scenes' objects, and calls of the daemon.
@LoopActor final class AppService {
  private let name: WellKnownName
  private let plugin: String
  private let busAddress: String?
  private let handlers: DeeplinkApp.Handlers
  private let turnstile = Turnstile()

  /// The only one there ever is: what it handed out refers to it.
  private var connection: Connection?
  private var hasStarted = false
  private var waitingForEnd: [CheckedContinuation<Void, Never>] = []
  /// The one that was active last stands last.
  private var scenes: [DeeplinkApp.Scene] = []
  private var daemonOwner: Subscription?
  /// What the daemon was told of scenes last.
  private var lastWord: Task<Void, Never>?

  nonisolated init(
    name: WellKnownName, plugin: String, busAddress: String?, handlers: DeeplinkApp.Handlers
  ) {
    self.name = name
    self.plugin = plugin
    self.busAddress = busAddress
    self.handlers = handlers
  }

  // MARK: From start to end

  private func connected() throws(DeeplinkApp.Failure) -> Connection {
    if let connection {
      guard connection.isOpen else { throw .ended }
      return connection
    }
    do throws(BusError) {
      let connection =
        if let busAddress { try Connection.open(address: busAddress) } else {
          try Connection.session()
        }
      self.connection = connection
      connection.onClose { [self] in hasEnded() }
      return connection
    } catch {
      throw DeeplinkApp.Failure(error)
    }
  }

  /// Exports first, then asks for the name, which is what tells the daemon that links can come.
  func start() async throws(DeeplinkApp.Failure) {
    let connection = try connected()
    export(at: name.applicationPath, of: nil, on: connection)
    let outcome: NameRequestOutcome
    do throws(BusError) {
      // A daemon that comes later does not know the scenes.
      if daemonOwner == nil {
        daemonOwner = try await connection.subscribe(.owner(of: .deeplinkd)) { [weak self] signal in
          if signal.arguments.last?.string != "" { self?.registerScenes() }
        }
      }
      outcome = try await connection.requestName(name)
    } catch {
      throw DeeplinkApp.Failure(error)
    }
    guard outcome != .taken else { throw .alreadyRunning(id: name.text) }
    hasStarted = true
    registerScenes()
  }

  func end() async {
    guard connection?.isOpen == true else { return }
    await withCheckedContinuation { waitingForEnd.append($0) }
  }

  func stop() {
    connection?.flush()
    connection?.close()
  }

  private func hasEnded() {
    let waiting = waitingForEnd
    waitingForEnd = []
    for continuation in waiting { continuation.resume() }
  }

  // MARK: Links that come in

  private func export(
    at path: ObjectPath, of scene: DeeplinkApp.Scene?, on connection: Connection
  ) {
    let interface = Interface.handler { [weak self, weak scene] request, call in
      guard let self else { return call.fail(.failed, "the app is about to end") }
      take(DeeplinkApp.Link(request), for: scene, call)
    }
    connection.export([interface], at: path)
  }

  private func take(
    _ link: DeeplinkApp.Link, for scene: DeeplinkApp.Scene?, _ call: IncomingCall
  ) {
    guard let handler = handler(for: link.route, scene) else {
      return call.reply(.boolean(false), .options([:]))
    }
    // Tasks of the loop begin in the order in which they were made, and so enter the turnstile.
    Task {
      do {
        switch try await turnstile.pass(link, to: handler) {
        case .handled(let result):
          call.reply(.boolean(true), .options(result.mapValues(\.onBus)))
        case .declined: call.reply(.boolean(false), .options([:]))
        }
      } catch {
        call.fail(.failed, "\(error)")
      }
    }
  }

  /// The scene that the daemon chose, else the one that was active last, else the app: a scene may
  /// have closed while the link was on its way, or the daemon may not know it yet.
  private func handler(
    for route: String, _ scene: DeeplinkApp.Scene?
  ) -> DeeplinkApp.Handler<DeeplinkApp.Reply>? {
    let chosen = scenes.first { $0 === scene }?.handlers[route]
    return chosen ?? scenes.reversed().lazy.compactMap { $0.handlers[route] }.first
      ?? handlers[route]
  }

  // MARK: Scenes

  func activate(_ scene: DeeplinkApp.Scene) {
    let isNew = !scenes.contains { $0 === scene }
    scenes.removeAll { $0 === scene }
    scenes.append(scene)
    if isNew {
      register(scene)
    } else {
      tellDaemon(Contract.Dispatcher.activateScene, .objectPath(path(of: scene)))
    }
  }

  func close(_ scene: DeeplinkApp.Scene) {
    scenes.removeAll { $0 === scene }
    let path = path(of: scene)
    // The object stays until the daemon sends no more links to it.
    tellDaemon(Contract.Dispatcher.unregisterScene, .objectPath(path)) { [self] in
      connection?.unexport(path)
    }
  }

  private func path(of scene: DeeplinkApp.Scene) -> ObjectPath {
    ObjectPath(unchecked: "\(name.applicationPath.text)/scene/\(scene.number)")
  }

  private func registerScenes() {
    for scene in scenes { register(scene) }
  }

  private func register(_ scene: DeeplinkApp.Scene) {
    guard hasStarted, let connection else { return }
    export(at: path(of: scene), of: scene, on: connection)
    tellDaemon(
      Contract.Dispatcher.registerScene, .string(plugin), .objectPath(path(of: scene)),
      .strings(scene.handlers.routes))
  }

  /// Never starts the daemon, and passes over its no: then links come to the app's own object, which
  /// knows the scenes too.
  ///
  /// One call after the other, as the daemon takes its time to register and knows nothing to activate
  /// before that.
  private func tellDaemon(
    _ member: StaticString, _ arguments: Value..., then: @escaping @LoopActor () -> Void = {}
  ) {
    guard hasStarted, let connection else { return then() }
    lastWord = Task { [lastWord] in
      await lastWord?.value
      _ = try? await connection.call(daemonCall(member, arguments, mayStart: false))
      then()
    }
  }

  /// Returns when the daemon has answered all that it was told of scenes.
  func hasToldDaemon() async { await lastWord?.value }

  // MARK: Links that go out

  func open(
    _ url: String, activationToken: String?, wantsCallback: Bool, limit: Duration
  ) async throws(DeeplinkApp.Failure) -> DeeplinkApp.Outcome {
    var options = LinkOptions()
    options.activationToken = activationToken
    options.timeout = limit
    options.wantsCallback = wantsCallback
    let values = try await callDaemon(
      Contract.Dispatcher.open, .string(url), options.value, limit: limit + .seconds(Limit.call))
    guard let outcome = DeeplinkApp.Outcome(values) else {
      throw DeeplinkApp.Failure(.unexpectedReply(signature: values.signature.text))
    }
    return outcome
  }

  func canOpen(_ url: String) async throws(DeeplinkApp.Failure) -> Bool {
    let values = try await callDaemon(
      Contract.Dispatcher.canOpen, .string(url), limit: .seconds(Limit.call))
    guard let answer = values.first?.boolean else {
      throw DeeplinkApp.Failure(.unexpectedReply(signature: values.signature.text))
    }
    return answer
  }

  private func callDaemon(
    _ member: StaticString, _ arguments: Value..., limit: Duration
  ) async throws(DeeplinkApp.Failure) -> [Value] {
    let connection = try connected()
    do throws(BusError) {
      return try await connection.call(
        daemonCall(member, arguments, mayStart: true), timeout: limit)
    } catch {
      throw DeeplinkApp.Failure(error)
    }
  }

  private func daemonCall(
    _ member: StaticString, _ arguments: [Value], mayStart: Bool
  ) -> MethodCall {
    MethodCall(
      to: .wellKnown(.deeplinkd), path: .deeplinkd, interface: .dispatcher,
      member: MemberName(unchecked: member.description), arguments: arguments,
      mayStartDestination: mayStart)
  }
}

/// Where closures begin one after the other, off the loop's thread.
private actor Turnstile {
  func pass(
    _ link: DeeplinkApp.Link, to handler: DeeplinkApp.Handler<DeeplinkApp.Reply>
  ) async throws -> DeeplinkApp.Reply {
    try await handler(link)
  }
}
