import DeeplinkBus
import DeeplinkTesting
import Foundation
import Testing

/// The promises of a delivery, with real daemons, workers and apps.
///
/// One test at a time: each has a dozen processes, and waits for what they do.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DeliveryTests {
  /// The kinds of target.
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case worker, activated, launched
    var testDescription: String { rawValue }
    /// The scheme of its plugin, which is the plugin's id.
    var scheme: String { self == .worker ? "org.example.worker" : "org.example.app" }
    /// Whose home its records are in.
    var home: String? { self == .worker ? scheme : nil }
  }

  static func rig(
    _ kind: Kind, _ arguments: [String] = [], settings: String = "", route: String = "",
    action: String = ""
  ) async throws -> DeliveryRig {
    let rig = try await DeliveryRig(settings: settings)
    switch kind {
    case .worker: try rig.addWorker(arguments, route: route, action: action)
    case .activated: try rig.addApp(arguments, route: route, action: action)
    case .launched: try rig.addApp(arguments, launch: true, route: route, action: action)
    }
    return rig
  }

  // MARK: One launch, in order

  @Suite struct Starting {
    @Test(arguments: Kind.allCases, [1, 2, 100, 1000])
    func `links that arrive while a target starts are one start, and arrive in order`(
      kind: Kind, count: Int
    ) async throws {
      let rig = try await DeliveryTests.rig(kind, ["--gate-at-start"])
      let gate = try rig.gate(of: kind.home)
      let replies = await rig.submitAll((1...count).map { "\(kind.scheme):x?n=\($0)" })
      let ids = try replies.map { try $0.get() }
      #expect(ids == Array(1...UInt64(count)))
      #expect(try await rig.property("Pending") == .uint32(UInt32(count)))
      gate.open()
      #expect(await rig.outcomes(of: ids) == Array(repeating: "delivered", count: count))
      let notes = rig.notes(of: kind.home)
      #expect(notes.starts == 1)
      #expect(notes.links.map(\.id) == ids)
      #expect(notes.links.map(\.n) == (1...count).map { "\($0)" })
      #expect(
        notes.links.map(\.delivery)
          == ["launch"] + Array(repeating: "running", count: count - 1))
    }

    @Test func `a worker that a changed manifest names no more is let go of, and no other`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.worker)
      let id = "org.example.worker"
      try rig.addApp()
      for _ in 1...2 {
        #expect(try await rig.open("\(id):x").outcome == "delivered")
        _ = try await rig.connection.call(rig.dispatcher("Reload"))
      }
      #expect(rig.notes(of: id).starts == 1)
      try rig.addWorker(["--bytewise"])
      _ = try await rig.connection.call(rig.dispatcher("Reload"))
      // It is asked to end with nothing to do, before any link is for the new one.
      try await rig.notes(of: id) { $0.of("end").count == 1 }
      let notes = rig.notes(of: id)
      #expect(notes.starts == 1 && notes.of("shutdown").count == 1)
      #expect(try await rig.open("\(id):x").outcome == "delivered")
      #expect(rig.notes(of: id).links.map(\.delivery) == ["launch", "running", "launch"])
    }

    @Test func `an app that takes its name before it exports its object is waited for`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.activated, ["--late-object"])
      let gate = try rig.gate()
      let ids = try await rig.submitAll(["org.example.app:x?n=1", "org.example.app:x?n=2"]).map {
        try $0.get()
      }
      // The fifth call comes 750 ms after the first, the sixth more than a second and a half.
      try await rig.notes { $0.of("call").count >= 6 }
      gate.open()
      #expect(await rig.outcomes(of: ids) == ["delivered", "delivered"])
      #expect(rig.notes().links.map(\.n) == ["1", "2"])
      #expect(rig.notes().links.map(\.delivery) == ["launch", "running"])
    }

    @Test func `an app without the object has its launch time for it, and is told what it lacks`()
      async throws
    {
      let rig = try await DeliveryTests.rig(
        .activated, ["--late-object"], settings: #""launchTimeout": 0.3"#)
      let gate = try rig.gate()
      let reply = try await rig.open("org.example.app:x")
      #expect(reply.outcome == "failed" && reply.reason == "error", "\(reply)")
      gate.open()
    }

    @Test(arguments: Kind.allCases)
    func `a target that ends before it is ready fails its links with what is known`(kind: Kind)
      async throws
    {
      let rig = try await DeliveryTests.rig(kind, ["--fail-at-start"])
      let reply = try await rig.open("\(kind.scheme):x")
      #expect(reply.outcome == "failed" && reply.reason == "launch")
      #expect(reply.message.contains("status 7"), "\(reply.message)")
      if kind != .activated { #expect(reply.message.contains(": cannot find my data")) }
    }

    @Test(arguments: Kind.allCases)
    func `after three failed starts links fail at once`(kind: Kind) async throws {
      let rig = try await DeliveryTests.rig(kind, ["--fail-at-start"])
      for _ in 1...3 { #expect(try await rig.open("\(kind.scheme):x").reason == "launch") }
      let reply = try await rig.open("\(kind.scheme):x")
      #expect(reply.message == "it failed to start three times in the last minute")
      #expect(rig.notes(of: kind.home).starts == 3)
    }

    @Test(arguments: Kind.allCases)
    func `a target that hangs at its start fails its links in time`(kind: Kind) async throws {
      let rig = try await DeliveryTests.rig(
        kind, ["--hang-at-start"], settings: #""launchTimeout": 0.5"#)
      let reply = try await rig.open("\(kind.scheme):x")
      #expect(reply.outcome == "failed" && reply.reason == "launch")
      #expect(reply.message.contains("0.5 s"), "\(reply.message)")
      for note in try await rig.notes(of: kind.home, until: { $0.starts == 1 }) {
        if kind != .worker { kill(note.pid, SIGKILL) }
        try await waitForEnd(of: note.pid)
      }
    }
  }

  // MARK: A target on its way out

  @Suite struct Ending {
    @Test func `a worker that ends after a link leaves none of the others behind`() async throws {
      let rig = try await DeliveryTests.rig(.worker, ["--bytewise"])
      let urls = (1...40).map { "org.example.worker:x?n=\($0)\($0 % 4 == 0 ? "&do=leave" : "")" }
      let ids = try await rig.submitAll(urls).map { try $0.get() }
      let outcomes = await rig.outcomes(of: ids)
      #expect(outcomes == Array(repeating: "delivered", count: 40))
      let notes = rig.notes(of: "org.example.worker")
      #expect(notes.links.map(\.id) == ids)
      #expect(notes.starts == 10)
      #expect(notes.links.count { $0.delivery == "launch" } == 10)
    }

    @Test func `a link to an app that has taken its object away starts it anew`() async throws {
      let rig = try await DeliveryTests.rig(.activated)
      let gate = try rig.gate()
      #expect(try await rig.open("org.example.app:x?n=1&do=retire").outcome == "delivered")
      let (id, _) = try await rig.submit("org.example.app:x?n=2")
      try await rig.notes { $0.of("call").count == 2 }
      gate.open()
      #expect(await rig.outcomes(of: [id]) == ["delivered"])
      let notes = rig.notes()
      #expect(notes.starts == 2)
      #expect(notes.links.map(\.n) == ["1", "2"])
      #expect(notes.links.map(\.delivery) == ["launch", "launch"])
    }

    @Test func `an error of the app's that is called as one of the bus's is the app's`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.activated)
      let reply = try await rig.open("org.example.app:x?do=passes-on")
      #expect(reply.outcome == "failed" && reply.reason == "error")
      #expect(reply.message == "my database is gone")
      #expect(rig.notes().links.count == 1)
    }

    @Test func `a worker that ends as soon as it is ready is started once more, not for ever`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.worker, ["--exit-when-ready"])
      let reply = try await rig.open("org.example.worker:x")
      #expect(reply.outcome == "failed" && reply.reason == "exit", "\(reply)")
      #expect(rig.notes(of: "org.example.worker").starts == 2)
    }

    @Test func `a worker that closes its input is ended, and the next link starts a new one`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.worker)
      #expect(try await rig.open("org.example.worker:x?do=deaf").outcome == "delivered")
      #expect(try await rig.open("org.example.worker:x").outcome == "delivered")
      let notes = rig.notes(of: "org.example.worker")
      #expect(notes.links.map(\.delivery) == ["launch", "launch"])
      try await waitForEnd(of: notes[0].pid)
    }

    @Test func `a worker that closes its input with links in it is ended for them`() async throws {
      let rig = try await DeliveryTests.rig(.worker, ["--bytewise", "--gate-at-start"])
      let gate = try rig.gate(of: "org.example.worker")
      let ids = try await rig.submitAll(
        (1...5).map { "org.example.worker:x?n=\($0)\($0 == 2 ? "&do=deaf" : "")" }
      ).map { try $0.get() }
      gate.open(times: 2)
      #expect(await rig.outcomes(of: ids) == Array(repeating: "delivered", count: 5))
      #expect(rig.notes(of: "org.example.worker").links.map(\.id) == ids)
      #expect(rig.notes(of: "org.example.worker").starts == 2)
    }

    @Test func `an idle worker is asked to end, and the next link launches`() async throws {
      let rig = try await DeliveryTests.rig(.worker, action: #", "idleTimeout": 0.1"#)
      for round in 1...2 {
        #expect(try await rig.open("org.example.worker:x").outcome == "delivered")
        try await rig.notes(of: "org.example.worker") { $0.of("end").count == round }
      }
      let notes = rig.notes(of: "org.example.worker")
      #expect(notes.of("shutdown").count == 2)
      #expect(notes.links.map(\.delivery) == ["launch", "launch"])
    }
  }

  // MARK: At most once, and slow is not stuck

  @Suite struct Answering {
    @Test(arguments: Kind.allCases)
    func `a target that ends in the middle of a link interrupts it, and is started for the next`(
      kind: Kind
    ) async throws {
      let rig = try await DeliveryTests.rig(kind)
      #expect(try await rig.open("\(kind.scheme):x?n=1").outcome == "delivered")
      #expect(try await rig.open("\(kind.scheme):x?n=2&do=exit").outcome == "interrupted")
      #expect(try await rig.open("\(kind.scheme):x?n=3").outcome == "delivered")
      let notes = rig.notes(of: kind.home)
      #expect(notes.links.map(\.n) == ["1", "2", "3"])
      #expect(notes.links.map(\.delivery) == ["launch", "running", "launch"])
    }

    @Test(arguments: Kind.allCases)
    func `an idempotent route gets the link once more, as attempt 2`(kind: Kind) async throws {
      let rig = try await DeliveryTests.rig(kind, route: #", "idempotent": true"#)
      #expect(try await rig.open("\(kind.scheme):x?do=exit-once").outcome == "delivered")
      #expect(try await rig.open("\(kind.scheme):x?do=exit").outcome == "interrupted")
      let links = rig.notes(of: kind.home).links
      #expect(links.map(\.attempt) == [1, 2, 1, 2])
      #expect(Set(links.prefix(2).map(\.id)).count == 1)
    }

    @Test(arguments: Kind.allCases)
    func `an error is told in the target's words`(kind: Kind) async throws {
      let rig = try await DeliveryTests.rig(kind)
      let reply = try await rig.open("\(kind.scheme):x?do=error")
      #expect(reply.outcome == "failed" && reply.reason == "error")
      #expect(reply.message == "cannot do that")
    }

    @Test func `a worker answers in the order that it likes`() async throws {
      let rig = try await DeliveryTests.rig(.worker)
      let ids = try await rig.submitAll([
        "org.example.worker:x?n=1&do=last", "org.example.worker:x?n=2",
      ]).map { try $0.get() }
      #expect(await rig.outcomes(of: ids) == ["delivered", "delivered"])
    }

    @Test func `an app that does not answer is timed out, and its queue goes on`() async throws {
      let rig = try await DeliveryTests.rig(
        .activated, route: #", "timeout": 0.3"#, action: #", "concurrency": 1"#)
      let ids = try await rig.submitAll([
        "org.example.app:x?n=1&do=hang", "org.example.app:x?n=2",
      ]).map { try $0.get() }
      #expect(await rig.outcomes(of: ids) == ["timed-out", "delivered"])
      #expect(rig.notes().starts == 1)
    }

    @Test func `a worker that does not answer is stopped, and the next link starts it anew`()
      async throws
    {
      let rig = try await DeliveryTests.rig(
        .worker, route: #", "timeout": 0.5"#, action: #", "concurrency": 2"#)
      let gate = try rig.gate(of: "org.example.worker")
      let ids = try await rig.submitAll([
        "org.example.worker:x?n=1&do=hang", "org.example.worker:x?n=2&do=gate",
        "org.example.worker:x?n=3",
      ]).map { try $0.get() }
      #expect(await rig.outcomes(of: ids).prefix(1) == ["timed-out"])
      let outcomes = await rig.outcomes(of: ids)
      // The second may be late itself when the machine is: its limit is the same moment.
      #expect(["interrupted", "timed-out"].contains(outcomes[1]) && outcomes[2] == "delivered")
      let notes = rig.notes(of: "org.example.worker")
      #expect(notes.links.map(\.n) == ["1", "2", "3"])
      #expect(notes.links.map(\.delivery) == ["launch", "running", "launch"])
      try await waitForEnd(of: notes[0].pid)
      gate.open()
    }

    @Test func `a target that hangs holds up no other target`() async throws {
      let rig = try await DeliveryTests.rig(.worker)
      try rig.addWorker(id: "org.example.other")
      try await rig.submit("org.example.worker:x?do=hang")
      #expect(try await rig.open("org.example.other:x").outcome == "delivered")
      #expect(try await rig.property("Pending") == .uint32(1))
    }

    @Test(arguments: ["garbage", "long"])
    func `a worker that writes nonsense is ended, and the next link starts a new one`(what: String)
      async throws
    {
      let rig = try await DeliveryTests.rig(.worker)
      #expect(try await rig.open("org.example.worker:x?do=\(what)").outcome == "interrupted")
      #expect(try await rig.open("org.example.worker:x").outcome == "delivered")
      #expect(rig.notes(of: "org.example.worker").starts == 2)
    }

    @Test func `a no goes to the next route, and the last no is the outcome`() async throws {
      let rig = try await DeliveryRig()
      try rig.addApp(id: "org.example.unused")
      try FileManager.default.createDirectory(
        at: rig.desktop.home(of: "org.example.two"), withIntermediateDirectories: true)
      try rig.add(
        "org.example.two",
        action: #"{"worker": {"run": ["./worker"], "sandbox": "none"}}"#,
        files: ["worker": FaultyTarget.worker],
        moreRoutes: #"""
          , {"name": "special", "match": "special", "additionalParameters": "pass",
             "action": {"handler": {"busName": "org.example.App"}}}
          """#)
      let taken = try await rig.open("org.example.two:special?do=no&n=1")
      // The app says no, and then the worker does.
      #expect(taken.outcome == "declined")
      #expect(rig.notes().links.map(\.id) == [taken.id])
      #expect(rig.notes(of: "org.example.two").links.map(\.id) == [taken.id])
      #expect(try await rig.open("org.example.two:other").outcome == "delivered")
      #expect(rig.notes().links.count == 1)
    }
  }

  // MARK: Bounds

  @Suite struct Bounds {
    @Test func `a full queue is a refusal, of one target and over all`() async throws {
      let rig = try await DeliveryTests.rig(
        .worker, ["--gate-at-start"], settings: #""queue": {"perTarget": 3, "total": 4}"#)
      let gate = try rig.gate(of: "org.example.worker")
      try rig.addWorker(["--hang-at-start"], id: "org.example.other")
      let replies = await rig.submitAll((1...5).map { "org.example.worker:x?n=\($0)" })
      let ids = try replies.prefix(3).map { try $0.get() }
      for refused in replies.dropFirst(3) {
        #expect(throws: BusError.self) { try refused.get() }
        guard case .failure(let error) = refused else { continue }
        #expect(error.remoteName == "org.deeplinkd.Error.QueueFull")
      }
      try await rig.submit("org.example.other:x")
      let full = await rig.submitAll(["org.example.other:x"])
      #expect(throws: BusError.self) { try full[0].get() }
      gate.open()
      #expect(await rig.outcomes(of: ids) == Array(repeating: "delivered", count: 3))
      #expect(rig.notes(of: "org.example.worker").links.count == 3)
    }

    @Test func `a request that is repeated is one delivery`() async throws {
      let rig = try await DeliveryTests.rig(.worker, ["--gate-at-start"])
      let gate = try rig.gate(of: "org.example.worker")
      let url = "org.example.worker:x"
      let first = try await rig.submit(url, request: "same")
      let second = try await rig.submit(url, request: "same")
      async let third = rig.open(url, request: "same")
      gate.open()
      let reply = try await third
      #expect(first.id == second.id && first.id == reply.id && reply.outcome == "delivered")
      let late = try await rig.open(url, request: "same")
      #expect(late.id == first.id && late.outcome == "delivered")
      #expect(rig.notes(of: "org.example.worker").links.count == 1)
    }

    @Test func `the token travels with the link and to the program that it starts`() async throws {
      let rig = try await DeliveryTests.rig(.launched)
      for token in ["token-1", "token-2"] {
        let reply = try await rig.open("org.example.app:x", token: token)
        #expect(reply.outcome == "delivered")
      }
      #expect(rig.notes().of("start").map(\.token) == ["token-1"])
      #expect(rig.notes().links.map(\.token) == ["token-1", "token-2"])
    }
  }
}
