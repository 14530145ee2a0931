import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

/// Calls, replies, errors and ends, against a real dbus-daemon.
@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
  let world: World

  init() throws {
    EventLoop.shared.startThread()
    world = try World()
  }

  private func call(_ member: MemberName, _ arguments: Value..., to name: WellKnownName)
    -> MethodCall
  {
    MethodCall(
      to: .wellKnown(name), path: "/org/example/Echo", interface: "org.example.Echo",
      member: member, arguments: arguments)
  }

  @Test @LoopActor func `a refused connection says why in the bus's own words`() {
    #expect {
      try Connection.open(address: "unix:path=/nonexistent/bus")
    } throws: { error in
      guard case .cannotConnect(_, let name, let message)? = error as? BusError else {
        return false
      }
      return name == "org.freedesktop.DBus.Error.FileNotFound" && message.contains("No such file")
    }
  }

  @Test @LoopActor func `every type of value comes back as it was sent`() async throws {
    let (server, client) = try await echo()
    defer { server.close(); client.close() }
    let values: [Value] = [
      .byte(255), .boolean(true), .int16(-2), .uint16(65_535), .int32(-7), .uint32(7),
      .int64(.min), .uint64(.max), .double(-1.5), .string("grüß 😀 \u{202e}"),
      .objectPath("/a/b"), .signature("a{sv}"), .variant(.variant(.string("in"))),
      .array(of: "s", []), .array(of: "(is)", [.structure([.int32(1), .string("x")])]),
      .options(["b": .uint32(1), "a": .strings(["x", "y"])]),
      .dictionary(key: "s", value: "s", []),
      .dictionary(
        key: "y", value: "a{ss}",
        [
          .init(
            .byte(1), .dictionary(key: "s", value: "s", [.init(.string("k"), .string("v"))]))
        ]),
    ]
    for value in values {
      let reply = try await client.call(call("Echo", .variant(value), to: "org.example.Echo"))
      #expect(reply == [.variant(value)])
    }
  }

  @Test @LoopActor func `what libdbus would abort for is refused before it`() async throws {
    let connection = try Connection.open(address: world.busAddress)
    defer { connection.close() }
    let bad: [Value] = [
      .string("a\0b"), .array(of: "s", [.uint32(1)]), .structure([]), .fileDescriptor,
      .dictionary(key: "s", value: "v", [.init(.string("a"), .string("b"))]),
      .array(of: "ay", [.array(of: "y", [.string("deep")])]),
    ]
    for value in bad {
      await #expect(throws: BusError.self) {
        try await connection.call(call("Echo", value, to: "org.example.Echo"))
      }
    }
    #expect(connection.isOpen)
    for text in ["", "a", "a..b", ":1.2", "a.b\0", "a b.c", "1a.b"] {
      #expect(throws: BusError.invalidName(kind: WellKnownName.kind, text)) {
        try WellKnownName(text)
      }
    }
    for text in ["", "a", "/a/", "//", "/a b", "/é", "/a\0"] {
      #expect(throws: BusError.self) { try ObjectPath(text) }
    }
  }

  @Test @LoopActor func `an error reply is a thrown error with its name`() async throws {
    let (server, client) = try await echo()
    defer { server.close(); client.close() }
    await #expect(
      throws: BusError.remote(name: "org.example.Error.Refused", message: "not today")
    ) {
      try await client.call(call("Refuse", to: "org.example.Echo"))
    }
    await #expect {
      try await client.call(call("Echo", .uint32(1), to: "org.example.Echo"))
    } throws: {
      ($0 as? BusError)?.remoteName == .invalidArgs
    }
    await #expect {
      try await client.call(call("Nothing", to: "org.example.Absent"))
    } throws: {
      ($0 as? BusError)?.remoteName == .serviceUnknown
    }
  }

  @Test @LoopActor func `the text of an error is cut where nobody reads on`() async throws {
    let (server, client) = try await echo()
    defer { server.close(); client.close() }
    let whole = ["short", String(repeating: "x", count: 1024)]
    let cut = [String(repeating: "x", count: 1025), "x" + String(repeating: "é", count: 5000)]
    for text in whole + cut {
      server.export(
        [
          Interface(
            "org.example.Long",
            methods: [Method("Fail") { call in call.fail("org.example.Error.Long", text) }])
        ], at: "/long")
      do throws(BusError) {
        _ = try await client.call(
          MethodCall(
            to: .wellKnown("org.example.Echo"), path: "/long", interface: "org.example.Long",
            member: "Fail"))
        Issue.record("it did not fail")
      } catch {
        guard case .remote(_, let message) = error else { throw error }
        if cut.contains(text) {
          #expect(message.hasSuffix("…") && (1024...1030).contains(message.utf8.count))
        } else {
          #expect(message == text)
        }
      }
    }
  }

  @Test @LoopActor func `a call that nobody answers ends at its limit`() async throws {
    let (server, client) = try await echo()
    defer { server.close(); client.close() }
    await #expect(throws: BusError.noReply(after: .milliseconds(50))) {
      try await client.call(call("Ignore", to: "org.example.Echo"), timeout: .milliseconds(50))
    }
    #expect(
      try await client.call(call("Echo", .variant(.byte(1)), to: "org.example.Echo"))
        == [.variant(.byte(1))])
  }

  @Test @LoopActor func `everyone who waits sees the end of the connection`() async throws {
    let (server, client) = try await echo()
    defer { server.close() }
    let waiting = (0..<3).map { _ in
      Task { @LoopActor in try await client.call(call("Ignore", to: "org.example.Echo")) }
    }
    let closed = Task { @LoopActor in
      await withCheckedContinuation { continuation in client.onClose { continuation.resume() } }
    }
    // Sent only once the other side has answered something that came after them.
    _ = try await client.call(call("Echo", .variant(.byte(1)), to: "org.example.Echo"))
    world.killBus()
    for task in waiting {
      await #expect(throws: BusError.disconnected) { try await task.value }
    }
    await closed.value
    #expect(!client.isOpen)
    await #expect(throws: BusError.disconnected) { try await client.busID() }
  }

  @Test @LoopActor func `a name has one owner, and the outcome is a value`() async throws {
    let first = try Connection.open(address: world.busAddress)
    let second = try Connection.open(address: world.busAddress)
    defer { first.close(); second.close() }
    #expect(try await first.owner(of: "org.example.Name") == nil)
    #expect(try await first.requestName("org.example.Name") == .owned)
    #expect(try await first.requestName("org.example.Name") == .alreadyOwned)
    #expect(try await second.requestName("org.example.Name") == .taken)
    #expect(try await second.owner(of: "org.example.Name") == first.uniqueName)
    #expect(try await second.credentials(of: first.uniqueName).processID == UInt32(getpid()))
  }

  @Test @LoopActor func `a subscription has its rule when it returns`() async throws {
    let sender = try Connection.open(address: world.busAddress)
    let receiver = try Connection.open(address: world.busAddress)
    defer { sender.close(); receiver.close() }
    let (stream, feed) = AsyncStream.makeStream(of: Signal.self)
    let rule = MatchRule(
      sender: .unique(sender.uniqueName), interface: "org.example.Echo", member: "Heard",
      firstArgument: "it's me")
    let subscription = try await receiver.subscribe(rule) { feed.yield($0) }
    for text in ["no", "it's me"] {
      try sender.emit(
        Signal(
          path: "/", interface: "org.example.Echo", member: "Heard",
          arguments: [.string(text), .uint32(1)]))
    }
    var signals = stream.makeAsyncIterator()
    let heard = try #require(await signals.next())
    #expect(heard.arguments == [.string("it's me"), .uint32(1)])
    #expect(heard.sender == .unique(sender.uniqueName))
    subscription.cancel()
    // Answered after RemoveMatch, as the bus keeps the order of one sender.
    _ = try await receiver.busID()
    #expect(receiver.isOpen)
  }

  @Test @LoopActor func `the end of a connection is heard of once, and at once when it is past`()
    async throws
  {
    let follower = try Connection.open(address: world.busAddress)
    defer { follower.close() }
    let (ends, feed) = AsyncStream.makeStream(of: String.self)
    let (other, peer) = (
      try Connection.open(address: world.busAddress), try Connection.open(address: world.busAddress)
    )
    await follower.whenGone(other.uniqueName) { feed.yield("other") }
    await follower.whenGone(peer.uniqueName) { feed.yield("peer") }
    peer.close()
    var iterator = ends.makeAsyncIterator()
    #expect(await iterator.next() == "peer")
    await follower.whenGone(peer.uniqueName) { feed.yield("peer, late") }
    #expect(await iterator.next() == "peer, late")
    other.close()
    #expect(await iterator.next() == "other")
    feed.finish()
    #expect(await iterator.next() == nil)
  }

  @Test @LoopActor func `dbus-send, gdbus and busctl understand an exported object`() async throws {
    let (server, client) = try await echo()
    defer { server.close(); client.close() }
    let world = world
    func other(_ arguments: String...) async throws -> String {
      let done = try await Task.detached { try world.run(arguments) }.value
      #expect(done.status == 0, "\(arguments): \(done.errors)")
      return done.output
    }
    #expect(
      try await other(
        "dbus-send", "--session", "--print-reply=literal", "--dest=org.example.Echo",
        "/org/example/Echo", "org.example.Echo.Echo", "variant:string:hällo"
      ).contains("hällo"))
    #expect(
      try await other(
        "gdbus", "call", "--session", "-d", "org.example.Echo", "-o", "/org/example/Echo", "-m",
        "org.example.Echo.Echo", "<[('a', 1)]>") == "(<[('a', 1)]>,)\n")
    #expect(
      try await other(
        "busctl", "--user", "get-property", "org.example.Echo", "/org/example/Echo",
        "org.example.Echo", "Count") == "u 7\n")
    #expect(
      try await other("busctl", "--user", "tree", "org.example.Echo").contains("/org/example/Echo"))
    let introspection = try await other(
      "gdbus", "introspect", "--session", "-d", "org.example.Echo", "-o", "/org/example/Echo",
      "--xml")
    for part in [
      #"<interface name="org.example.Echo">"#, #"<method name="Echo">"#,
      #"<arg name="value" type="v" direction="in"/>"#,
      #"<property name="Count" type="u" access="read">"#,
      "org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Properties",
      "org.freedesktop.DBus.Introspectable",
    ] {
      #expect(introspection.contains(part))
    }
  }

  @Test @LoopActor func `standard interfaces answer what is not there with their errors`()
    async throws
  {
    let (server, client) = try await echo()
    defer { server.close(); client.close() }
    func failure(
      _ interface: InterfaceName, _ member: MemberName, _ arguments: Value...,
      at path: ObjectPath = "/org/example/Echo"
    ) async -> ErrorName? {
      do throws(BusError) {
        _ = try await client.call(
          MethodCall(
            to: .unique(server.uniqueName), path: path, interface: interface, member: member,
            arguments: arguments))
        return nil
      } catch { return error.remoteName }
    }
    let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    #expect(
      await failure(properties, "Get", .string("org.example.Echo"), .string("No"))
        == .unknownProperty)
    #expect(
      await failure(properties, "Get", .string("org.example.No"), .string("Count"))
        == .unknownInterface)
    #expect(
      await failure(
        properties, "Set", .string("org.example.Echo"), .string("Count"), .variant(.uint32(1)))
        == .propertyReadOnly)
    #expect(await failure(properties, "GetAll", .string("org.example.No")) == .unknownInterface)
    #expect(await failure(properties, "GetAll", .string("")) == nil)
    #expect(await failure("org.example.Echo", "Missing") == .unknownMethod)
    #expect(await failure("org.example.Missing", "Echo") == .unknownInterface)
    #expect(await failure("org.example.Echo", "Echo", at: "/org/example/No") == .unknownObject)
    #expect(await failure("org.freedesktop.DBus.Peer", "Ping", at: "/any") == nil)
  }

  @Test @LoopActor func `a message of sixteen million values is refused and nothing else`()
    async throws
  {
    let (server, client) = try await echo()
    defer { server.close(); client.close() }
    let world = world
    let done = try await Task.detached {
      try world.run([
        "/usr/bin/python3", "-c",
        """
        import dbus
        bus = dbus.SessionBus()
        echo = bus.get_object("org.example.Echo", "/org/example/Echo", introspect=False)
        try:
            echo.Echo(dbus.ByteArray(b"x" * 16_000_000), signature="v", timeout=20)
        except dbus.DBusException as error:
            print(error.get_dbus_name())
        """,
      ])
    }.value
    #expect(done.output == "org.freedesktop.DBus.Error.LimitsExceeded\n", "\(done.errors)")
    #expect(
      try await client.call(call("Echo", .variant(.byte(1)), to: "org.example.Echo"))
        == [.variant(.byte(1))])
  }

  /// A service that owns `org.example.Echo`, and a client of it.
  @LoopActor private func echo() async throws -> (server: Connection, client: Connection) {
    let server = try Connection.open(address: world.busAddress)
    server.export(
      [
        Interface(
          "org.example.Echo",
          methods: [
            Method("Echo", in: [Argument("value", "v")], out: [Argument("value", "v")]) {
              $0.reply($0.arguments)
            },
            Method("Refuse") { $0.fail("org.example.Error.Refused", "not today") },
            Method("Ignore") { _ in },
          ], properties: [Property("Count", "u") { .uint32(7) }])
      ], at: "/org/example/Echo")
    #expect(try await server.requestName("org.example.Echo") == .owned)
    return (server, try Connection.open(address: world.busAddress))
  }
}
