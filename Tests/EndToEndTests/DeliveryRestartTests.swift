import DeeplinkBus
import DeeplinkTesting
import Foundation
import Testing

extension DeliveryTests {
  /// The daemon killed, started twice, or left without a bus or a ledger.
  @Suite struct Restarting {
    @Test(arguments: Kind.allCases)
    func `a daemon that is killed after acceptance delivers when it is back`(kind: Kind)
      async throws
    {
      let rig = try await DeliveryTests.rig(kind, ["--gate-at-start"])
      let gate = try rig.gate(of: kind.home)
      let (id, _) = try await rig.submit("\(kind.scheme):x?n=1", request: "first")
      try await rig.killDaemon()
      gate.open(times: 2)
      let reply = try await rig.open("\(kind.scheme):x?n=1", request: "first")
      #expect(reply.id == id && reply.outcome == "delivered")
      #expect(rig.notes(of: kind.home).links.map(\.n) == ["1"])
    }

    @Test(arguments: Kind.allCases)
    func `what was accepted before the daemon was killed goes before what comes after`(kind: Kind)
      async throws
    {
      let rig = try await DeliveryTests.rig(kind, ["--gate-at-start"])
      let gate = try rig.gate(of: kind.home)
      let before = await rig.submitAll((1...20).map { "\(kind.scheme):x?n=\($0)" }) { "r\($0)" }
      try await rig.notes(of: kind.home) { $0.starts == 1 }
      try await rig.killDaemon()
      let after = await rig.submitAll((21...40).map { "\(kind.scheme):x?n=\($0)" })
      gate.open(times: 2)
      let ids = try (before + after).map { try $0.get() }
      #expect(ids == ids.sorted() && Set(ids).count == 40)
      _ = await rig.outcomes(of: Array(ids.suffix(20)))
      for index in 0..<20 {
        let reply = try await rig.open("\(kind.scheme):x", request: "r\(index)")
        #expect(reply.id == ids[index] && reply.outcome == "delivered")
      }
      #expect(rig.notes(of: kind.home).links.map(\.n) == (1...40).map { "\($0)" })
    }

    @Test func `nothing is lost where the ledger's log was folded while links came`() async throws {
      let rig = try await DeliveryTests.rig(.worker, ["--gate-at-start"])
      let gate = try rig.gate(of: "org.example.worker")
      // Two pages each at least, so that the log is folded.
      let padding = String(repeating: "x", count: 4000)
      let replies = await rig.submitAll((1...900).map { "org.example.worker:x?n=\($0)" }) {
        "\($0)\(padding)"
      }
      let ids = try replies.map { try $0.get() }
      try await rig.killDaemon()
      gate.open(times: 2)
      try await rig.startDaemon()
      let notes = try await rig.notes(of: "org.example.worker") { $0.links.count == 900 }
      #expect(notes.links.map(\.id) == ids)
      #expect(notes.links.map(\.n) == (1...900).map { "\($0)" })
    }

    @Test(arguments: Kind.allCases)
    func `a link that was handed over when the daemon was killed is not handed over again`(
      kind: Kind
    ) async throws {
      let rig = try await DeliveryTests.rig(kind)
      let gate = try rig.gate(of: kind.home)
      let (id, _) = try await rig.submit("\(kind.scheme):x?n=1&do=gate", request: "first")
      try await rig.notes(of: kind.home) { $0.links.count == 1 }
      try await rig.killDaemon()
      let reply = try await rig.open("\(kind.scheme):x?n=1&do=gate", request: "first")
      #expect(reply.id == id && reply.outcome == "interrupted")
      gate.open(times: 2)
      #expect(try await rig.open("\(kind.scheme):x?n=2").outcome == "delivered")
      #expect(rig.notes(of: kind.home).links.map(\.n) == ["1", "2"])
    }

    @Test(arguments: Kind.allCases)
    func `so is a link whose answer the daemon had not read yet`(kind: Kind) async throws {
      let rig = try await DeliveryTests.rig(kind)
      let gate = try rig.gate(of: kind.home)
      try await rig.submit("\(kind.scheme):x?n=1&do=gate", request: "first")
      try await rig.notes(of: kind.home) { $0.links.count == 1 }
      kill(try await rig.daemon(), SIGSTOP)
      gate.open()
      try await rig.notes(of: kind.home) { $0.of("answer").count == 1 }
      try await rig.killDaemon()
      let reply = try await rig.open("\(kind.scheme):x?n=1&do=gate", request: "first")
      #expect(reply.outcome == "interrupted")
      #expect(rig.notes(of: kind.home).links.count == 1)
    }

