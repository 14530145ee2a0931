import CDeeplinkLinux
import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import DeeplinkWire
import Foundation
import Testing

/// A world with the daemon, and a sender on its bus that stays connected.
///
/// What the targets do is in their records (`FaultyTarget`); they wait at gates, which tests open.
final class DeliveryRig: Sendable {
  let desktop: Desktop
  let connection: Connection
  private let news: News

  var world: World { desktop.world }

  /// - Parameter settings: Members of the settings file.
  init(settings: String = "", extra: [String: String] = [:]) async throws {
    EventLoop.shared.startThread()
    desktop = try Desktop(extra: extra)
    try desktop.world.write(
      #"{"rates": {"enabled": false}, \#(settings)}"#, to: "home/.config/deeplinkd/settings.json")
    try desktop.world.write(FaultyTarget.app, to: "faulty-app", executable: true)
    let address = desktop.world.busAddress
    connection = try await Self.connect(address)
    news = News()
    try await news.follow(connection)
  }

  deinit {
    let connection = connection
    Task { @LoopActor in connection.close() }
  }

  /// One more sender.
  @LoopActor static func connect(_ address: String) throws -> Connection {
    try Connection.open(address: address)
  }

  // MARK: Links

  struct Reply: Sendable {
    var id: UInt64
    var outcome: String
    var result: [String: Value]
    var message: String { result["message"]?.string ?? "" }
    var reason: String { result["reason"]?.string ?? "" }
  }

  /// Sends a link and waits for its outcome.
  ///
  /// With a `request` it asks again when the daemon is lost, as `deeplink-open` does.
  @LoopActor @discardableResult func open(
    _ url: String, request: String? = nil, token: String? = nil, timeout: Duration = .seconds(20)
  ) async throws -> Reply {
    var options = LinkOptions()
    options.request = request
    options.activationToken = token
    options.timeout = timeout
    while true {
      do throws(BusError) {
        let values = try await connection.call(
          dispatcher("Open", .string(url), options.value), timeout: .seconds(40))
        return Reply(
          id: values[0].uint64 ?? 0, outcome: values[1].string ?? "",
          result: values[2].options ?? [:])
      } catch {
        guard request != nil, error.remoteName == .noReply else { throw error }
      }
    }
  }

  /// Sends a link and returns when it is accepted: its id and what is told of it.
  @LoopActor @discardableResult func submit(
    _ url: String, request: String? = nil, token: String? = nil
  ) async throws -> (id: UInt64, facts: [String: Value]) {
    var options = LinkOptions()
    options.request = request
    options.activationToken = token
    let values = try await connection.call(dispatcher("Submit", .string(url), options.value))
    return (values[0].uint64 ?? 0, values[1].options ?? [:])
  }

  /// Sends many links one behind the other, without waiting, and gives what each came to.
  @LoopActor func submitAll(
    _ urls: [String], on sender: Connection? = nil, request: (Int) -> String? = { _ in nil }
  ) async -> [Result<UInt64, BusError>] {
    await withCheckedContinuation { continuation in
      var replies: [Int: Result<UInt64, BusError>] = [:]
      for (index, url) in urls.enumerated() {
        var options = LinkOptions()
        options.request = request(index)
        (sender ?? connection).call(
          dispatcher("Submit", .string(url), options.value), timeout: .seconds(60)
        ) { result in
          replies[index] = result.map { $0[0].uint64 ?? 0 }
          guard replies.count == urls.count else { return }
          continuation.resume(returning: urls.indices.compactMap { replies[$0] })
        }
      }
    }
  }

  @LoopActor func property(_ name: String) async throws -> Value? {
    let reply = try await connection.call(
      MethodCall(
        to: .wellKnown(.deeplinkd), path: .deeplinkd, interface: "org.freedesktop.DBus.Properties",
        member: "Get", arguments: [.string(InterfaceName.dispatcher.text), .string(name)]))
    guard case .variant(let value)? = reply.first else { return nil }
    return value
  }

  @LoopActor func dispatcher(_ member: MemberName, _ arguments: Value...) -> MethodCall {
    MethodCall(
      to: .wellKnown(.deeplinkd), path: .deeplinkd, interface: .dispatcher, member: member,
      arguments: arguments)
  }

  /// Waits until each of these links of ours has an outcome, and gives them.
  @LoopActor func outcomes(of ids: [UInt64]) async -> [String] {
    await news.wait { news in ids.allSatisfy { news.outcomes[$0] != nil } }
    return ids.compactMap { news.outcomes[$0] }
  }

  // MARK: The daemon

  @LoopActor func daemon() async throws -> pid_t {
    guard let owner = try await connection.owner(of: .deeplinkd),
      let pid = try await connection.credentials(of: owner).processID
    else { throw TestingError("there is no daemon") }
    return pid_t(pid)
  }

  /// Ends the daemon as a crash would, and waits until the bus has seen it.
  @LoopActor func killDaemon() async throws {
    kill(try await daemon(), SIGKILL)
    await daemonIsGone()
  }

  @LoopActor func daemonIsGone() async { await news.wait { !$0.hasDaemon } }

  @LoopActor func daemonIsThere() async { await news.wait { $0.hasDaemon } }

  @LoopActor func startDaemon() async throws {
    try await connection.startService(.deeplinkd, timeout: .seconds(20))
  }

  // MARK: Records and gates

  /// What the targets noted, in order; a worker has its plugin's home, an app the person's.
  func notes(of plugin: String? = nil) -> [Note] {
    lines(of: record(of: plugin)).compactMap(Note.init)
  }

  /// Waits until the targets' notes satisfy `condition`.
  @discardableResult func notes(
    of plugin: String? = nil, until condition: @escaping @Sendable ([Note]) -> Bool
  ) async throws -> [Note] {
    let file = record(of: plugin)
    try await offPool {
      try wait(forChangesOf: file, limit: .seconds(20)) {
        condition(lines(of: file).compactMap(Note.init))
      }
    }
    return notes(of: plugin)
  }

  private func record(of plugin: String?) -> URL {
    home(of: plugin).appending(path: "record.jsonl")
  }

  private func home(of plugin: String?) -> URL {
    plugin.map(desktop.home) ?? world.home
  }

  /// A gate that targets wait at: each `open()` lets one of them pass.
  final class Gate: Sendable {
    private let descriptor: Int32

    fileprivate init(_ path: String) throws {
      guard mkfifo(path, 0o600) == 0 else { throw TestingError("mkfifo \(path)") }
      // Both ends, so that neither side waits for the other to open it.
      descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    }

    deinit { close(descriptor) }

    func open(times: Int = 1) {
      let bytes = [UInt8](repeating: 1, count: times)
      _ = write(descriptor, bytes, times)
    }
  }

  func gate(_ name: String = "gate", of plugin: String? = nil) throws -> Gate {
    let folder = home(of: plugin)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try Gate(folder.appending(path: name).path)
  }

  // MARK: Plugins

  /// A plugin whose links are `SCHEME:KEY?do=…&n=…`; its worker takes `arguments`.
  func addWorker(
    _ arguments: [String] = [], id: String = "org.example.worker", route: String = "",
    action: String = ""
  ) throws {
    try FileManager.default.createDirectory(at: home(of: id), withIntermediateDirectories: true)
    let words = (["./worker"] + arguments).map { #""\#($0)""# }.joined(separator: ", ")
    try add(
      id, route: route,
      action: #"{"worker": {"run": [\#(words)], "sandbox": "none"\#(action)}}"#,
      files: ["worker": FaultyTarget.worker])
  }

  /// The same with an app on the bus, started by the bus or, with `launch`, by the daemon.
  func addApp(
    _ arguments: [String] = [], id: String = "org.example.app", busName: String = "org.example.App",
    launch: Bool = false, route: String = "", action: String = ""
  ) throws {
    let words = [world.root.appending(path: "faulty-app").path, busName] + arguments
    let start =
      launch ? #", "launch": [\#(words.map { #""\#($0)""# }.joined(separator: ", "))]"# : ""
    try add(
      id, route: route, action: #"{"handler": {"busName": "\#(busName)"\#(start)\#(action)}}"#)
    guard !launch else { return }
    try world.write(
      "[D-BUS Service]\nName=\(busName)\nExec=\(words.joined(separator: " "))\n",
      to: "services/\(busName).service")
  }

  func add(
    _ id: String, route: String = "", action: String, files: [String: String] = [:],
    moreRoutes: String = ""
  ) throws {
    try desktop.addPlugin(
      id: id,
      manifest: """
        {"id": "\(id)", "name": "Test", "schemes": ["\(id)"],
         "routes": [{"name": "link", "match": ":key", "additionalParameters": "pass",
           "effect": "view", "action": \(action)\(route)}\(moreRoutes)]}
        """, files: files)
  }
}

/// One thing that a target noted.
struct Note: Decodable, Sendable {
  var event: String
  var pid: pid_t
  var id: UInt64?
  var n: String?
  var delivery: String?
  var attempt: Int?
  var token: String?
  /// Of links to workers.
  var source: String?
  var hops: Int?

  init?(_ line: String) {
    guard let note = try? JSONDecoder().decode(Note.self, from: Data(line.utf8)) else { return nil }
    self = note
  }
}

extension [Note] {
  func of(_ event: String) -> [Note] { filter { $0.event == event } }
  /// The links that were received.
  var links: [Note] { of("link") }
  var starts: Int { of("start").count }
}

/// What the bus tells the rig: the states of its links, and whether there is a daemon.
@LoopActor private final class News {
  nonisolated init() {}

  private(set) var outcomes: [UInt64: String] = [:]
  private var ended: Set<String> = []
  private(set) var hasDaemon = false
  private var waiting:
    [(condition: @LoopActor (News) -> Bool, go: CheckedContinuation<Void, Never>)] =
      []

  func follow(_ connection: Connection) async throws {
    let states = MatchRule(interface: .dispatcher, member: "DeliveryChanged")
    _ = try await connection.subscribe(states) { [weak self] signal in
      guard let self, let id = signal.arguments[0].uint64,
        let state = signal.arguments[1].string.flatMap(DeliveryState.init), state.isOutcome
      else { return }
      // A daemon that found no ledger counts anew.
      let end = "\(signal.sender.map { "\($0)" } ?? "") \(id)"
      if !ended.insert(end).inserted { Issue.record("link \(id) has two outcomes") }
      outcomes[id] = state.rawValue
      changed()
    }
    _ = try await connection.subscribe(.owner(of: .deeplinkd)) { [weak self] signal in
      self?.hasDaemon = signal.arguments.last?.string != ""
      self?.changed()
    }
  }

  func wait(_ condition: @escaping @LoopActor (News) -> Bool) async {
    guard !condition(self) else { return }
    await withCheckedContinuation { waiting.append((condition, $0)) }
  }

  private func changed() {
    let (ready, others) = (
      waiting.filter { $0.condition(self) }, waiting.filter { !$0.condition(self) }
    )
    waiting = others
    for entry in ready { entry.go.resume() }
  }
}

/// Runs what blocks on a thread of its own: Swift's few are for what does not.
func offPool<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

/// Waits for the end of a process that is no child of ours.
func waitForEnd(of pid: pid_t, limit: Duration = .seconds(20)) async throws {
  let hasEnded = try await offPool {
    let descriptor = deeplink_pidfd_open(pid)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    return waitUntilReadable(descriptor, limit: limit)
  }
  guard hasEnded else { throw TestingError("process \(pid) did not end in \(limit)") }
}
