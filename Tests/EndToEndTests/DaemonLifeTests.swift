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

  /// As a service manager does, in place of the bus; returns when the daemon has its name.
  private func startDaemon(_ desktop: Desktop) throws -> RunningProcess {
    let daemon = try desktop.world.start([Repository.program("deeplinkd")])
    let waited = try desktop.world.run([
      "gdbus", "wait", "--session", "--timeout", "20", Desktop.busName,
    ])
    guard waited.status == 0 else { throw TestingError("\(waited.errors)\(daemon.errors)") }
    return daemon
  }
}