    @Test func `an idempotent link is handed over once more by the next daemon, as attempt 2`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.worker, route: #", "idempotent": true"#)
      let gate = try rig.gate(of: "org.example.worker")
      try await rig.submit("org.example.worker:x?do=gate", request: "first")
      try await rig.notes(of: "org.example.worker") { $0.links.count == 1 }
      try await rig.killDaemon()
      gate.open(times: 2)
      let reply = try await rig.open("org.example.worker:x?do=gate", request: "first")
      #expect(reply.outcome == "delivered")
      #expect(rig.notes(of: "org.example.worker").links.map(\.attempt) == [1, 2])
    }

    /// How many seconds older a link is made while there is no daemon, and what becomes of it.
    @Test(arguments: [(61, "expired", nil), (40, "delivered", nil), (0, "delivered", "token")])
    func `a link that grew old without a daemon expires, and its token before it`(
      age: Int, outcome: String, token: String?
    ) async throws {
      let rig = try await DeliveryTests.rig(.activated, ["--gate-at-start"])
      let gate = try rig.gate()
      try await rig.submit("org.example.app:x", request: "first", token: "token")
      try await rig.killDaemon()
      let aged = try rig.world.run([
        "/usr/bin/python3", "-c",
        """
        import glob, os, sqlite3
        [path] = glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/deeplinkd/*.ledger")
        database = sqlite3.connect(path)
        assert database.execute("UPDATE delivery SET accepted = accepted - \(age)").rowcount == 1
        database.commit()
        """,
      ])
      #expect(aged.status == 0, "\(aged.errors)")
      gate.open(times: 2)
      let reply = try await rig.open("org.example.app:x", request: "first")
      #expect(reply.outcome == outcome)
      #expect(rig.notes().links.map(\.token) == (outcome == "delivered" ? [token] : []))
    }

    @Test func `who sent a link and over how many hops is known to the next daemon`() async throws {
      let rig = try await DeliveryRig(extra: ["DISPLAY": ":99"])
      try rig.addWorker(["--gate-at-start"])
      let worker = "org.example.worker"
      let action = #"{"open": {"url": "org.example.worker:x?n=sent"}}"#
      try rig.add("org.example.sender", action: action)
      try rig.desktop.registerHandler(schemes: [worker])
      let gate = try rig.gate(of: worker)
      // Ends once the one that it sends is accepted.
      #expect(try await rig.open("org.example.sender:x").outcome == "delivered")
      try await rig.submit("\(worker):x?n=direct")
      try await rig.notes(of: worker) { $0.starts == 1 }
      try await rig.killDaemon()
      gate.open(times: 2)
      try await rig.open("\(worker):x?n=after")
      let links = rig.notes(of: worker).links
      #expect(links.map(\.n) == ["sent", "direct", "after"])
      #expect(links.map(\.hops) == [1, 0, 0])
      #expect(links[1].source == links[2].source && links[2].source != "unknown")
    }

    /// The version of a ledger that another daemon left, how it differs, and whether its links count.
    @Test(arguments: [
      (
        1, "ALTER TABLE delivery DROP COLUMN hops; ALTER TABLE delivery DROP COLUMN source;", true
      ),
      (0, "DROP TABLE delivery; CREATE TABLE delivery (id INTEGER PRIMARY KEY);", false),
      (99, "ALTER TABLE delivery RENAME COLUMN url TO links;", false),
    ])
    func `the links of an older daemon are delivered, those of a newer one are left alone`(
      version: Int, change: String, areDelivered: Bool
    ) async throws {
      let rig = try await DeliveryTests.rig(.worker, ["--gate-at-start"])
      let gate = try rig.gate(of: "org.example.worker")
      try await rig.submit("org.example.worker:x?n=1")
      try await rig.killDaemon()
      let changed = try rig.world.run([
        "/usr/bin/python3", "-c",
        """
        import glob, os, sqlite3
        [path] = glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/deeplinkd/*.ledger")
        sqlite3.connect(path).executescript("\(change) PRAGMA user_version=\(version);")
        """,
      ])
      #expect(changed.status == 0, "\(changed.errors)")
      gate.open(times: 2)
      let reply = try await rig.open("org.example.worker:x?n=2")
      #expect(reply.outcome == "delivered")
      #expect(try await rig.property("Durable") == .boolean(true))
      let links = rig.notes(of: "org.example.worker").links
      #expect(links.map(\.n) == (areDelivered ? ["1", "2"] : ["2"]))
      #expect(links.map(\.hops).allSatisfy { $0 == 0 })
    }

