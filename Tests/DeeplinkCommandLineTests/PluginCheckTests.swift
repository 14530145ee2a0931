import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// `deeplink plugin check` starts workers in real sandboxes, and names what they missed.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Requirement.program("bwrap", "prlimit", "python3")))
struct PluginCheckTests {
  let person: Person
  let folder: String

  init() throws {
    person = try Person(plugins: [])
    folder = person.root.path + "/work"
  }

  /// What the check says of a plugin with one action and the program that it runs.
  private func check(
    _ action: String, _ program: String, _ arguments: [String] = []
  ) throws -> (status: Int32, found: [JSONValue]) {
    try person.write(
      """
      {"id": "com.example.Work", "name": "W", "schemes": ["com.example.work"],
       "routes": [{"name": "a", "match": "a", "action": {\(action)}}]}
      """, to: "work/plugin.json")
    try person.write(program, to: "work/run")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: folder + "/run")
    let done = try person.run(
      [Person.program, "plugin", "check", "--json", folder] + arguments)
    return (done.status, try done.lines.map { try JSONValue(json5: Array($0.utf8)) })
  }

  private static let answering = """
    #!/usr/bin/python3
    import json, sys, os
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}), flush=True)
        open(os.path.expanduser("~/kept"), "a").write(request["method"])
    """

  @Test func `a worker that answers is no fault, and leaves nothing behind`() throws {
    let (status, found) = try check(#""worker": {"run": ["./run"]}"#, Self.answering)
    #expect(status == 0 && found.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: person.root.path + "/.local"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
        "plugin.json", "run",
      ])
  }

  struct Missed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let action: String
    let program: String
    let reason: String
    var hint: String?
  }

  private static let plain = #""worker": {"run": ["./run"]}"#
  private static func python(_ line: String) -> String { "#!/usr/bin/python3\n\(line)\n" }

  @Test(arguments: [
    Missed(
      testDescription: "a file of the person's", action: plain,
      program: python("import os; open('{root}/secret')"), reason: "No such file",
      hint: #"{"read": ["~/secret"]}"#),
    Missed(
      testDescription: "a file below ~", action: plain,
      program: python("import os; open(os.path.expanduser('~/secret'))"), reason: "'~/secret'",
      hint: #"{"read": ["~/secret"]} shows it that place, "write" lets it change it too; "#
        + "it is there below $DEEPLINK_PERSON_HOME"),
    Missed(
      testDescription: "the network", action: plain,
      program: python("import socket; socket.getaddrinfo('example.invalid', 80)"),
      reason: "gaierror", hint: #"{"network": true}"#),
    Missed(
      testDescription: "the session bus", action: plain,
      program: "#!/bin/sh\nexec dbus-send --session --dest=org.x /x x.y\n",
      reason: "exited with status 1", hint: #"{"session": true}"#),
    Missed(
      testDescription: "a module", action: plain, program: python("import no_such_module"),
      reason: "No module named", hint: "it misses 'no_such_module'"),
    Missed(
      testDescription: "an answer", action: #""worker": {"run": ["./run"], "launchTimeout": 1}"#,
      program: "#!/bin/sh\nexec sleep 60\n", reason: "it did not answer initialize in 1 s"),
    Missed(
      testDescription: "the protocol", action: plain, program: "#!/bin/sh\necho hello; cat\n",
      reason: "it wrote a line that is no JSON object"),
    Missed(
      testDescription: "a worker's program", action: #""worker": {"run": ["./other"]}"#,
      program: "", reason: "there is no program './other' that can be run"),
    Missed(
      testDescription: "a command's program", action: #""command": {"run": ["no-such-program"]}"#,
      program: "", reason: "there is no program 'no-such-program' that can be run"),
    Missed(
      testDescription: "an opening",
      action: #""command": {"run": ["./run"], "sandbox": {"read": ["~/none"]}}"#,
      program: "#!/bin/sh\n", reason: "'~/none', which its sandbox opens, is not there"),
  ])
  func `what a program missed is named`(_ missed: Missed) throws {
    try person.write("s", to: "secret")
    let program = missed.program.replacingOccurrences(of: "{root}", with: person.root.path)
    let (status, found) = try check(missed.action, program)
    #expect(status == 1)
    try #require(found.count == 1)
    #expect(found[0]["severity"] == "error")
    #expect(found[0]["file"]?.string == folder + "/plugin.json")
    #expect(found[0]["path"]?.string?.hasPrefix("$.routes[0].action.") == true)
    #expect(found[0]["reason"]?.string?.contains(missed.reason) == true, "\(found[0])")
    if let hint = missed.hint {
      #expect(found[0]["hint"]?.string?.contains(hint) == true, "\(found[0])")
    } else {
      #expect(found[0]["hint"] == .null)
    }
  }

  @Test func `a worker that reaches more is started when it was added, or when it is asked for`()
    throws
  {
    let program = "#!/bin/sh\ntouch '\(person.root.path)/started'\nexit 1\n"
    let action = #""worker": {"run": ["./run"], "sandbox": "none"}"#
    func wasStarted() -> Bool {
      FileManager.default.fileExists(atPath: person.root.path + "/started")
    }
    let careful = try check(action, program)
    #expect(careful.status == 0 && careful.found.map { $0["severity"] } == ["warning"])
    #expect(careful.found.first?["path"] == "$.routes[0].action.worker")
    #expect(!wasStarted())
    #expect(try check(action, program, ["--start", "no"]).found.isEmpty)
    #expect(!wasStarted())
    #expect(try check(action, program, ["--start", "all"]).status == 1)
    #expect(wasStarted())
    try FileManager.default.removeItem(atPath: person.root.path + "/started")
    try FileManager.default.createDirectory(
      at: person.plugins, withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: folder, toPath: person.plugins.path + "/com.example.Work")
    #expect(try person.deeplink("plugin", "check", "com.example.Work").status == 1)
    #expect(wasStarted())
  }

  @Test func `where no sandbox can be made, check, add and status say so`() throws {
    _ = try check(Self.plain, Self.answering)
    let programs = URL(filePath: Person.program).deletingLastPathComponent().path
    try person.write(
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
      to: "bin/bwrap")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: person.root.path + "/bin/bwrap")
    let path = ["PATH": "\(person.root.path)/bin:\(programs):/usr/bin:/bin"]
    let words = "its sandbox cannot be made: bwrap: No permissions to create new namespace"
    let check = try person.deeplink("plugin", "check", folder, environment: path)
    #expect(check.status == 1 && check.output.contains("$: error: \(words)"))
    let add = try person.deeplink("plugin", "add", "--yes", folder, environment: path)
    #expect(add.errors.contains("the programs of 'com.example.Work' will not start: \(words)"))
    let good = try person.deeplink("plugin", "add", "--yes", folder)
    #expect(!good.errors.contains("sandbox"))
  }
}
