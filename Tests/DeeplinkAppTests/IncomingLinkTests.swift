import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Synchronization
import Testing

@testable import DeeplinkApp

/// Links as an app's closures see them, handed over by a daemon that the test plays.
@Suite(.timeLimit(.minutes(2))) struct IncomingLinkTests {
  let world: World

  init() throws { world = try World() }

  @Test(arguments: [DeeplinkApp.Link.Delivery.launch, .running])
  func `the same closure gets the same link, launched or running`(
    _ delivery: DeeplinkApp.Link.Delivery
  ) async throws {
    let app = try world.app()
    let seen = Mutex<DeeplinkApp.Link?>(nil)
    app.onOpenURL("show") { link in seen.withLock { $0 = link } }
    try await app.start()
    let daemon = try await FakeDaemon(world)
    let answer = try await daemon.handOver(
      "show",
      ["album": .string("Vacation é"), "index": .int64(7), "tags": .array(of: "v", [])],
      context: [
        "delivery": .string(delivery.rawValue), "attempt": .uint32(2), "hops": .uint32(1),
        "raw-url": .string("COM.example.photos:Vacation"), "source": .string("unknown"),
        "activation-token": .string("token"), "desktop-startup-id": .string("id"),
      ], id: 42)
    #expect(answer.handled)
    #expect(answer.result.isEmpty)
    let link = try #require(seen.withLock { $0 })
    #expect(link.id == 42)
    #expect(link.url == "com.example.photos:Vacation")
    #expect(link.rawURL == "COM.example.photos:Vacation")
    #expect(link.route == "show")
    #expect(link.parameters == ["album": "Vacation é", "index": 7, "tags": []])
    #expect(link.delivery == delivery)
    #expect(link.attempt == 2)
    #expect(link.hops == 1)
    #expect(link.source == "unknown")
    #expect(link.activationToken == "token")
    #expect(link.startupID == "id")
    app.stop()
  }

  @Test func `parameters are read by their type, and what is wrong is told to the sender`()
    async throws
  {
    let app = try world.app()
    app.answerURL("string") { ["is": .string(try $0.string("it"))] }
    app.answerURL("integer") { ["is": .integer(try $0.integer("it"))] }
    app.answerURL("number") { ["is": .number(try $0.number("it"))] }
    app.answerURL("boolean") { ["is": .boolean(try $0.boolean("it"))] }
    app.answerURL("array") { ["is": .array(try $0.array("it"))] }
    app.answerURL("strings") { ["is": .array(try $0.strings("it").map { .string($0) })] }
    try await app.start()
    let daemon = try await FakeDaemon(world)
    let texts = Value.array(of: "v", [.variant(.string("a")), .variant(.string("b"))])
    let mixed = Value.array(of: "v", [.variant(.string("a")), .variant(.int64(1))])
    // Nil: an error; the value comes back as it went.
    let cases: [(route: String, value: Value?, error: String?)] = [
      ("string", .string("é"), nil), ("integer", .int64(-3), nil), ("number", .double(1.5), nil),
      ("boolean", .boolean(false), nil), ("array", mixed, nil), ("strings", texts, nil),
      ("string", nil, "the link to 'string' has no parameter 'it'"),
      ("string", .int64(1), "the parameter 'it' is a whole number, not text"),
      ("integer", .string("1"), "the parameter 'it' is text, not a whole number"),
      ("integer", .double(1.5), "the parameter 'it' is a number, not a whole number"),
      ("number", .boolean(true), "the parameter 'it' is true or false, not a number"),
      ("boolean", .string(""), "the parameter 'it' is text, not true or false"),
      ("array", .options([:]), "the parameter 'it' is an object, not a list"),
      ("strings", mixed, "the parameter 'it' is a list, not a list of texts"),
    ]
    for (route, value, error) in cases {
      do {
        let answer = try await daemon.handOver(route, value.map { ["it": $0] } ?? [:])
        #expect(error == nil)
        #expect(answer.result["is"] == value)
      } catch let failure as BusError {
        #expect(failure == .remote(name: .failed, message: error ?? ""))
      }
    }
    #expect(try await daemon.handOver("number", ["it": .int64(2)]).result == ["is": .double(2)])
    app.stop()
  }

  @Test func `a route without a closure is declined, and a closure may decline`() async throws {
    let app = try world.app()
    app.onOpenURL("mine") { _ in }
    app.answerURL("no") { _ in .declined }
    try await app.start()
    let daemon = try await FakeDaemon(world)
    #expect(try await daemon.handOver("mine").handled)
    #expect(try await !daemon.handOver("no").handled)
    #expect(try await !daemon.handOver("unknown").handled)
    app.answerURL { link in ["route": .string(link.route)] }
    let answer = try await daemon.handOver("unknown")
    #expect(answer.handled)
    #expect(answer.result == ["route": .string("unknown")])
    app.stop()
  }

  @Test func `a result of every type reaches the sender`() async throws {
    let app = try world.app()
    app.answerURL("all") { _ in
      [
        "text": "é", "count": 3, "part": 0.5, "isNew": true, "list": [1, "two", [false]],
        "object": ["inner": ["deep": 1]],
      ]
    }
    try await app.start()
    let result = try await FakeDaemon(world).handOver("all").result
    #expect(
      result == [
        "text": .string("é"), "count": .int64(3), "part": .double(0.5), "isNew": .boolean(true),
        "list": .array(
          of: "v",
          [
            .variant(.int64(1)), .variant(.string("two")),
            .variant(.array(of: "v", [.variant(.boolean(false))])),
          ]),
        "object": .options(["inner": .options(["deep": .int64(1)])]),
      ])
    app.stop()
  }

  @Test func `closures begin in the order of the links, on the actor that they ask for`()
    async throws
  {
    let app = try world.app()
    let order = Mutex<[String: [String]]>([:])
    app.onOpenURL("anywhere") { link in
      order.withLock { $0["anywhere", default: []].append("\(link.id)") }
      await Task.yield()
    }
    app.onOpenURL("main") { @MainActor link in
      MainActor.assertIsolated()
      order.withLock { $0["main", default: []].append("\(link.id)") }
      await Task.yield()
    }
    try await app.start()
    let daemon = try await FakeDaemon(world)
    // Tasks of one actor begin, and so send, in order.
    let links = (1...200).map { id in
      Task { @LoopActor in
        try await daemon.handOver(id % 2 == 0 ? "main" : "anywhere", id: UInt64(id)).handled
      }
    }
    for link in links { #expect(try await link.value) }
    let numbers = (1...200).map(String.init)
    let seen = order.withLock { $0 }
    #expect(seen["main"] == numbers.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
    #expect(seen["anywhere"] == numbers.enumerated().filter { $0.offset % 2 == 0 }.map(\.element))
    app.stop()
  }

  @Test func `a closure that awaits does not hold up the next link`() async throws {
    let app = try world.app()
    let (signal, continuation) = AsyncStream<Void>.makeStream()
    app.answerURL("first") { _ in
      for await _ in signal { return ["waited": true] }
      return .declined
    }
    app.onOpenURL("second") { _ in
      continuation.finish(); return
    }
    app.onOpenURL("go") { _ in
      continuation.yield()
      return
    }
    try await app.start()
    let daemon = try await FakeDaemon(world)
    async let first = daemon.handOver("first")
    _ = try await daemon.handOver("go")
    #expect(try await first.result == ["waited": .boolean(true)])
    app.stop()
  }

  @Test func `the object is there when the name appears`() async throws {
    let daemon = try await FakeDaemon(world)
    let app = try world.app()
    app.onOpenURL { _ in }
    let (appeared, continuation) = AsyncStream<Void>.makeStream()
    let subscription = try await daemon.connection.subscribe(.owner(of: "com.example.Photos")) {
      _ in continuation.yield()
    }
    async let start: Void = app.start()
    for await _ in appeared { break }
    #expect(try await daemon.handOver().handled)
    try await start
    await subscription.cancel()
    app.stop()
  }

  @Test func `the app's interface is the contract's`() async throws {
    let app = try world.app()
    try await app.start()
    let reply = try await FakeDaemon(world).connection.call(
      MethodCall(
        to: .wellKnown("com.example.Photos"), path: "/com/example/Photos",
        interface: "org.freedesktop.DBus.Introspectable", member: "Introspect"))
    let served = tags(of: reply.first?.string ?? "", interface: "org.deeplinkd.Handler1")
    let contract = try String(
      contentsOf: Repository.root.appending(path: "data/interfaces/org.deeplinkd.Handler1.xml"),
      encoding: .utf8)
    #expect(served == tags(of: contract, interface: "org.deeplinkd.Handler1"))
    #expect(served.count == 9)
    app.stop()
  }

  /// The tags inside one interface's element, each with its attributes sorted.
  private func tags(of xml: String, interface: String) -> [String] {
    guard let start = xml.range(of: "<interface name=\"\(interface)\">"),
      let end = xml.range(of: "</interface>", range: start.upperBound..<xml.endIndex)
    else { return [] }
    return xml[start.upperBound..<end.lowerBound].components(separatedBy: "<").dropFirst()
      .filter { $0.hasPrefix("method") || $0.hasPrefix("arg") || $0.hasPrefix("/method") }
      .map { tag in
        let words = tag.prefix { $0 != ">" && $0 != "/" || tag.hasPrefix("/") && $0 != ">" }
        return words.split(separator: " ").sorted().joined(separator: " ")
      }
  }
}
