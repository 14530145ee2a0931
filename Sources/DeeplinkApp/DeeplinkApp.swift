import DeeplinkBus
import DeeplinkLoop
import Synchronization

/// An app that opens links.
///
/// Say what is done with each route of the app's manifest, then start:
///
/// ```swift
/// let app = try DeeplinkApp(id: "com.example.Photos")
/// app.onOpenURL("show-album") { @MainActor link in
///   gallery.show(try link.string("album"), at: try link.integer("index"))
/// }
/// try await app.start()
/// ```
///
/// A closure gets the same link whether it launched the app or found it running, because links wait
/// until `start()` has told that the app is ready. Closures begin in the order in which the links
/// arrived; while one awaits something, the next may begin. They run off the main thread unless
/// they say `@MainActor`.
public final class DeeplinkApp: Sendable {
  /// The app's name in the session: the `busName` of its manifest's routes.
  public let id: String

  private let handlers = Handlers()
  private let service: AppService
  private let sceneCount = Atomic<Int>(0)

  /// An app named `id`, in reverse DNS.
  ///
  /// - Parameter plugin: The id of the manifest, where it is not that of the app.
  /// - Throws: `invalidID`. Nothing of the session is touched before `start()`.
  public convenience init(id: String, plugin: String? = nil) throws(Failure) {
    try self.init(id: id, plugin: plugin, busAddress: nil)
  }

  package init(id: String, plugin: String? = nil, busAddress: String?) throws(Failure) {
    let name: WellKnownName
    do throws(BusError) { name = try WellKnownName(id) } catch { throw .invalidID(id) }
    self.id = id
    EventLoop.shared.startThread()
    service = AppService(
      name: name, plugin: plugin ?? id, busAddress: busAddress, handlers: handlers)
  }

  // MARK: Links that come in

  /// Calls `perform` for each link of `route`; without one, for each link that no other closure is
  /// there for.
  ///
  /// Register before `start()`. A later closure for the same route takes the former's place. What
  /// `perform` throws is told to the sender as the reason why the link failed.
  public func onOpenURL(_ route: String? = nil, perform: @escaping Handler<Void>) {
    handlers.set(route) { link in
      try await perform(link)
      return .handled
    }
  }

  /// `onOpenURL` for links whose sender gets an answer: results, or `.declined`.
  ///
  /// Under a name of its own, as Swift cannot tell closures apart by what they return.
  public func answerURL(_ route: String? = nil, perform: @escaping Handler<Reply>) {
    handlers.set(route, perform)
  }

  /// A window that takes links of its own.
  public func scene() -> Scene {
    let number = sceneCount.add(1, ordering: .relaxed).newValue
    return Scene(number: number, service: service)
  }

  // MARK: From start to end

  /// Takes the app's name in the session: from now on links come.
  ///
  /// - Throws: `alreadyRunning` when another instance has the name; `noSession` when there is no
  ///   session bus.
  public func start() async throws(Failure) { try await service.start() }

  /// Starts, and returns when `stop()` was called or the session has ended.
  public func run() async throws(Failure) {
    try await start()
    await service.end()
  }

  /// Gives the name back and ends the app's connection for good; `run()` returns.
  public func stop() {
    Task { @LoopActor [service] in service.stop() }
  }

  /// Returns when the daemon knows of every window what it was told; for tests.
  package func scenesAreKnown() async { await service.hasToldDaemon() }

  // MARK: Links that go out

  /// Opens `url` and says what became of it, at most `limit` later.
  ///
  /// It needs no `start()`. A link that fails in its target is an outcome; an error is thrown
  /// where nothing was done with it.
  ///
  /// - Parameters:
  ///   - activationToken: From the toolkit, so that the other app may come to the front.
  ///   - wantsCallback: An app that answers by x-callback-url alone is asked that way.
  /// - Throws: `refused` when no app takes such a link; `unavailable` when deeplinkd is not there.
  public func open(
    _ url: String, activationToken: String? = nil, wantsCallback: Bool = false,
    limit: Duration = .seconds(20)
  ) async throws(Failure) -> Outcome {
    try await service.open(
      url, activationToken: activationToken, wantsCallback: wantsCallback, limit: limit)
  }

  /// Whether an app would take `url` now; nothing is opened.
  public func canOpen(_ url: String) async throws(Failure) -> Bool {
    try await service.canOpen(url)
  }
}
