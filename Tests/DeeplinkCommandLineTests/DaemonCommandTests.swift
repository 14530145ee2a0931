import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// `deeplink open` and `deeplink status` with the real daemon on a bus of its own.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Requirement.program("dbus-daemon", "bash")))
struct DaemonCommandTests {
  let desktop: Desktop

  init() throws {
    desktop = try Desktop()
    try desktop.addPlugin(Repository.root.appending(path: "data/plugins/com.example.demo"))
  }

  private func deeplink(
    _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> Finished {
    try desktop.world.run([Person.program] + arguments, environment: environment)
  }

  private func json(_ done: Finished) throws -> JSONValue {
    try JSONValue(json5: Array(done.output.utf8))
  }

  @Test func `a link is sent and its outcome told`() throws {
    let done = try deeplink("open", "com.example.demo:greet?name=Ada")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output == "delivered\n" && done.errors == "")
    let answer = try deeplink("open", "--json", "com.example.demo:greet?name=Ada")
    #expect(
      try json(answer) == [
        "id": 2, "outcome": "delivered", "result": ["greeting": "Hello, Ada!"],
      ])
  }

  @Test func `a refused link is status 1, and JSON has its code`() throws {
    let text = try deeplink("open", "com.example.demo:farewell")
    #expect(text.status == 1)
    #expect(text.output == "")
    #expect(text.errors.hasPrefix("deeplink: no route takes the link"))
    let unknown = try deeplink("open", "--json", "com.example.dmeo:greet")
    #expect(unknown.status == 1)
    #expect(try json(unknown)["refusal"]?["code"] == "scheme-not-registered")
    #expect(unknown.errors.contains("\nhint: did you mean 'com.example.demo'?"))
    let bytes = try desktop.world.run([
      "/bin/bash", "-c", #"exec "$0" open "$(printf 'com.example.demo:greet?name=\377')""#,
      Person.program,
    ])
    #expect(bytes.status == 1)
    #expect(bytes.errors.hasPrefix("deeplink: the link is not valid UTF-8\nhint: "))
  }

  @Test func `any other outcome is status 4 with what is known of it`() throws {
    try desktop.addPlugin(
      id: "com.example.broken",
      manifest: """
        {"id": "com.example.broken", "name": "Broken", "schemes": ["com.example.broken"],
         "routes": [{"name": "all", "match": "x", "action": {"worker": {"run": ["./worker"]}}}]}
        """, files: ["worker": "#!/bin/sh\necho 'cannot find my data' >&2\nexit 7\n"])
    let done = try deeplink("open", "com.example.broken:x")
    #expect(done.status == 4)
    #expect(done.output == "failed\n")
    #expect(done.errors.hasPrefix("deeplink: the link was accepted, and came to: failed, launch, "))
    #expect(done.errors.contains("cannot find my data"))
  }

  @Test func `what is not known in time is pending, and no failure`() throws {
    try desktop.addPlugin(
      id: "com.example.slow",
      manifest: """
        {"id": "com.example.slow", "name": "Slow", "schemes": ["com.example.slow"],
         "routes": [{"name": "all", "match": "x", "action": {"worker": {"run": ["./worker"]}}}]}
        """, files: ["worker": "#!/bin/sh\ncat >/dev/null\n"])
    let done = try deeplink("open", "--timeout", "1", "com.example.slow:x")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output == "pending\n" && done.errors == "")
    // Who looks at a terminal sees that something is going on, and nothing of it stays.
    let terminal = try desktop.world.run(
      [
        "script", "--quiet", "--return", "--command",
        "\(Person.program) open --timeout 2 com.example.slow:x", "/dev/null",
      ], environment: ["TERM": "xterm"])
    #expect(terminal.output.hasPrefix("\r\u{1B}[Kwaiting for the app … 1 s"))
    #expect(terminal.output.hasSuffix("\r\u{1B}[Kpending\r\n"))
  }

  @Test func `a link whose daemon dies before the answer is sent again, and arrives once`() throws {
    try desktop.letFirstDaemonDie()
    let done = try deeplink("open", "com.example.demo:greet?name=Again")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output == "delivered\n")
    let received = desktop.home(of: "com.example.demo").appending(path: "received.jsonl")
    #expect(lines(of: received).count == 1)
    #expect(
      FileManager.default.fileExists(
        atPath: desktop.world.home.appending(path: "died-once").path))
  }

  @Test func `status starts nothing, and tells what the daemon has done`() throws {
    let before = try deeplink("status")
    #expect(before.status == 0)
    #expect(before.output == "daemon     not running\nsandboxes  can be made\n")
    #expect(try json(try deeplink("status", "--json"))["running"] == false)
    #expect(try deeplink("open", "com.example.demo:greet").status == 0)
    #expect(try deeplink("open", "com.example.demo:nothing").status == 1)
    let after = try json(try deeplink("status", "--json"))
    #expect(after["running"] == true)
    #expect(after["schemes"] == ["com.example.demo"])
    #expect(after["pending"] == 0)
    #expect(after["statistics"]?["accepted"] == 1)
    #expect(after["statistics"]?["refused"] == 1)
    #expect(try deeplink("status").output.hasPrefix("daemon     running, version "))
  }

  @Test func `the history has what arrived, the oldest first, and can be narrowed`() throws {
    #expect(try deeplink("history").lines == [])
    #expect(try deeplink("open", "com.example.demo:greet?name=Ada").status == 0)
    #expect(try deeplink("open", "com.example.demo:nothing").status == 1)
    let all = try deeplink("history")
    #expect(all.status == 0, "\(all.errors)")
    let rows = all.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    #expect(
      rows.map { $0.dropFirst(2).map(String.init) } == [
        ["delivered", "", "com.example.demo", "greet", "com.example.demo"],
        ["refused", "no-route", "", "", "com.example.demo"],
      ])
    #expect(rows.map { $0[0] } == ["1", "2"])
    #expect(rows.allSatisfy { $0[1].wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/) != nil })
    #expect(!all.output.contains("Ada"))
    #expect(try deeplink("history", "--plugin", "com.example.demo").lines == [all.lines[0]])
    #expect(try deeplink("history", "--outcome=refused").lines == [all.lines[1]])
    #expect(try deeplink("history", "--limit", "1").lines == [all.lines[1]])
    #expect(try deeplink("history", "--scheme", "other").lines == [])
    let json = try deeplink("history", "--json").lines.map { try JSONValue(json5: Array($0.utf8)) }
    #expect(json.map { $0["outcome"] } == ["delivered", "refused"])
  }

  @Test func `whoever follows sees each state of a link, and that the daemon ended`() throws {
    // The first call starts the daemon, so that its process is known.
    #expect(try deeplink("open", "com.example.demo:greet").status == 0)
    let script = try desktop.world.write(
      """
      deeplink=\(Person.program)
      coproc "$deeplink" history --follow --json
      follower=$!
      # A link is sent until the first line shows that the follower is heard.
      until read -r -t 0.2 first <&${COPROC[0]}; do "$deeplink" open com.example.demo:greet >/dev/null; done
      echo "$first"
      while [[ $first != *'"state":"delivered"'* ]]; do
        read -r -t 20 first <&${COPROC[0]} || exit 9
        echo "$first"
      done
      kill $(busctl --user --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus / \
        org.freedesktop.DBus GetConnectionUnixProcessID s org.deeplinkd.Deeplinkd | cut -c3-)
      wait $follower
      echo $?
      """, to: "follow")
    let done = try desktop.world.run(["bash", script.path])
    let states = try done.lines.dropLast().map { line in
      try #require(try JSONValue(json5: Array(line.utf8))["state"]?.string)
    }
    #expect(states.last == "delivered", "\(done.output) \(done.errors)")
    #expect(done.lines.last == "3")
    #expect(done.errors.contains("deeplink: the deep-link daemon went away"))
  }

  @Test func `a link of the history is sent again where all of it was kept`() throws {
    try desktop.addPlugin(
      id: "com.example.secret",
      manifest: """
        {"id": "com.example.secret", "name": "S", "schemes": ["com.example.secret"], "routes": [
          {"name": "in", "match": "in", "parameters": {"code": {}, "page": {}},
           "effect": "view", "action": {"command": {"run": ["true"]}}}]}
        """)
    #expect(try deeplink("open", "com.example.demo:greet?name=Nobody").status == 0)
    let unkept = try deeplink("replay", "1")
    #expect(unkept.status == 1)
    #expect(unkept.errors.contains("the values of its parameters were not kept\nhint: "))
    try desktop.world.write(
      #"{"history": {"values": true}}"#, to: "home/.config/deeplinkd/settings.json")
    #expect(try deeplink("reload").status == 0)
    #expect(try deeplink("open", "com.example.demo:greet?name=Ada%20%26%20B").status == 0)
    #expect(try deeplink("open", "com.example.secret:in?code=c0de&page=2").status == 0)
    #expect(try deeplink("open", "com.example.demo:nothing").status == 1)
    let shown = try deeplink("replay", "--show", "2")
    #expect(shown.output == "com.example.demo:greet?name=Ada%20%26%20B\n", "\(shown.errors)")
    let again = try deeplink("replay", "2", "--json")
    #expect(again.status == 0, "\(again.errors)")
    #expect(try json(again)["result"] == ["greeting": "Hello, Ada & B!"])
    let secret = try deeplink("replay", "3")
    #expect(secret.status == 1 && !secret.errors.contains("c0de"))
    #expect(
      secret.errors.contains(
        "entry 3 cannot be sent again: the history keeps nothing sensitive: it had code"))
    let refused = try deeplink("replay", "4")
    #expect(refused.errors.contains("it was refused, and no route took it"))
    let entries = try deeplink("history", "--json").lines.map {
      try JSONValue(json5: Array($0.utf8))
    }
    #expect(
      entries.map { $0["outcome"] } == [
        "delivered", "delivered", "delivered", "refused", "delivered",
      ])
    #expect(entries[2]["parameters"] == ["page": "2"] && entries[2]["omitted"] == ["code"])
    #expect(entries[4]["parameters"] == entries[1]["parameters"])
    for word in ["6", "0", "x", "99999999999999999999"] {
      let none = try deeplink("replay", word)
      #expect(none.status == 1)
      #expect(none.errors.hasPrefix("deeplink: the history has no entry '\(word)'\nhint: "))
    }
    try FileManager.default.removeItem(
      at: desktop.world.home.appending(path: ".local/share/deeplinkd/plugins/com.example.demo"))
    let gone = try deeplink("replay", "2")
    #expect(gone.errors.contains("there is no plugin 'com.example.demo' with a route 'greet'"))
  }

  @Test func `what was and what comes are not asked for together`() throws {
    let done = try deeplink("history", "--follow", "--plugin", "com.example.demo")
    #expect(done.status == 1)
    #expect(
      done.errors == "deeplink: '--plugin' is for what was, '--follow' for what comes\n")
  }

  @Test func `a daemon that runs knows at once what a command changed`() throws {
    let demo = Repository.root.appending(path: "data/plugins/com.example.demo").path
    let url = "com.example.demo:greet"
    #expect(try desktop.open().status == 0)
    #expect(try deeplink("plugin", "remove", "com.example.demo").status == 0)
    var cases = 0
    for (arguments, status) in [
      (["add", "--yes", demo], Int32(0)), (["disable", "com.example.demo"], 1),
      (["enable", "com.example.demo"], 0), (["remove", "com.example.demo"], 1),
    ] {
      let done = try desktop.world.run(
        [Repository.program("deeplink"), "plugin"] + arguments)
      #expect(done.status == 0, "\(done.errors)")
      #expect(try desktop.open(url).status == status, "\(arguments)")
      cases += 1
    }
    #expect(cases == 4)
  }

  @Test func `reload makes a running daemon look, and starts none`() throws {
    #expect(try deeplink("reload").status == 0)
    #expect(try json(try deeplink("status", "--json"))["running"] == false)
    #expect(try deeplink("open", "com.example.demo:greet").status == 0)
    let done = try deeplink("reload")
    #expect(done.status == 0 && done.output == "" && done.errors == "")
  }

  @Test func `a running daemon knows of a change when the command that made it ends`() throws {
    #expect(try deeplink("open", "com.example.demo:greet").status == 0)
    for _ in 0..<5 {
      #expect(try deeplink("plugin", "disable", "com.example.demo").status == 0)
      #expect(try deeplink("open", "com.example.demo:greet").status == 1)
      #expect(try deeplink("plugin", "enable", "com.example.demo").status == 0)
      #expect(try deeplink("open", "com.example.demo:greet").status == 0)
    }
  }

  @Test func `a daemon that cannot be started is status 3 with a hint`() throws {
    let world = try World()
    let missing = try world.run([Person.program, "open", "x:y"])
    #expect(missing.status == 3)
    #expect(missing.errors.hasSuffix("\nhint: is deeplinkd installed, with its D-Bus service?\n"))
    let failing = try World()
    try failing.write(
      "[D-BUS Service]\nName=org.deeplinkd.Deeplinkd\nExec=/bin/false\n",
      to: "services/org.deeplinkd.Deeplinkd.service")
    try failing.reloadBus()
    let done = try failing.run([Person.program, "open", "x:y"])
    #expect(done.status == 3)
    #expect(done.errors.contains("cannot be reached"), "\(done.errors)")
    #expect(done.errors.contains("\nhint: its own messages say why"), "\(done.errors)")
  }
}
