import CDeeplinkLinux
import DeeplinkTesting
import Foundation
import Testing

/// The daemon as a process: how it starts when it is not alone, and how it ends.
@Suite(.timeLimit(.minutes(5))) struct DaemonLifeTests {
  @Test func `of two daemons started at once one serves, and the other ends without an error`()
    throws
  {
    let desktop = try Desktop()
    for round in 1...5 {
      let daemons = try (1...2).map { _ in
        try desktop.world.start([Repository.program("deeplinkd")])
      }
      let ended = try #require(RunningProcess.firstToEnd(of: daemons))
      #expect(ended.finished.status == 0, "round \(round): \(ended.errors)")
      #expect(ended.errors.contains("another deeplinkd serves this session already"))
      let serving = try #require(daemons.first { $0 !== ended })
      #expect(try desktop.daemonProcess() == serving.pid)
      #expect(try desktop.open().status == 0)
      serving.signal(SIGTERM)
      #expect(serving.waitForEnd() && serving.finished.status == 0)
    }
  }

  @Test func `a daemon that has nothing to do has no threads that would wake it`() throws {
    let desktop = try Desktop()
    try desktop.addPlugin(
      id: "com.example.run",
      manifest: """
        {"id": "com.example.run", "name": "Run", "schemes": ["com.example.run"], "routes": [
          {"name": "all", "match": "x", "effect": "view",
           "action": {"command": {"run": ["true"], "sandbox": "none"}}}]}
        """)
    let done = try desktop.world.run([
      Repository.program("deeplink-open"), "--wait", "--", "com.example.run:x",
    ])
    #expect(done.status == 0, "\(done.errors)")
    let history = try desktop.world.run([Repository.program("deeplink"), "history"])
    #expect(history.output.contains("com.example.run"), "\(history.errors)")
    // The pool of the Swift runtime gives its threads names of their own, and never ends them.
    let threads = "/proc/\(try #require(try desktop.daemonProcess()))/task"
    let names = try FileManager.default.contentsOfDirectory(atPath: threads).compactMap {
      try? String(contentsOfFile: "\(threads)/\($0)/comm", encoding: .utf8)
    }
    #expect(!names.isEmpty && names.allSatisfy { $0 == "deeplinkd\n" }, "\(names)")
  }

  /// A worker that has taken a link writes so, and answers once the test has opened the other end
  /// of its pipe.
  private static let slowWorker = """
    #!/usr/bin/python3
    import json, os, sys
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "deliver":
            open(os.path.expanduser("~/taken"), "w").close()
            open(os.path.expanduser("~/gate")).close()
            with open(os.path.expanduser("~/finished"), "a") as file:
                file.write(request["params"]["url"] + "\\n")
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {}}
        print(json.dumps(answer), flush=True)

    """

  @Test(arguments: [SIGTERM, SIGINT])
  func `a daemon that is asked to end lets a link under way come to its end`(signal: Int32) throws {
    let desktop = try Desktop()
    let home = desktop.home(of: "com.example.slow")
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let gate = home.appending(path: "gate")
    guard mkfifo(gate.path, 0o600) == 0 else { throw TestingError("mkfifo failed") }
    try desktop.addPlugin(
      id: "com.example.slow",
      manifest: """
        {"id": "com.example.slow", "name": "Slow", "schemes": ["com.example.slow"],
         "routes": [{"name": "all", "match": "x", "action": {"worker": {"run": ["./worker"]}}}]}
        """, files: ["worker": Self.slowWorker])
    let daemon = try startDaemon(desktop)
    let sender = try desktop.world.start(
      [Repository.program("deeplink-open"), "--wait", "--", "com.example.slow:x"])
    try wait(forChangesOf: home.appending(path: "taken")) {
      FileManager.default.fileExists(atPath: home.appending(path: "taken").path)
    }
    daemon.signal(signal)
    // It goes on serving; by the second answer the signal, which came before, was read.
    for _ in 1...2 {
      let ping = try desktop.world.run([
        "gdbus", "call", "--session", "-d", Desktop.busName, "-o", "/", "-m",
        "org.freedesktop.DBus.Peer.Ping",
      ])
      #expect(ping.status == 0, "\(ping.errors)")
    }
    #expect(try desktop.daemonProcess() == daemon.pid)
    #expect(!sender.isFinished && !daemon.isFinished)
    #expect(lines(of: home.appending(path: "finished")).isEmpty)

    try FileHandle(forWritingTo: gate).close()
    #expect(sender.waitForEnd() && sender.finished.status == 0, "\(sender.errors)")
    #expect(daemon.waitForEnd() && daemon.finished.status == 0, "\(daemon.errors)")
    #expect(lines(of: home.appending(path: "finished")) == ["com.example.slow:x"])
  }

  @Test func `a daemon without links ends at once when it is asked to`() throws {
    let desktop = try Desktop()
    let daemon = try startDaemon(desktop)
    daemon.signal(SIGTERM)
    // Links under way would have 10 s.
    #expect(daemon.waitForEnd(limit: .seconds(5)) && daemon.finished.status == 0)
    #expect(daemon.errors == "")
  }

  @Test func `a daemon ends with its bus`() throws {
    let desktop = try Desktop()
    let daemon = try startDaemon(desktop)
    desktop.world.killBus()
    #expect(daemon.waitForEnd() && daemon.finished.status == 0, "\(daemon.errors)")
    #expect(daemon.errors == "deeplinkd: the session bus has ended\n")
  }

  /// Outside of the sandbox, deaf to SIGTERM, with a child that is so too.
  private static let stubbornCommand = """
    #!/bin/sh
    trap '' TERM
    sleep 300 &
    echo "$$ $!" >> ~/started
    wait

    """

  private func addStubborn(_ desktop: Desktop) throws -> URL {
    let home = desktop.home(of: "com.example.stubborn")
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try desktop.addPlugin(
      id: "com.example.stubborn",
      manifest: """
        {"id": "com.example.stubborn", "name": "Stubborn", "schemes": ["com.example.stubborn"],
         "routes": [{"name": "all", "match": "x", "effect": "view", "idempotent": true,
          "action": {"command": {"run": ["./command"], "sandbox": "none",
            "timeLimit": 300}}}]}
        """, files: ["command": Self.stubbornCommand])
    return home.appending(path: "started")
  }

  /// Opens the link, and gives what tells of the ends of the command and of its child.
  private func startStubborn(
    _ desktop: Desktop, _ started: URL
  ) throws -> (sender: RunningProcess, ends: [Int32]) {
    let sender = try desktop.world.start(
      [Repository.program("deeplink-open"), "--", "com.example.stubborn:x"])
    let line = try waitForLines(1, in: started)[0].split(separator: " ")
    let ends = line.prefix(2).compactMap { pid_t($0) }.map { deeplink_pidfd_open($0) }
    try #require(ends.count == 2 && ends.allSatisfy { $0 >= 0 })
    return (sender, ends)
  }

  @Test func `commands end with a daemon whose bus ends, and its ledger is removed`() throws {
    let desktop = try Desktop()
    let started = try addStubborn(desktop)
    let daemon = try startDaemon(desktop)
    let (_, ends) = try startStubborn(desktop, started)
    defer { for end in ends { close(end) } }
    let ledgers = desktop.world.runtime.appending(path: "deeplinkd").path
    #expect(try !FileManager.default.contentsOfDirectory(atPath: ledgers).isEmpty)
    desktop.world.killBus()
    #expect(daemon.waitForEnd() && daemon.finished.status == 0, "\(daemon.errors)")
    for end in ends { #expect(waitUntilReadable(end, limit: .seconds(5))) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: ledgers) == [])
  }

  @Test
  func `a command that outlasts the daemon's last words ends, and its link is the next one's`()
    throws
  {
    let desktop = try Desktop()
    let started = try addStubborn(desktop)
    let daemon = try startDaemon(desktop)
    let (_, ends) = try startStubborn(desktop, started)
    defer { for end in ends { close(end) } }
    daemon.signal(SIGTERM)
    #expect(daemon.waitForEnd() && daemon.finished.status == 0, "\(daemon.errors)")
    for end in ends { #expect(waitUntilReadable(end, limit: .seconds(5))) }
    // Idempotent: handed over once more, which an outcome would have prevented.
    let next = try startDaemon(desktop)
    #expect(try waitForLines(2, in: started).count == 2)
    desktop.world.killBus()
    #expect(next.waitForEnd())
  }

  @Test func `what became of a link just before the end is in the history`() throws {
    let desktop = try Desktop()
    try desktop.addPlugin(
      id: "com.example.quick",
      manifest: """
        {"id": "com.example.quick", "name": "Quick", "schemes": ["com.example.quick"],
         "routes": [{"name": "all", "match": "x", "effect": "view",
          "action": {"command": {"run": ["true"], "sandbox": "none"}}}]}
        """)
    let daemon = try startDaemon(desktop)
    let sender = try desktop.open("--wait", "--", "com.example.quick:x")
    daemon.signal(SIGTERM)
    #expect(sender.status == 0, "\(sender.errors)")
    #expect(daemon.waitForEnd() && daemon.finished.status == 0, "\(daemon.errors)")
    let history = try desktop.world.run([Repository.program("deeplink"), "history"])
    #expect(history.output.contains("com.example.quick"), "\(history.errors)")
  }

  @Test func `a daemon whose parent ignores the ends of children sees them`() throws {
    let desktop = try Desktop()
    try desktop.addPlugin(
      id: "com.example.quick",
      manifest: """
        {"id": "com.example.quick", "name": "Quick", "schemes": ["com.example.quick"],
         "routes": [{"name": "all", "match": "x", "effect": "view",
          "action": {"command": {"run": ["true"], "sandbox": "none"}}}]}
        """)
    let daemon = try desktop.world.start([
      "/usr/bin/python3", "-c",
      """
      import os, signal, sys
      signal.signal(signal.SIGCHLD, signal.SIG_IGN)
      os.execv(sys.argv[1], sys.argv[1:])
      """, Repository.program("deeplinkd"),
    ])
    try waitForName(desktop, daemon)
    let sender = try desktop.open("--wait", "--", "com.example.quick:x")
    #expect(sender.status == 0, "\(sender.errors)")
  }

  @Test func `the daemon may have more descriptors than it was given, its children may not`() throws
  {
    let desktop = try Desktop()
    try desktop.addPlugin(
      id: "com.example.limit",
      manifest: """
        {"id": "com.example.limit", "name": "Limit", "schemes": ["com.example.limit"],
         "routes": [{"name": "all", "match": "x", "effect": "view",
          "action": {"command": {"run": ["./command"], "sandbox": "none"}}}]}
        """, files: ["command": "#!/bin/sh\nulimit -Sn >> ~/limit\nulimit -Hn >> ~/limit\n"])
    let daemon = try desktop.world.start([
      "/bin/sh", "-c", "ulimit -Sn 400; ulimit -Hn 600; exec \"$0\"",
      Repository.program("deeplinkd"),
    ])
    try waitForName(desktop, daemon)
    let sender = try desktop.open("--wait", "--", "com.example.limit:x")
    #expect(sender.status == 0, "\(sender.errors)")
    #expect(
      lines(of: desktop.home(of: "com.example.limit").appending(path: "limit")) == ["400", "600"])
    let limits = lines(of: URL(filePath: "/proc/\(daemon.pid)/limits"))
    let line = try #require(limits.first { $0.hasPrefix("Max open files") })
    #expect(line.split(separator: " ")[3...4] == ["600", "600"])
  }

  /// As a service manager does, in place of the bus; returns when the daemon has its name.
  private func startDaemon(_ desktop: Desktop) throws -> RunningProcess {
    let daemon = try desktop.world.start([Repository.program("deeplinkd")])
    try waitForName(desktop, daemon)
    return daemon
  }

  private func waitForName(_ desktop: Desktop, _ daemon: RunningProcess) throws {
    let waited = try desktop.world.run([
      "gdbus", "wait", "--session", "--timeout", "20", Desktop.busName,
    ])
    guard waited.status == 0 else { throw TestingError("\(waited.errors)\(daemon.errors)") }
  }
}
