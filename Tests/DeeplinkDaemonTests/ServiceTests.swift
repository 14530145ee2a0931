import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

/// What can be asked of the daemon, over a real bus.
@Suite(.timeLimit(.minutes(2))) struct ServiceTests {
  let desktop: Desktop

  init() throws {
    desktop = try Desktop()
    try addPlugin()
  }

  private func addPlugin(id: String = "org.example.Echo", extra: String = "") throws {
    try desktop.addPlugin(
      id: id,
      manifest: """
        {"id": "\(id)", "name": "Echo", "schemes": ["\(id.lowercased())"],
         "routes": [
           {"name": "say", "match": ":text", "parameters": {"text": {"type": "string"}, "token": {"type": "string"}},
            "action": {"command": {"run": ["printf", "%s", "--", "{text}"]}}, "effect": "view"},
           {"name": "fail", "match": "/fail", "action": {"command": {"run": ["false"]}}, "effect": "view"}
         ]\(extra)}
        """)
  }

  @Test @LoopActor func `the daemon's own scheme answers a ping, and has nothing else`()
    async throws
  {
    let client = try Client(desktop)
    let states = try await client.states()
    _ = try await client.call("Follow")
    let reply = try await client.open("org.deeplinkd:ping?abc")
    #expect(reply.outcome == "delivered" && reply.result["pong"] == .string("abc"))
    for await state in states {
      #expect(state.state == "delivered" && state.id == reply.id)
      #expect(state.facts["result"]?.options?["pong"] == .string("abc"))
      break
    }
    for url in ["org.deeplinkd:", "org.deeplinkd:pong", "org.deeplinkd://ping"] {
      await #expect(throws: BusError.self) { try await client.open(url) }
    }
  }

  @Test @LoopActor func `a plugin that is switched off while the daemon runs takes no links`()
    async throws
  {
    let client = try Client(desktop)
    #expect(try await client.open("org.example.echo:hello").outcome == "delivered")
    let choices = desktop.world.stateHome.appending(path: "deeplinkd/choices")
    try FileManager.default.createDirectory(at: choices, withIntermediateDirectories: true)
    try desktop.world.write(
      #"{"disabled": ["org.example.Echo"]}"#, to: "home/.local/state/deeplinkd/choices/plugins.json"
    )
    _ = try await client.call("Reload")
    await #expect(throws: BusError.self) { try await client.open("org.example.echo:hello") }
  }

  @Test @LoopActor func `Open answers with the outcome and what the action returned`() async throws
  {
    let client = try Client(desktop)
    let good = try await client.open("org.example.echo:hello%20you")
    #expect(good.outcome == "delivered")
    #expect(good.result["exitStatus"] == .int64(0))
    #expect(good.result["output"] == .string("--hello you"))
    let bad = try await client.open("org.example.echo:/fail")
    #expect(bad.outcome == "failed")
    #expect(bad.result["reason"] == .string("exit"))
    #expect(bad.result["message"] == .string("it exited with status 1"))
    #expect(bad.id == good.id + 1)
  }

  @Test @LoopActor func `refusals are errors with the code's name, and no delivery`() async throws {
    let client = try Client(desktop)
    let cases: [(String, ErrorName)] = [
      ("", "org.deeplinkd.Error.Empty"), ("x", "org.deeplinkd.Error.NotAbsolute"),
      ("org.example.echo:a\u{1}b", "org.deeplinkd.Error.ControlCharacter"),
      ("org.example.nobody:x", "org.deeplinkd.Error.SchemeNotRegistered"),
      ("org.example.echo:/no/such", "org.deeplinkd.Error.NoRoute"),
      ("org.example.echo:a?text=b", "org.deeplinkd.Error.Parameter"),
      ("org.example.echo://u:p@h", "org.deeplinkd.Error.Credentials"),
      ("org.example.echo:" + String(repeating: "a", count: 70_000), "org.deeplinkd.Error.TooLong"),
    ]
    for (url, name) in cases {
      await #expect {
        try await client.submit(url)
      } throws: {
        ($0 as? BusError)?.remoteName == name
      }
      #expect(try await client.call("CanOpen", .string(url)) == [.boolean(false)])
    }
    #expect(try await client.property("Pending") == .uint32(0))
    guard case .dictionary(_, _, let statistics)? = try await client.property("Statistics") else {
      return #expect(Bool(false), "no statistics")
    }
    #expect(statistics.contains(.init(.string("refused"), .uint64(UInt64(cases.count)))))
    #expect(!statistics.contains { $0.key == .string("accepted") })
  }

  @Test @LoopActor func `options of a wrong type are named, unknown ones ignored`() async throws {
    let client = try Client(desktop)
    await #expect {
      try await client.submit("org.example.echo:x", ["timeout": .string("5")])
    } throws: {
      guard case .remote(let name, let message)? = $0 as? BusError else { return false }
      return name == .invalidArgs && message == "option 'timeout' takes a value of type u, not s"
    }
    #expect(
      try await client.open("org.example.echo:x", ["colour": .byte(1)]).outcome == "delivered")
  }

  @Test @LoopActor func `the same request twice is one delivery`() async throws {
    let client = try Client(desktop)
    let first = try await client.open("org.example.echo:x", ["request": .string("abc")])
    let second = try await client.open("org.example.echo:x", ["request": .string("abc")])
    #expect(first.id == second.id && second.outcome == "delivered")
    #expect(try await client.submit("org.example.echo:x", ["request": .string("abc")]) == first.id)
    #expect(try await client.submit("org.example.echo:x", ["request": .string("abd")]) != first.id)
  }

  @Test @LoopActor func `the sender is told of each state, and others of none`() async throws {
    let client = try Client(desktop)
    let other = try Client(desktop)
    let states = try await client.states()
    let others = try await other.states()
    let id = try await client.submit("org.example.echo:x")
    var seen: [String] = []
    for await state in states {
      #expect(state.id == id && state.facts["plugin"] == .string("org.example.Echo"))
      seen.append(state.state)
      if state.state == "delivered" { break }
    }
    #expect(seen == ["accepted", "handing-over", "delivered"])
    // The other one hears of its own link first, so nothing of the former came.
    let own = try await other.submit("org.example.echo:y")
    for await state in others {
      #expect(state.id == own)
      break
    }
  }

  @Test @LoopActor func `who follows is told of everybody's links`() async throws {
    let client = try Client(desktop)
    let follower = try Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")
    let id = try await client.open("org.example.echo:x").id
    for await state in states {
      #expect(state.id == id)
      break
    }
  }

  @Test @LoopActor func `history keeps what became of links, and nothing of them`() async throws {
    let client = try Client(desktop)
    _ = try await client.open("org.example.echo:geheim?token=hunter2")
    _ = try await client.open("org.example.echo:/fail")
    _ = try? await client.submit("org.example.echo:/nothing/here")
    let json = try await client.call("History", .options([:]))[0].string ?? ""
    let entries = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    #expect(entries?.map { $0["outcome"] as? String } == ["delivered", "failed", "refused"])
    #expect(entries?.map { $0["reason"] as? String } == [nil, "exit", "no-route"])
    #expect(entries?.map { $0["route"] as? String } == ["say", "fail", nil])
    let file = desktop.world.stateHome.appending(path: "deeplinkd/history.db")
    for path in [file.path, file.path + "-wal"] {
      let bytes = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
      #expect(bytes.range(of: Data("geheim".utf8)) == nil)
      #expect(bytes.range(of: Data("hunter2".utf8)) == nil)
    }
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let one = try await client.call("History", .options(["outcome": .string("failed")]))
    #expect(one[0].string?.contains("\"say\"") == false)
    await #expect(throws: BusError.self) {
      try await client.call("History", .options(["colour": .string("red")]))
    }
  }

  @Test @LoopActor func `with the setting, values that are not sensitive are kept`() async throws {
    try desktop.world.write(
      #"{"history": {"values": true}}"#, to: "home/.config/deeplinkd/settings.json")
    let client = try Client(desktop)
    _ = try await client.open("org.example.echo:shown?token=hunter2")
    let json = try await client.call("History", .options([:]))[0].string ?? ""
    #expect(json.contains(#""parameters":{"text":"shown"}"#))
    #expect(!json.contains("hunter2"))
  }

  @Test @LoopActor func `a history that is switched on while the daemon runs begins then`()
    async throws
  {
    let settings = "home/.config/deeplinkd/settings.json"
    try desktop.world.write(#"{"history": {"enabled": false}}"#, to: settings)
    let client = try Client(desktop)
    _ = try await client.open("org.example.echo:a")
    #expect(try await client.call("History", .options([:])) == [.string("[]")])
    let file = desktop.world.stateHome.appending(path: "deeplinkd/history.db").path
    #expect(!FileManager.default.fileExists(atPath: file))
    var ids: [UInt64] = []
    for isEnabled in [true, false, true] {
      try desktop.world.write(#"{"history": {"enabled": \#(isEnabled)}}"#, to: settings)
      _ = try await client.call("Reload")
      let id = try await client.open("org.example.echo:b").id
      if isEnabled { ids.append(id) }
    }
    let json = try await client.call("History", .options([:]))[0].string ?? ""
    let entries = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    #expect(entries?.map { ($0["id"] as? NSNumber)?.uint64Value } == ids)
  }

  @Test @LoopActor
  func `plugins that come, change and go are noticed, and the last good one serves on`()
    async throws
  {
    let client = try Client(desktop)
    #expect(try await client.property("Schemes")?.strings == ["org.example.echo"])
    try addPlugin(id: "org.example.Other")
    try await waitFor(["org.example.echo", "org.example.other"], client)
    let manifest = "home/.local/share/deeplinkd/plugins/org.example.Other/plugin.json"
    try desktop.world.write("{ broken", to: manifest)
    _ = try await client.call("Reload")
    #expect(try await client.call("CanOpen", .string("org.example.other:x")) == [.boolean(true)])
    try FileManager.default.removeItem(
      at: desktop.world.root.appending(path: manifest).deletingLastPathComponent())
    try await waitFor(["org.example.echo"], client)
  }

  /// Asks until the daemon has these schemes; each answer waits for the daemon's own turn.
  @LoopActor private func waitFor(_ schemes: [String], _ client: Client) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await client.property("Schemes")?.strings != schemes {
      try #require(ContinuousClock.now < deadline, "the schemes never became \(schemes)")
    }
  }

  @Test @LoopActor
  func `a failure that no terminal sees is one notification a minute for a plugin`() async throws {
    let client = try Client(desktop)
    let service = try Client(desktop)
    let (stream, feed) = AsyncStream.makeStream(of: [Value].self)
    service.connection.export(
      [.notifications { feed.yield($0) }], at: "/org/freedesktop/Notifications")
    _ = try await service.connection.requestName("org.freedesktop.Notifications")
    _ = try await client.open("org.example.echo:/fail", ["interactive": .boolean(true)])
    _ = try await client.open("org.example.echo:/fail")
    _ = try await client.open("org.example.echo:/fail")
    _ = try? await client.submit("org.example.nobody:<b>x")
    var notifications = stream.makeAsyncIterator()
    let first = try #require(await notifications.next())
    #expect(first[3] == .string("Echo: a link was not opened"))
    #expect(first[4] == .string("it exited with status 1"))
    // The next one is of no plugin: the second failure of Echo was not shown.
    let second = try #require(await notifications.next())
    #expect(second[3] == .string("A link was not opened"))
    #expect(second[4].string?.contains("org.example.nobody") == true)
  }

  @Test @LoopActor func `a link that waits can be taken back by its sender alone`() async throws {
    try desktop.addPlugin(
      id: "org.example.Slow",
      manifest: """
        {"id": "org.example.Slow", "name": "Slow", "schemes": ["org.example.slow"], "routes": [
          {"name": "all", "match": ":x", "action": {"worker": {"run": ["./worker"], "launchTimeout": 600}}}]}
        """, files: ["worker": "#!/bin/sh\nexec cat > /dev/null\n"])
    let client = try Client(desktop)
    let id = try await client.submit("org.example.slow:x")
    await #expect(throws: BusError.self) { try await Client(desktop).call("Cancel", .uint64(id)) }
    let waiting = Task { @LoopActor in
      try await client.call(
        "Open", .string("org.example.slow:x"), .options(["timeout": .uint32(300_000)]),
        timeout: .seconds(300))
    }
    _ = try await client.call("Cancel", .uint64(id))
    await #expect(throws: BusError.self) { try await client.call("Cancel", .uint64(id)) }
    _ = try await client.call("Cancel", .uint64(id + 1))
    #expect(try await waiting.value[1] == .string("cancelled"))
  }

  @Test @LoopActor func `a link goes to the window that wants it and was active last`() async throws
  {
    try desktop.addPlugin(
      id: "org.example.App",
      manifest: """
        {"id": "org.example.App", "name": "App", "schemes": ["org.example.app"], "routes": [
          {"name": "show", "match": "show", "action": {"handler": {"busName": "org.example.App"}}},
          {"name": "edit", "match": "edit", "action": {"handler": {"busName": "org.example.App"}}}]}
        """)
    let client = try Client(desktop)
    let app = try Client(desktop)
    let called = Paths()
    for path: ObjectPath in ["/org/example/App", "/win/1", "/win/2"] {
      app.connection.export(
        [
          Interface(
            "org.deeplinkd.Handler1",
            methods: [
              Method(
                "Open",
                in: [
                  Argument("id", "t"), Argument("url", "s"), Argument("route", "s"),
                  Argument("parameters", "a{sv}"), Argument("context", "a{sv}"),
                ], out: [Argument("handled", "b"), Argument("result", "a{sv}")]
              ) { call in
                called.last = call.path
                call.reply(.boolean(true), .options([:]))
              }
            ])
        ], at: path)
    }
    await #expect(throws: BusError.self, "the name is not owned yet") {
      try await app.call(
        "RegisterScene", .string("org.example.App"), .objectPath("/win/1"), .strings([]))
    }
    _ = try await app.connection.requestName("org.example.App")
    func target(_ url: String) async throws -> ObjectPath? {
      #expect(try await client.open(url).outcome == "delivered")
      return called.last
    }
    #expect(try await target("org.example.app:show") == "/org/example/App")
    _ = try await app.call(
      "RegisterScene", .string("org.example.App"), .objectPath("/win/1"),
      .strings(["show", "edit"]))
    _ = try await app.call(
      "RegisterScene", .string("org.example.App"), .objectPath("/win/2"), .strings(["show"]))
    #expect(try await target("org.example.app:show") == "/win/2")
    #expect(try await target("org.example.app:edit") == "/win/1")
    _ = try await app.call("ActivateScene", .objectPath("/win/1"))
    #expect(try await target("org.example.app:show") == "/win/1")
    _ = try await app.call("UnregisterScene", .objectPath("/win/1"))
    #expect(try await target("org.example.app:edit") == "/org/example/App")
    await #expect(throws: BusError.self, "another one's window") {
      try await client.call("ActivateScene", .objectPath("/win/2"))
    }
  }

  @Test @LoopActor func `nobody but the bus says who owns a name`() async throws {
    try desktop.addPlugin(
      id: "org.example.App",
      manifest: """
        {"id": "org.example.App", "name": "App", "schemes": ["org.example.app"], "routes": [
          {"name": "show", "match": "show", "action": {"handler": {"busName": "org.example.App"}}}]}
        """)
    let client = try Client(desktop)
    let app = try Client(desktop)
    let thief = try Client(desktop)
    let called = Paths()
    for (connection, path) in [(app.connection, "/app"), (thief.connection, "/thief")] {
      let place = ObjectPath(unchecked: path)
      connection.export(
        [
          Interface(
            "org.deeplinkd.Handler1",
            methods: [
              Method(
                "Open",
                in: [
                  Argument("id", "t"), Argument("url", "s"), Argument("route", "s"),
                  Argument("parameters", "a{sv}"), Argument("context", "a{sv}"),
                ], out: [Argument("handled", "b"), Argument("result", "a{sv}")]
              ) { call in
                called.last = place
                call.reply(.boolean(true), .options([:]))
              }
            ])
        ], at: "/org/example/App")
    }
    _ = try await app.connection.requestName("org.example.App")
    #expect(try await client.open("org.example.app:show").outcome == "delivered")
    let daemon = try #require(try await client.connection.owner(of: "org.deeplinkd.Deeplinkd"))
    for owner in [thief.connection.uniqueName.text, "not a name", ""] {
      var forged = Signal(
        path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged")
      forged.arguments = [.string("org.example.App"), .string(""), .string(owner)]
      try thief.connection.emit(forged, to: .unique(daemon))
      // Answered after the signal, as the bus keeps the order of one sender.
      _ = try await thief.property("Version")
      called.last = nil
      #expect(try await client.open("org.example.app:show").outcome == "delivered")
      #expect(called.last == "/app")
    }
  }

  @Test @LoopActor func `a thousand who wait for a link leave the daemon able to hear`()
    async throws
  {
    try desktop.addPlugin(
      id: "org.example.Slow",
      manifest: """
        {"id": "org.example.Slow", "name": "Slow", "schemes": ["org.example.slow"], "routes": [
          {"name": "all", "match": "*", "action": {"worker": {"run": ["./worker"], "sandbox": "none", "launchTimeout": 600}}}]}
        """, files: ["worker": "#!/bin/sh\nexec cat > /dev/null\n"])
    try desktop.world.write(
      #"{"rates": {"enabled": false}}"#, to: "home/.config/deeplinkd/settings.json")
    let client = try Client(desktop)
    let padding = String(repeating: "x", count: 60_000)
    let waiting = (0..<1000).map { number in
      Task { @LoopActor in
        try? await client.call(
          "Open", .string("org.example.slow:\(number)?\(padding)"),
          .options(["timeout": .uint32(300_000)]), timeout: .seconds(300))
      }
    }
    let again = (0..<200).map { _ in
      Task { @LoopActor in
        try? await client.call(
          "Open", .string("org.example.slow:same"),
          .options(["timeout": .uint32(0), "request": .string("same")]), timeout: .seconds(60))
      }
    }
    for task in again { #expect(await task.value?[1] == .string("pending")) }
    #expect(try await client.property("Pending") == .uint32(1001))
    for id in 1...1001 { _ = try? await client.call("Cancel", .uint64(UInt64(id))) }
    for task in waiting { #expect(await task.value?[1] == .string("cancelled")) }
  }

  @Test @LoopActor func `Explain says what would happen, and nothing happens`() async throws {
    let client = try Client(desktop)
    let json = try await client.call("Explain", .string("org.example.echo:hi"), .options([:]))
    let object = try JSONSerialization.jsonObject(with: Data((json[0].string ?? "").utf8))
    #expect((object as? [String: Any])?["route"] as? String == "say")
    #expect((object as? [String: Any])?["accepted"] as? Bool == true)
    let plugins = try await client.call("ListPlugins")[0].string
    #expect(plugins?.contains(#""id":"org.example.Echo""#) == true)
    #expect(try await client.property("Pending") == .uint32(0))
  }
}

@LoopActor private final class Paths {
  var last: ObjectPath?
}