    @Test func `of two daemons started at once one serves, and the other ends without a word`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.worker)
      let daemons = try (1...2).map { _ in
        try rig.world.start([Repository.program("deeplinkd")])
      }
      let replies = await rig.submitAll((1...50).map { "org.example.worker:x?n=\($0)" })
      let ids = try replies.map { try $0.get() }
      #expect(await rig.outcomes(of: ids) == Array(repeating: "delivered", count: 50))
      let serving = try await rig.daemon()
      let other = try #require(daemons.first { $0.pid != serving })
      #expect(try await offPool { other.waitForEnd() })
      #expect(other.finished.status == 0)
      #expect(rig.notes(of: "org.example.worker").links.map(\.id) == ids)
      for daemon in daemons { daemon.signal(SIGTERM) }
    }

    @Test func `daemon and worker end with their bus`() async throws {
      let rig = try await DeliveryTests.rig(.worker)
      try await rig.open("org.example.worker:x")
      let worker = rig.notes(of: "org.example.worker")[0].pid
      let daemon = try await rig.daemon()
      rig.world.killBus()
      try await waitForEnd(of: daemon)
      try await waitForEnd(of: worker)
    }

    @Test func `an app that the daemon launched outlives it, in a session of its own`() async throws
    {
      let rig = try await DeliveryTests.rig(.launched)
      #expect(try await rig.open("org.example.app:x?n=1").outcome == "delivered")
      let app = rig.notes()[0].pid
      #expect(getsid(app) == app)
      try await rig.killDaemon()
      #expect(try await rig.open("org.example.app:x?n=2").outcome == "delivered")
      #expect(rig.notes().starts == 1)
      #expect(rig.notes().links.map(\.delivery) == ["launch", "running"])
      kill(app, SIGTERM)
    }

    @Test func `without a place for the ledger links go on, and nothing is promised`() async throws
    {
      let rig = try await DeliveryRig(extra: ["XDG_RUNTIME_DIR": "/dev/null/nowhere"])
      try rig.addWorker()
      #expect(try await rig.property("Durable") == .boolean(false))
      let (id, facts) = try await rig.submit("org.example.worker:x")
      #expect(facts["durable"] == .boolean(false))
      #expect(try await rig.property("Durable") == .boolean(false))
      #expect(await rig.outcomes(of: [id]) == ["delivered"])
    }

    @Test func `whoever starts the daemon by asking hears that links are durable`() async throws {
      let rig = try await DeliveryTests.rig(.worker)
      for _ in 1...5 {
        #expect(try await rig.property("Durable") == .boolean(true))
        try await rig.killDaemon()
      }
    }

    @Test func `a ledger that is none is put aside`() async throws {
      let rig = try await DeliveryTests.rig(.worker)
      #expect(try await rig.submit("org.example.worker:x").facts["durable"] == .boolean(true))
      try await rig.killDaemon()
      let spoiled = try rig.world.run([
        "/bin/sh", "-c",
        """
        cd "$XDG_RUNTIME_DIR/deeplinkd" && rm -f *-wal *-shm && ledger=$(echo *.ledger) &&
          test -f "$ledger" && head -c 9999 /dev/zero | tr '\\0' x > "$ledger"
        """,
      ])
      #expect(spoiled.status == 0, "\(spoiled.errors)")
      #expect(try await rig.open("org.example.worker:x").outcome == "delivered")
      #expect(try await rig.property("Durable") == .boolean(true))
    }

    @Test(.enabled("a small file system is root's to mount", { mayMount() }))
    func `when the ledger's disk is full links go on, and a later daemon repeats none`()
      async throws
    {
      let rig = try await DeliveryTests.rig(.worker)
      let program = Repository.program("deeplinkd")
      try rig.world.write(
        """
        #!/bin/sh
        exec unshare -m sh -c 'mount -t tmpfs -o size=160k none "$XDG_RUNTIME_DIR/deeplinkd" &&
          exec "\(program)"'
        """, to: "small-disk", executable: true)
      try FileManager.default.createDirectory(
        at: rig.world.runtime.appending(path: "deeplinkd"), withIntermediateDirectories: true)
      let daemon = try rig.world.start([rig.world.root.appending(path: "small-disk").path])
      await rig.daemonIsThere()
      let padding = String(repeating: "x", count: 2000)
      let ids = try await rig.submitAll(
        (1...200).map { "org.example.worker:x?n=\($0)&padding=\(padding)" }
      ).map { try $0.get() }
      #expect(await rig.outcomes(of: ids) == Array(repeating: "delivered", count: 200))
      #expect(try await rig.property("Durable") == .boolean(false))
      #expect(rig.notes(of: "org.example.worker").links.map(\.id) == ids)
      // What stood in the ledger is the past, and gone: a later daemon would take it up.
      let folder = "/proc/\(try await rig.daemon())/root\(rig.world.runtime.path)/deeplinkd"
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
      daemon.signal(SIGTERM)
    }

    private static func mayMount() -> Bool {
      Requirement.mayNotSkip
        || (try? run(
          ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"],
          environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]))?.status == 0
    }
  }
}
