import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkActions
@testable import DeeplinkDaemon
@testable import DeeplinkRouting

/// The kinds `call`, `open` and `notify`, and what bounds them.
@Suite(.timeLimit(.minutes(2))) struct ActionTests {
  let desktop: Desktop

  init() throws { desktop = try Desktop() }

  private func addPlugin(
    _ routes: String, id: String = "org.example.Act", to desktop: Desktop? = nil
  ) throws {
    try (desktop ?? self.desktop).addPlugin(
      id: id,
      manifest: """
        {"id": "\(id)", "name": "Act", "schemes": ["\(id.lowercased())"], "routes": [\(routes)]}
        """)
  }

  @Test @LoopActor func `a call takes typed arguments and gives back the values`() async throws {
    try addPlugin(
      """
      {"name": "call", "match": "call", "effect": "view",
       "parameters": {"text": {"type": "string"}, "count": {"type": "integer", "default": 1}},
       "action": {"call": {"bus": "session", "busName": "org.example.Service", "path": "/s",
         "interface": "org.example.Service", "member": "Do", "signature": "sxa{sv}as",
         "arguments": ["{text}", "{count}", {"k": true}, ["a", "{text}"]]}}}
      """)
    let service = try Client(desktop)
    let received = Received()
    service.connection.export(
      [
        Interface(
          "org.example.Service",
          methods: [
            Method(
              "Do",
              in: [
                Argument("text", "s"), Argument("count", "x"), Argument("options", "a{sv}"),
                Argument("list", "as"),
              ], out: [Argument("sum", "d"), Argument("path", "o")]
            ) { call in
              received.arguments = call.arguments
              call.reply(.double(1.5), .objectPath("/a"))
            }
          ])
      ], at: "/s")
    _ = try await service.connection.requestName("org.example.Service")
    let client = try Client(desktop)
    let reply = try await client.open(
      "org.example.act:call?text=%22;%20rm%20-rf%20%3Cx%3E&count=-3")
    #expect(reply.outcome == "delivered")
    #expect(
      reply.result["values"] == .array(of: "v", [.variant(.double(1.5)), .variant(.string("/a"))]))
    #expect(
      received.arguments == [
        .string(#""; rm -rf <x>"#), .int64(-3), .options(["k": .boolean(true)]),
        .strings(["a", #""; rm -rf <x>"#]),
      ])
  }

  @Test @LoopActor
  func `a call whose values do not fit its signature fails before the bus sees it`() async throws {
    try addPlugin(
      """
      {"name": "path", "match": "path", "effect": "view", "parameters": {"to": {"type": "string"}},
       "action": {"call": {"bus": "session", "busName": "org.example.Nobody", "path": "/s",
         "interface": "org.example.S", "member": "Do", "signature": "o", "arguments": ["{to}"]}}}
      """)
    let client = try Client(desktop)
    let reply = try await client.open("org.example.act:path?to=not%20a%20path")
    #expect(reply.outcome == "failed" && reply.result["reason"] == .string("error"))
    let other = try await client.open("org.example.act:path?to=/fine")
    #expect(other.outcome == "failed")
    #expect(other.result["message"]?.string?.contains("org.example.Nobody") == true)
  }

  /// A service with a method that answers with so many bytes.
  @LoopActor private func exportLong(_ connection: Connection) {
    connection.export(
      [
        Interface(
          "org.example.Long",
          methods: [
            Method("Say", in: [Argument("size", "x")], out: [Argument("text", "s")]) { call in
              guard case .int64(let size)? = call.arguments.first else { return }
              call.reply(.string(String(repeating: "x", count: Int(size))))
            }
          ]),
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
              guard case .int64(let size)? = call.arguments[3].options?["size"] else { return }
              let text = String(repeating: "x", count: Int(abs(size)))
              if size < 0 { return call.fail("org.example.Error.Long", text) }
              call.reply(.boolean(true), .options(["text": .string(text)]))
            }
          ]),
      ], at: "/org/example/Long")
  }

  private static let longCall = """
    {"name": "call", "match": "call", "effect": "view",
     "parameters": {"size": {"type": "integer"}},
     "action": {"call": {"bus": "BUS", "busName": "org.example.Long", "path": "/org/example/Long",
       "interface": "org.example.Long", "member": "Say", "signature": "x", "arguments": ["{size}"]}}}
    """

  @Test @LoopActor func `a result of more than a mebibyte is a failure, and words are cut`()
    async throws
  {
    try addPlugin(
      Self.longCall.replacing("BUS", with: "session") + """
        , {"name": "open", "match": "open", "parameters": {"size": {"type": "integer"}},
         "action": {"handler": {"busName": "org.example.Long"}}}
        """)
    let service = try Client(desktop)
    exportLong(service.connection)
    _ = try await service.connection.requestName("org.example.Long")
    let client = try Client(desktop)
    for route in ["call", "open"] {
      let good = try await client.open("org.example.act:\(route)?size=1000000")
      #expect(good.outcome == "delivered")
      let bad = try await client.open("org.example.act:\(route)?size=1100000")
      #expect(bad.outcome == "failed" && bad.result["reason"] == .string("limit"))
      #expect(bad.result["message"]?.string?.contains("1 MiB") == true)
    }
    let words = try await client.open("org.example.act:open?size=-5000").result["message"]?.string
    // The daemon's own errors are cut by the bus's module, which this service is made with.
    #expect(words?.hasSuffix("…") == true && words?.count == 1001)
  }

  @Test @LoopActor func `a command's last words are told, however it writes them`() async throws {
    // The second part is written once the first has been read.
    let program = """
      import fcntl, os, struct, sys, termios
      os.write(2, b"reading\\ncannot find ")
      while struct.unpack("i", fcntl.ioctl(2, termios.FIONREAD, bytes(4)))[0]: pass
      os.write(2, b"my data\\n")
      while struct.unpack("i", fcntl.ioctl(2, termios.FIONREAD, bytes(4)))[0]: pass
      os.write(2, b"\\n")
      sys.exit(2)
      """
    try addPlugin(
      """
      {"name": "fail", "match": "fail", "effect": "view", "action": {"command": {
        "run": ["/usr/bin/python3", "fail.py"], "sandbox": "none"}}}
      """)
    let folder = "home/.local/share/deeplinkd/plugins/org.example.Act"
    try desktop.world.write(program, to: "\(folder)/fail.py")
    let reply = try await Client(desktop).open("org.example.act:fail")
    #expect(
      reply.result["message"] == .string("it exited with status 2: cannot find my data"))
  }

  @Test @LoopActor func `a call goes to the system bus where its route says so`() async throws {
    let system = try World()
    let desktop = try Desktop(extra: ["DBUS_SYSTEM_BUS_ADDRESS": system.busAddress])
    try addPlugin(Self.longCall.replacing("BUS", with: "system"), to: desktop)
    let client = try Client(desktop)
    #expect(try await client.open("org.example.act:call?size=3").outcome == "failed")
    let service = try Connection.open(address: system.busAddress)
    exportLong(service)
    _ = try await service.requestName("org.example.Long")
    for size in [3, 4] {
      let reply = try await client.open("org.example.act:call?size=\(size)")
      #expect(reply.outcome == "delivered")
      let text = String(repeating: "x", count: size)
      #expect(reply.result["values"] == .array(of: "v", [.variant(.string(text))]))
    }
    // One connection, which is opened anew only when it has ended.
    let names =
      try await service.call(
        MethodCall(
          to: .wellKnown("org.freedesktop.DBus"), path: "/org/freedesktop/DBus",
          interface: "org.freedesktop.DBus", member: "ListNames"))[0].strings ?? []
    #expect(names.count { $0.hasPrefix(":") } == 2, "\(names)")
  }

  @Test @LoopActor func `a system bus that is not there is a failure that says so`() async throws {
    let desktop = try Desktop(extra: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere/bus"])
    try addPlugin(Self.longCall.replacing("BUS", with: "system"), to: desktop)
    let reply = try await Client(desktop).open("org.example.act:call?size=3")
    #expect(reply.outcome == "failed" && reply.result["reason"] == .string("error"))
    #expect(reply.result["message"] == .string("the system bus cannot be reached"))
  }

  @Test @LoopActor func `a notification shows the link's words as words`() async throws {
    try addPlugin(
      """
      {"name": "tell", "match": "tell", "parameters": {"text": {"type": "string"}},
       "action": {"notify": {"title": "Note: {text}", "body": "{text}"}}}
      """)
    let service = try Client(desktop)
    let received = Received()
    service.connection.export(
      [Interface.notifications { received.arguments = $0 }], at: "/org/freedesktop/Notifications")
    _ = try await service.connection.requestName("org.freedesktop.Notifications")
    let client = try Client(desktop)
    let reply = try await client.open(
      "org.example.act:tell?text=%3Cb%3Ehi%3C/b%3E%20%26%20%E2%80%AEevil")
    #expect(reply.outcome == "delivered")
    #expect(received.arguments[4].string?.hasPrefix("&lt;b&gt;hi&lt;/b&gt; &amp; ") == true)
    #expect(received.arguments[4].string?.contains("\u{202e}") == false)
  }

  @Test @LoopActor func `another URL is opened in its application, and only of allowed schemes`()
    async throws
  {
    try addPlugin(
      """
      {"name": "search", "match": "search", "parameters": {"q": {"type": "string"}},
       "action": {"open": {"url": "org.example.target:found?q={q}"}}},
      {"name": "odd", "match": "odd", "action": {"open": {"url": "gopher://example.com/"}}}
      """)
    try addPlugin(
      """
      {"name": "found", "match": "found", "effect": "view", "parameters": {"q": {"type": "string"}},
       "action": {"command": {"run": ["tee", "-a", "--", "found"], "input": "context", "sandbox": "none"}}}
      """, id: "org.example.Target")
    try desktop.registerHandler(schemes: ["org.example.target"], id: "org.example.Target")
    let client = try Client(desktop)
    let follower = try Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")
    let environment: Value = .dictionary(
      key: "s", value: "s", [.init(.string("DISPLAY"), .string(":99"))])
    let reply = try await client.open(
      "org.example.act:search?q=a%26b%20c", ["environment": environment])
    #expect(reply.outcome == "delivered", "\(reply.result)")
    for await state in states where state.facts["plugin"] == .string("org.example.Target") {
      if state.state == "delivered" {
        #expect(state.facts["result"] == .options([:]), "what it returned is its sender's alone")
        let file = desktop.world.dataHome.appending(
          path: "deeplinkd/plugins/org.example.Target/found")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(#""q":"a&b c""#))
        #expect(text.contains(#""hops":1"#))
        break
      }
      #expect(state.state != "failed" && state.state != "declined")
    }
    let odd = try await client.open("org.example.act:odd")
    #expect(odd.outcome == "failed")
    #expect(odd.result["message"]?.string?.contains("outgoingSchemes") == true)
  }

  @Test @LoopActor func `a link that opens itself is stopped after three hops`() async throws {
    try addPlugin(
      """
      {"name": "again", "match": "again", "action": {"open": {"url": "org.example.act:again"}}}
      """)
    try desktop.registerHandler(schemes: ["org.example.act"], id: "org.example.Act")
    let client = try Client(desktop)
    let follower = try Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")
    let environment: Value = .dictionary(
      key: "s", value: "s", [.init(.string("DISPLAY"), .string(":99"))])
    try await client.submit("org.example.act:again", ["environment": environment])
    var ends = 0
    for await state in states where ["delivered", "failed"].contains(state.state) {
      ends += 1
      // The last one's xdg-open passes on that the handler was refused.
      if ends == 4 { break }
    }
    guard case .dictionary(_, _, let statistics)? = try await client.property("Statistics") else {
      return
    }
    #expect(statistics.contains(.init(.string("accepted"), .uint64(4))))
    #expect(statistics.contains(.init(.string("loop"), .uint64(1))))
  }

  @Test @LoopActor func `a flood is refused, and people at a terminal are not`() async throws {
    try addPlugin(
      """
      {"name": "any", "match": ":x", "effect": "view", "action": {"command": {"run": ["true"], "sandbox": "none"}}}
      """)
    try desktop.world.write(
      #"{"rates": {"burst": 5, "perSecond": 1}}"#, to: "home/.config/deeplinkd/settings.json")
    let client = try Client(desktop)
    // The daemon is there before the flood, which is sent as one.
    _ = try await client.property("Version")
    let flood = (0..<200).map { number in
      Task { @LoopActor () -> ErrorName? in
        do throws(BusError) {
          try await client.submit("org.example.act:\(number)")
          return nil
        } catch { return error.remoteName }
      }
    }
    var refusals = 0
    for task in flood {
      guard let error = await task.value else { continue }
      #expect(error == "org.deeplinkd.Error.RateLimited")
      refusals += 1
    }
    #expect(refusals >= 100)
    #expect(
      try await client.open("org.example.act:me", ["interactive": .boolean(true)]).outcome
        == "delivered")
    #expect(try await client.call("CanOpen", .string("org.example.act:x")) == [.boolean(true)])
  }

  @Test func `tokens come back at their rate, up to the capacity`() {
    var bucket = TokenBucket(capacity: 3, perSecond: 2, now: 0)
    let moments = [0, 0, 0, 0, 0.4, 0.6, 0.6, 100, 100, 100, 100, 50, 100]
    let taken = moments.map { bucket.take(now: $0) }
    // A clock that goes back gives nothing.
    let expected = [
      true, true, true, false, false, true, false, true, true, true, false, false, false,
    ]
    #expect(taken == expected)
  }

  @Test(
    arguments: [
      ("s", #""x""#, "s"), ("u", "7", "u"), ("as", #"["a"]"#, "as"),
      ("a{sv}", #"{"a":1}"#, "a{sv}"),
      ("(sb)", #"["a",true]"#, "(sb)"), ("v", "[1]", "v"), ("aas", "[[],[]]", "aas"),
      ("a{s(xd)}", #"{"a":[1,2.5]}"#, "a{s(xd)}"), ("y", "255", "y"), ("o", #""/a""#, "o"),
      ("u", "-1", nil), ("y", "256", nil), ("s", "1", nil), ("b", "1", nil), ("o", #""a""#, nil),
      ("(s)", "[]", nil), ("as", #""a""#, nil), ("v", "null", nil), ("x", "1.5", nil),
      ("h", "1", nil),
    ] as [(String, String, String?)])
  func `JSON becomes a value of the signature's type, or nothing`(
    signature: String, json: String, expected: String?
  ) throws {
    let types = SignatureType.all(of: try Signature(signature))
    try #require(types.count == 1)
    let value = try? types[0].value(of: try JSONValue(json5: json))
    #expect(value?.signature.text == expected)
    #expect(types[0].signature.text == signature)
  }
}

@LoopActor final class Received {
  var arguments: [Value] = []
}

extension Interface {
  /// A notification service that tells what it is shown.
  @LoopActor static func notifications(_ shown: @escaping @LoopActor ([Value]) -> Void) -> Interface
  {
    Interface(
      "org.freedesktop.Notifications",
      methods: [
        Method(
          "Notify",
          in: [
            Argument("app_name", "s"), Argument("replaces_id", "u"), Argument("app_icon", "s"),
            Argument("summary", "s"), Argument("body", "s"), Argument("actions", "as"),
            Argument("hints", "a{sv}"), Argument("expire_timeout", "i"),
          ], out: [Argument("id", "u")]
        ) { call in
          shown(call.arguments)
          call.reply(.uint32(1))
        }
      ])
  }
}
