import DeeplinkTesting
import Foundation
import Testing

/// The programs as a shell meets them: exit statuses, messages, and nothing lost.
@Suite(.timeLimit(.minutes(5))) struct HandlerTests {
  let desktop: Desktop
  let received: URL

  init() throws {
    desktop = try Desktop()
    try desktop.addPlugin(Repository.root.appending(path: "data/plugins/com.example.demo"))
    received = desktop.home(of: "com.example.demo").appending(path: "received.jsonl")
  }

  @Test func `the first link launches, the second reaches what runs, with the same parameters`()
    throws
  {
    for _ in 1...2 {
      let done = try desktop.open("--wait", "--", "com.example.demo:greet?name=W%C3%B6rld%20%26")
      #expect(done.status == 0, "\(done.errors)")
      #expect(done.output == "" && done.errors == "")
    }
    let records = try lines(of: received).map(Record.init)
    #expect(records.map(\.delivery) == ["launch", "running"])
    #expect(records.map(\.parameters) == [["name": "Wörld &"], ["name": "Wörld &"]])
    #expect(
      records.map(\.url)
        == Array(repeating: "com.example.demo:greet?name=W%C3%B6rld%20%26", count: 2))
    #expect(Set(records.map(\.pid)).count == 1)
  }

  @Test func `no URL at all, or an empty one, starts the daemon and is no error`() throws {
    for arguments in [[], [""], ["--"], ["--", ""]] {
      let done = try desktop.world.run([Repository.program("deeplink-open")] + arguments)
      #expect(done.status == 0 && done.errors == "", "\(arguments): \(done.errors)")
    }
    #expect(lines(of: received).isEmpty)
  }

  struct ErrorCase: Sendable, CustomTestStringConvertible {
    let id: String
    let arguments: [String]
    let status: Int32
    let expected: String
    var testDescription: String { id }
  }

  @Test(arguments: [
    ErrorCase(
      id: "two URLs", arguments: ["--", "com.example.demo:a", "com.example.demo:b"], status: 1,
      expected: "there can be one URL, and there are two"),
    ErrorCase(
      id: "unknown option", arguments: ["--wiat", "com.example.demo:a"], status: 1,
      expected: "unknown option '--wiat'"),
    ErrorCase(
      id: "bad number", arguments: ["--wait=soon", "com.example.demo:a"], status: 1,
      expected: "--wait takes a number of seconds"),
    ErrorCase(
      id: "unknown scheme", arguments: ["com.example.nobody:x"], status: 1,
      expected: "com.example.nobody"),
    ErrorCase(id: "no scheme", arguments: ["--", "just words"], status: 1, expected: "scheme"),
    ErrorCase(id: "white space", arguments: ["--", " \t "], status: 1, expected: "empty"),
    ErrorCase(
      id: "raw newline", arguments: ["--", "com.example.demo:greet?name=a\nb"], status: 1,
      expected: "control character"),
    ErrorCase(
      id: "70,000 bytes",
      arguments: ["--", "com.example.demo:greet?name=" + String(repeating: "x", count: 70_000)],
      status: 1, expected: "65536"),
    ErrorCase(
      id: "no route", arguments: ["--", "com.example.demo:farewell"], status: 1, expected: "route"),
    ErrorCase(
      id: "parameter", arguments: ["--", "com.example.demo:echo"], status: 1, expected: "text"),
    ErrorCase(
      id: "GIO's words for bad bytes", arguments: ["--", "[Invalid UTF-8]"],
      status: 1, expected: "UTF-8"),
  ])
  func `bad input is told plainly, and the right status given`(_ error: ErrorCase) throws {
    let done = try desktop.world.run([Repository.program("deeplink-open")] + error.arguments)
    #expect(done.status == error.status)
    #expect(done.errors.hasPrefix("deeplink-open: "))
    #expect(done.errors.contains(error.expected), "\(done.errors)")
    #expect(done.output == "")
    #expect(lines(of: received).isEmpty)
  }

  @Test func `bytes that are not UTF-8 are refused before any library sees them`() throws {
    // A shell makes the argument: Swift's strings cannot hold it.
    let done = try desktop.world.run([
      "/bin/sh", "-c", #"exec "$0" -- "$(printf 'com.example.demo:greet?name=\377')""#,
      Repository.program("deeplink-open"),
    ])
    #expect(done.status == 1)
    #expect(done.errors.contains("not valid UTF-8"))
  }

  @Test func `no session bus is status 3 and a plain message`() throws {
    for address in ["unix:path=/nonexistent", "nonsense", ""] {
      let done = try desktop.open(
        "com.example.demo:greet",
        environment: [
          "DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": nil, "DISPLAY": nil,
        ])
      #expect(done.status == 3, "\(address)")
      #expect(done.errors.contains("there is no session bus"), "\(done.errors)")
    }
  }

  @Test(arguments: ["/nonexistent/deeplinkd", "/bin/false"])
  func `a daemon that cannot start is status 3 in the bus's words`(program: String) throws {
    try desktop.world.write(
      "[D-BUS Service]\nName=org.deeplinkd.Deeplinkd\nExec=\(program)\n",
      to: "services/org.deeplinkd.Deeplinkd.service")
    try desktop.world.reloadBus()
    let done = try desktop.open("com.example.demo:greet")
    #expect(done.status == 3)
    #expect(done.errors.contains("cannot be reached"), "\(done.errors)")
  }

  @Test func `a daemon that is not installed is status 3 with a hint`() throws {
    try FileManager.default.removeItem(
      at: desktop.world.services.appending(path: "org.deeplinkd.Deeplinkd.service"))
    try desktop.world.reloadBus()
    let done = try desktop.open("com.example.demo:greet")
    #expect(done.status == 3)
    #expect(done.errors.contains("hint: is deeplinkd installed"), "\(done.errors)")
  }

  @Test func `a daemon that dies before its answer is started again, and the link arrives once`()
    throws
  {
    try desktop.letFirstDaemonDie()
    let done = try desktop.open("--wait", "com.example.demo:greet?name=Again")
    #expect(done.status == 0, "\(done.errors)")
    #expect(lines(of: received).count == 1)
  }

  @Test func `an outcome other than delivered is status 4 with waiting, and 0 without`() throws {
    try desktop.addPlugin(
      id: "com.example.broken",
      manifest: """
        {"id": "com.example.broken", "name": "Broken", "schemes": ["com.example.broken"],
         "routes": [{"name": "all", "match": "x", "action": {"worker": {"run": ["./worker"]}}}]}
        """, files: ["worker": "#!/bin/sh\necho 'cannot find my data' >&2\nexit 7\n"])
    let waited = try desktop.open("--wait", "com.example.broken:x")
    #expect(waited.status == 4)
    #expect(waited.errors.contains("failed"))
    #expect(try desktop.open("com.example.broken:x").status == 0)
    let reply = try desktop.world.run([
      "gdbus", "call", "--session", "-d", "org.deeplinkd.Deeplinkd", "-o",
      "/org/deeplinkd/Deeplinkd", "-m", "org.deeplinkd.Dispatcher1.Open", "com.example.broken:x",
      "{}",
    ])
    #expect(reply.output.contains("'failed'"))
    #expect(reply.output.contains("status 7"))
    #expect(reply.output.contains("cannot find my data"))
  }
}
