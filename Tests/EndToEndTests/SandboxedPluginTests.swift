import DeeplinkTesting
import Foundation
import Testing

/// Plugins in the sandbox of a real daemon.
@Suite(
  .timeLimit(.minutes(3)),
  .enabled(if: Requirement.program("bwrap", "prlimit", "python3")))
struct SandboxedPluginTests {
  private func manifest(_ id: String, _ action: String) -> String {
    """
    {"id": "\(id)", "name": "Boxed", "schemes": ["\(id.lowercased())"],
     "routes": [{"name": "all", "match": "x", "effect": "view", "action": {\(action)}}]}
    """
  }

  @Test func `a program's exit status, last words and limits come through its sandbox`() throws {
    let desktop = try Desktop()
    for (name, run) in [
      ("fail", #"["sh", "-c", "echo 'no data' >&2; exit 7"]"#),
      // It writes its one line in several pieces.
      ("words", #"["ls", "/nothing"]"#),
      ("slow", #"["sleep", "1000"], "timeLimit": 1"#), ("loud", #"["yes"]"#),
      ("gone", #"["sh", "-c", "sleep 1000 & echo done"]"#),
      ("missing", #"["true"], "sandbox": {"read": ["~/nothing"]}"#),
    ] {
      let id = "com.example.\(name)"
      try desktop.addPlugin(id: id, manifest: manifest(id, #""command": {"run": \#(run)}"#))
    }
    #expect(
      try desktop.call("com.example.fail:x")
        == "failed message=it exited with status 7: no data reason=exit")
    #expect(
      try desktop.call("com.example.words:x")
        .contains(": cannot access '/nothing': No such file or directory reason=exit"))
    #expect(try desktop.call("com.example.slow:x").contains("reason=limit"))
    #expect(
      try desktop.call("com.example.loud:x")
        == "failed message=it wrote more than 1048576 bytes reason=limit")
    // What it leaves behind ends with it.
    #expect(try desktop.call("com.example.gone:x") == "delivered exitStatus=0 output=done")
    #expect(
      try desktop.call("com.example.missing:x")
        == "failed message='~/nothing', which its sandbox opens, is not there reason=launch")
  }

  @Test func `a worker that is ended and started again finds what it kept`() throws {
    let desktop = try Desktop()
    try desktop.addPlugin(Repository.root.appending(path: "data/plugins/com.example.demo"))
    let daemon = try startDaemon(desktop)
    #expect(try desktop.open("--wait", "com.example.demo:greet?name=A").status == 0)
    daemon.signal(SIGTERM)
    #expect(daemon.waitForEnd())
    #expect(try desktop.open("--wait", "com.example.demo:greet?name=B").status == 0)
    let kept = lines(of: desktop.home(of: "com.example.demo").appending(path: "received.jsonl"))
    #expect(kept.count == 2)
  }

  @Test func `a daemon that is killed takes its workers with it`() throws {
    let desktop = try Desktop()
    let home = desktop.home(of: "com.example.stays")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let pipe = home.appending(path: "alive").path
    try #require(mkfifo(pipe, 0o600) == 0)
    try desktop.addPlugin(
      id: "com.example.stays",
      manifest: manifest("com.example.stays", #""worker": {"run": ["./worker"]}"#),
      files: [
        "worker": """
        #!/usr/bin/python3
        import json, os, signal, sys
        pipe = open(os.path.expanduser("~/alive"), "w")
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}), flush=True)
        signal.pause()
        """
      ])
    // Its end comes when nobody has the pipe open any more.
    let reader = try desktop.world.start(["cat", pipe])
    let daemon = try startDaemon(desktop)
    let opened = try desktop.open("--wait", "com.example.stays:x")
    #expect(opened.status == 0, "\(opened.errors)")
    #expect(!reader.isFinished)
    daemon.signal(SIGKILL)
    #expect(reader.waitForEnd())
  }

  @Test(arguments: ["worker", "command"])
  func `where no sandbox can be made, nothing is run, and the message says what to do`(
    kind: String
  ) throws {
    let id = "com.example.boxed"
    let refusing = """
      #!/bin/sh
      echo 'bwrap: No permissions to create new namespace' >&2
      exit 1
      """
    for (bubblewrap, words) in [
      (refusing, "bwrap: No permissions to create new namespace"),
      (nil, "there is no program 'bwrap'"),
    ] {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let desktop = try Desktop()
      // The daemon's alone: it needs no other program.
      try FileManager.default.createSymbolicLink(
        atPath: folder.appending(path: "touch").path, withDestinationPath: "/usr/bin/touch")
      if let bubblewrap {
        let file = folder.appending(path: "bwrap")
        try bubblewrap.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      }
      let mark = desktop.world.root.appending(path: "was-run")
      try desktop.addPlugin(
        id: id, manifest: manifest(id, #""\#(kind)": {"run": ["touch", "\#(mark.path)"]}"#))
      let daemon = try startDaemon(desktop, ["PATH": folder.path])
      let outcome = try desktop.call("\(id):x")
      #expect(outcome.hasPrefix("failed message="), "\(outcome)")
      #expect(outcome.contains(words) && outcome.hasSuffix("reason=launch"), "\(outcome)")
      #expect(outcome.contains(#""sandbox": "none""#))
      #expect(!FileManager.default.fileExists(atPath: mark.path))
      daemon.signal(SIGTERM)
      #expect(daemon.waitForEnd())
    }
  }

  private func startDaemon(
    _ desktop: Desktop, _ environment: [String: String?] = [:]
  ) throws -> RunningProcess {
    let daemon = try desktop.world.start(
      [Repository.program("deeplinkd")], environment: environment)
    let waited = try desktop.world.run([
      "gdbus", "wait", "--session", "--timeout", "20", Desktop.busName,
    ])
    guard waited.status == 0 else { throw TestingError("\(waited.errors)\(daemon.errors)") }
    return daemon
  }
}
