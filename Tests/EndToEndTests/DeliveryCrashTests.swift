import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

extension DeliveryTests {
  /// Many senders, and a daemon that is killed at any moment.
  @Suite struct Crashing {
    @Test(arguments: Kind.allCases)
    func `a thousand links of ten senders into a slow start arrive once, in the order of their ids`(
      kind: Kind
    ) async throws {
      let rig = try await DeliveryTests.rig(kind, ["--gate-at-start"])
      let gate = try rig.gate(of: kind.home)
      var senders: [Connection] = []
      for _ in 1...10 { senders.append(try await DeliveryRig.connect(rig.world.busAddress)) }
      let accepted = try await withThrowingTaskGroup(of: [UInt64].self) { group in
        for (number, sender) in senders.enumerated() {
          let urls = (1...100).map { "\(kind.scheme):x?n=\(number)/\($0)" }
          group.addTask { try await rig.submitAll(urls, on: sender).map { try $0.get() } }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      // Each sender's links have ids in the order in which it sent them.
      #expect(accepted.allSatisfy { $0 == $0.sorted() })
      #expect(accepted.joined().sorted() == Array(1...1000))
      gate.open()
      let notes = try await rig.notes(of: kind.home) { $0.links.count == 1000 }
      #expect(notes.links.map(\.id) == Array(1...1000))
      #expect(Set(notes.links.map(\.n)).count == 1000)
      #expect(notes.starts == 1)
      for sender in senders { await sender.close() }
    }

    /// How often the daemon is killed; `DEEPLINK_TESTS_CRASHES` sets another number.
    static let rounds =
      ProcessInfo.processInfo.environment["DEEPLINK_TESTS_CRASHES"].flatMap(Int.init) ?? 30

    @Test func `whenever the daemon is killed, each link has one outcome and is acted on once`()
      async throws
    {
      let rig = try await DeliveryRig()
      try rig.addWorker()
      try rig.addApp(launch: true)
      var random = SplitMix64(seed: 20_26)
      var counts: [String: Int] = [:]
      var acceptedCount = 0
      for round in 1...Self.rounds {
        let links = (1...20).map { number in
          (
            "\(number % 2 == 0 ? "org.example.worker" : "org.example.app"):x?n=\(round)/\(number)",
            "\(round)/\(number)"
          )
        }
        // From before the first is accepted to after the last is answered.
        let moment = Duration.microseconds(Int64(random.next() % 60_000))
        try await rig.startDaemon()
        let daemon = try await rig.daemon()
        await killLater(daemon, after: moment)
        let accepted = await rig.submitAll(links.map(\.0)) { links[$0].1 }
        await rig.daemonIsGone()
        var replies: [DeliveryRig.Reply] = []
        for (url, request) in links {
          replies.append(try await rig.open(url, request: request))
        }
        for (link, (accepted, reply)) in zip(links, zip(accepted, replies)) {
          counts[reply.outcome, default: 0] += 1
          if case .success(let id) = accepted {
            acceptedCount += 1
            #expect(reply.id == id, "\(link.1) was accepted, and is another link now")
          }
        }
        check(links.map(\.1), replies, rig.notes() + rig.notes(of: "org.example.worker"))
      }
      #expect(counts.values.reduce(0, +) == 20 * Self.rounds)
      #expect(Set(counts.keys).isSubset(of: ["delivered", "interrupted"]), "\(counts)")
      print("\(Self.rounds) crashes: \(counts), accepted before: \(acceptedCount)")
      for pid in Set(rig.notes().map(\.pid)) { kill(pid, SIGTERM) }
    }

    @LoopActor private func killLater(_ pid: pid_t, after delay: Duration) {
      EventLoop.shared.after(delay) { kill(pid, SIGKILL) }
    }

    private func check(_ requests: [String], _ replies: [DeliveryRig.Reply], _ notes: [Note]) {
      let received = Dictionary(grouping: notes.links, by: \.n)
      for (request, reply) in zip(requests, replies) {
        let times = received[request]?.count ?? 0
        #expect(times <= 1, "\(request) was acted on \(times) times")
        if reply.outcome == "delivered" { #expect(times == 1, "\(request) was never acted on") }
      }
      #expect(Set(replies.map(\.id)).count == replies.count)
    }

    @Test func `a link to an app that runs costs one call in and one call out`() async throws {
      let rig = try await DeliveryTests.rig(.activated)
      for _ in 1...2 { try await rig.open("org.example.app:x") }
      let file = rig.world.home.appending(path: "calls")
      let monitor = try rig.world.start([
        "/bin/sh", "-c", #"exec dbus-monitor --session "type='method_call'" > "$HOME/calls""#,
      ])
      try await waitForText("member=NameLost", in: file)
      for _ in 1...10 { try await rig.open("org.example.app:x") }
      _ = try await rig.property("Version")
      try await waitForText("string \"Version\"", in: file)
      monitor.signal(SIGTERM)
      let calls = lines(of: file).filter { $0.hasPrefix("method call") }
      #expect(calls.count { $0.contains("org.deeplinkd.Dispatcher1; member=Open") } == 10)
      #expect(calls.count { $0.contains("org.deeplinkd.Handler1; member=Open") } == 10)
      #expect(calls.count == 21, "\(calls.joined(separator: "\n"))")
    }

    private func waitForText(_ text: String, in file: URL) async throws {
      try await offPool {
        try wait(forChangesOf: file) { lines(of: file).contains { $0.contains(text) } }
      }
    }
  }
}
