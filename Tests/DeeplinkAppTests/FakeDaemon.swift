import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting

@testable import DeeplinkApp

/// The daemon's side of the bus, with what a test wants it to do.
@LoopActor final class FakeDaemon {
  let connection: Connection
  /// What was called, as text: `RegisterScene com.example.Photos /path [a,b]`.
  private(set) var calls: [String] = []
  private var waiting: [(count: Int, CheckedContinuation<[String], Never>)] = []

  init(_ world: World, open: @escaping @LoopActor (IncomingCall) -> Void = { _ in }) async throws {
    connection = try Connection.open(address: world.busAddress)
    let one = [Argument("path", "o")]
    let record: @LoopActor (IncomingCall) -> Void = { [unowned self] call in
      note(call)
      call.reply()
    }
    connection.export(
      [
        Interface(
          "org.deeplinkd.Dispatcher1",
          methods: [
            Method(
              "RegisterScene",
              in: [Argument("plugin", "s"), Argument("path", "o"), Argument("routes", "as")], record
            ),
            Method("ActivateScene", in: one, record), Method("UnregisterScene", in: one, record),
            Method(
              "Open", in: [Argument("url", "s"), Argument("options", "a{sv}")],
              out: [Argument("id", "t"), Argument("outcome", "s"), Argument("result", "a{sv}")],
              open),
            Method("CanOpen", in: [Argument("url", "s")], out: [Argument("", "b")]) { call in
              call.reply(.boolean(call.arguments[0].string == "known:"))
            },
          ])
      ], at: "/org/deeplinkd/Deeplinkd")
    guard try await connection.requestName("org.deeplinkd.Deeplinkd") == .owned else {
      throw TestingError("another daemon has the name")
    }
  }

  private func note(_ call: IncomingCall) {
    let words = call.arguments.map { value in
      if case .objectPath(let path) = value { return path.text }
      return value.string ?? "[\((value.strings ?? []).joined(separator: ","))]"
    }
    calls.append(([call.member.text] + words).joined(separator: " "))
    let ready = waiting.filter { $0.count <= calls.count }
    waiting.removeAll { $0.count <= calls.count }
    for (_, continuation) in ready { continuation.resume(returning: calls) }
  }

  /// The calls, once there are `count`; the suite's limit ends a wait in vain.
  func calls(_ count: Int) async -> [String] {
    if calls.count >= count { return calls }
    return await withCheckedContinuation { waiting.append((count, $0)) }
  }

  /// Hands a link over as the daemon does, to the owner of `name`.
  func handOver(
    _ route: String = "show", _ parameters: [String: Value] = [:],
    context: [String: Value] = [:], path: ObjectPath? = nil, id: UInt64 = 1,
    to name: WellKnownName = "com.example.Photos"
  ) async throws -> (handled: Bool, result: [String: Value]) {
    let reply = try await connection.call(
      MethodCall(
        to: .wellKnown(name), path: path ?? name.applicationPath,
        interface: "org.deeplinkd.Handler1", member: "Open",
        arguments: [
          .uint64(id), .string("com.example.photos:Vacation"), .string(route),
          .options(parameters), .options(context),
        ], mayStartDestination: false))
    guard reply.signature == "ba{sv}" else { throw TestingError("\(reply.signature)") }
    return (reply[0].boolean ?? false, reply[1].options ?? [:])
  }
}

/// Collects what closures saw, from wherever they run.
actor Notes {
  private(set) var lines: [String] = []
  func add(_ line: String) { lines.append(line) }
}

extension World {
  /// An app in this process on this world's bus.
  func app(_ id: String = "com.example.Photos") throws -> DeeplinkApp {
    try DeeplinkApp(id: id, busAddress: busAddress)
  }
}
