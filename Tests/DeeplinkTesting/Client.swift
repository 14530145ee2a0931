import DeeplinkBus
import DeeplinkLoop
import Foundation

/// A connection of the test's own to a desktop's bus, with the calls that tests make.
@LoopActor public final class Client {
  public let connection: Connection

  public init(_ desktop: Desktop) throws {
    connection = try Connection.open(address: desktop.world.busAddress)
  }

  public func call(
    _ member: MemberName, _ arguments: Value..., timeout: Duration = .seconds(30)
  ) async throws(BusError) -> [Value] {
    try await connection.call(
      MethodCall(
        to: .wellKnown("org.deeplinkd.Deeplinkd"), path: "/org/deeplinkd/Deeplinkd",
        interface: "org.deeplinkd.Dispatcher1", member: member, arguments: arguments),
      timeout: timeout)
  }

  /// `Open`: the outcome and the result.
  public func open(
    _ url: String, _ options: [String: Value] = [:]
  ) async throws(BusError) -> (id: UInt64, outcome: String, result: [String: Value]) {
    let reply = try await call("Open", .string(url), .options(options))
    return (reply[0].uint64 ?? 0, reply[1].string ?? "", reply[2].options ?? [:])
  }

  /// `Submit`: the id.
  @discardableResult public func submit(
    _ url: String, _ options: [String: Value] = [:]
  ) async throws(BusError) -> UInt64 {
    try await call("Submit", .string(url), .options(options))[0].uint64 ?? 0
  }

  public func property(_ name: String) async throws(BusError) -> Value? {
    let reply = try await connection.call(
      MethodCall(
        to: .wellKnown("org.deeplinkd.Deeplinkd"), path: "/org/deeplinkd/Deeplinkd",
        interface: "org.freedesktop.DBus.Properties", member: "Get",
        arguments: [.string("org.deeplinkd.Dispatcher1"), .string(name)]))
    if case .variant(let value)? = reply.first { return value }
    return nil
  }

  /// The states that the daemon tells this connection of, in order.
  public func states() async throws -> AsyncStream<
    (id: UInt64, state: String, facts: [String: Value])
  > {
    let (stream, feed) = AsyncStream.makeStream(
      of: (id: UInt64, state: String, facts: [String: Value]).self)
    let rule = MatchRule(interface: "org.deeplinkd.Dispatcher1", member: "DeliveryChanged")
    _ = try await connection.subscribe(rule) { signal in
      feed.yield(
        (
          signal.arguments[0].uint64 ?? 0, signal.arguments[1].string ?? "",
          signal.arguments[2].options ?? [:]
        ))
    }
    return stream
  }
}
