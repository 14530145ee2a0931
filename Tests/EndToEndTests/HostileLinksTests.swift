import DeeplinkBus
import DeeplinkTesting
import Foundation
import Testing

/// Links that did harm in other programs, aimed at actions of every kind.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: Requirement.program("python3", "xdg-open", "curl", "bash")))
struct HostileLinksTests {
  /// What a target noted.
  private struct Record: Decodable {
    let kind: String
    let number: Int
    let text: String
    /// Whether it came as exactly one argument, or one typed parameter.
    let exact: Bool
  }

  private let desktop: Desktop
  private let listener: Listener
  private let links: HostileLinks

  init() throws {
    desktop = try Desktop(extra: ["DISPLAY": ":none", "BROWSER": "false"])
    listener = try Listener()
    links = HostileLinks(
      canary: desktop.world.root.appending(path: "canary").path, port: listener.port)
    try install()
  }

  @Test func `the corpus is whole, and a canary and the listener would tell`() throws {
    #expect(links.texts.count == 101 && Set(links.texts).count == 101)
    #expect(links.arriving.count == 2525)
    #expect(links.refused.count == 463)
    // A program that pastes texts into a shell does what they say.
    for text in links.texts where text.hasPrefix("$(") || text.hasPrefix(";") {
      _ = try desktop.world.run(["bash", "-c", "echo \(text)"])
    }
    #expect(FileManager.default.fileExists(atPath: links.canary))
    #expect(listener.wasReached)
  }

  @Test
  func `a hostile value arrives as one argument or one parameter, and does nothing else`()
    async throws
  {
    let daemon = try startDaemon()
    let services = try startServices()
    let follower = try await Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")

    let sent = links.arriving
    let senders = HostileLinks.kinds.map { kind in
      Task { [desktop] in
        let client = try await Client(desktop)
        for link in sent where link.kind == kind {
          let outcome = try await client.open(link.url).outcome
          #expect(outcome == "delivered", "\(link.kind): \(link.text)")
        }
      }
    }
    for sender in senders { try await sender.value }
    let records = try waitForLines(sent.count, in: recordFile).map {
      try JSONDecoder().decode(Record.self, from: Data($0.utf8))
    }
    let arrived = Dictionary(grouping: records, by: \.number)
    #expect(records.count == sent.count && arrived.count == sent.count)
    for link in sent {
      let record = try #require(arrived[link.number]?.first)
      #expect(record.kind == link.kind && record.exact, "\(link.kind): \(link.text)")
      // The same scalars: `==` would take a letter for its decomposition.
      let text = link.kind == "notify" ? Self.shown(link.text) : link.text
      #expect(Array(record.text.utf8) == Array(text.utf8), "\(link.kind): \(link.text)")
    }
    try await expectNothingElse(
      daemon, states, expected: sent.count + sent.filter { $0.kind == "open" }.count)
    withExtendedLifetime(services) {}
  }

  @Test
  func `a link that is turned away reaches no action and is told without its values`()
    async throws
  {
    let daemon = try startDaemon()
    let services = try startServices()
    let follower = try await Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")
    let client = try await Client(desktop)
    for link in links.refused {
      do throws(BusError) {
        let reply = try await client.open(link.url)
        Issue.record("\(link.url.prefix(200)): \(reply.outcome)")
      } catch {
        #expect(
          error.remoteName?.text == "org.deeplinkd.Error.\(link.code)", "\(link.url.prefix(200))")
        #expect(!"\(error)".contains(HostileLinks.secret), "\(link.url.prefix(200))")
      }
    }
    for line in lines(of: recordFile) {
      let record = try JSONDecoder().decode(Record.self, from: Data(line.utf8))
      #expect(record.kind == "told" && !record.text.contains(HostileLinks.secret))
    }
    try await expectNothingElse(daemon, states, expected: 0)
    withExtendedLifetime(services) {}
  }

  // MARK: Consent

  @Test
  func `what a link would change waits for a yes, and without one nothing is changed`()
    throws
  {
    let daemon = try desktop.startDaemon(environment: ["DISPLAY": nil])
    let services = try startServices(answer: "deny")
    var asked: [String] = []
    for (number, text) in links.texts.enumerated() {
      let outcome = try openChange(text, number)
      // What does not fit a notification needs a dialog, and there is no display.
      #expect(["denied", "consent-unavailable"].contains(outcome), "\(text)")
      if outcome == "denied" { asked.append(text) }
    }
    #expect(asked.count >= 30 && asked.count < links.texts.count)
    let questions = try records("asked")
    #expect(questions.count == asked.count)
    for (text, question) in zip(asked, questions) {
      // Nothing of the link adds a line, turns letters round, or is left out.
      let question = question.text.components(separatedBy: "\n")
      #expect(question.count == 5, "\(question)")
      #expect(question.contains { $0.hasPrefix("from: ") })
      #expect(!question.joined().contains { "\u{202E}\u{2066}\u{2028}<>".contains($0) })
      guard text.utf8.allSatisfy({ $0 < 0x80 && !"\"\\".utf8.contains($0) }) else { continue }
      #expect(question.contains { $0.contains(Self.shown(text)) }, "\(text)")
    }
    #expect(try records("change").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: links.canary))
    #expect(!listener.wasReached)
    withExtendedLifetime((daemon, services)) {}
  }

  @Test func `a yes is for this link alone`() throws {
    let daemon = try desktop.startDaemon(environment: ["DISPLAY": nil])
    let services = try startServices(answer: "once")
    for number in 1...3 { #expect(try openChange("$(id)", number) == "delivered") }
    #expect(try records("asked").count == 3)
    let done = try records("change")
    #expect(done.count == 3 && done.allSatisfy { $0.exact && $0.text == "$(id)" })
    withExtendedLifetime((daemon, services)) {}
  }

  @Test
  func `a flood of links that would change something is one question`()
    async throws
  {
    let daemon = try desktop.startDaemon(environment: ["DISPLAY": nil])
    let services = try startServices(answer: "silence")
    let follower = try await Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")
    // It lives on, so that all its links are known to be its own.
    let page = try desktop.world.start(
      ["/usr/bin/python3", "-c", Self.flood], takesLines: true)
    // One is asked and one waits; the others are denied without a word on the screen.
    var denied = 0
    for await state in states where state.state == "denied" {
      denied += 1
      if denied == 48 { break }
    }
    try wait(forChangesOf: recordFile) { ((try? records("asked").count) ?? 0) > 0 }
    #expect(try records("asked").count == 1)
    #expect(try records("change").isEmpty)
    withExtendedLifetime((daemon, services, page)) {}
  }

  private static let flood = """
    import dbus, sys
    daemon = dbus.Interface(
        dbus.SessionBus().get_object("org.deeplinkd.Deeplinkd", "/org/deeplinkd/Deeplinkd"),
        "org.deeplinkd.Dispatcher1")
    for number in range(50):
        daemon.Submit(f"org.example.change:all?text=x&number={number}", {})
    sys.stdin.read()
    """

  /// Sends a link by an interpreter, whose short name leaves room in the question; the outcome.
  private func openChange(_ text: String, _ number: Int) throws -> String {
    let words = try desktop.call(
      "org.example.change:all?text=\(HostileLinks.Form.escaped.write(text))&number=\(number)"
    ).split(separator: " ")
    return words.first.map(String.init) ?? ""
  }

  private func records(_ kind: String) throws -> [Record] {
    try lines(of: recordFile).map { try JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
      .filter { $0.kind == kind }
  }

  // MARK: What must not be

  /// No canary, no byte, no secret, and no delivery but the expected ones; the daemon lives.
  private func expectNothingElse(
    _ daemon: RunningProcess,
    _ states: AsyncStream<(id: UInt64, state: String, facts: [String: Value])>, expected: Int
  ) async throws {
    #expect(!FileManager.default.fileExists(atPath: links.canary))
    #expect(!listener.wasReached)
    let client = try await Client(desktop)
    let last = try await client.submit("org.example.hostile:worker?text=last&number=0&token=x")
    var ended = 0
    for await state in states {
      #expect(!"\(state.facts)".contains(HostileLinks.secret), "\(state.state)")
      guard state.facts["outcome"] != nil || state.state == "delivered" else { continue }
      if state.id == last { break }
      ended += 1
    }
    #expect(ended == expected)
    let history = try await client.call("History", .options([:]))[0].string ?? ""
    #expect(history.contains("worker") && !history.contains(HostileLinks.secret))
    #expect(try desktop.daemonProcess() == daemon.pid)

    daemon.signal(SIGTERM)
    #expect(daemon.waitForEnd() && daemon.finished.status == 0)
    #expect(!daemon.errors.contains(HostileLinks.secret))
    try desktop.expectNothingKept(of: [HostileLinks.secret])
  }

  /// As a notification shows it: no markup, and no marks that turn the direction of letters.
  private static func shown(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\u{202E}", "\u{2066}", "\u{2069}", "\u{2028}":
        "\\u" + String(format: "%04x", scalar.value)
      default: String(scalar)
      }
    }.joined()
  }

  // MARK: Targets

  private var recordFile: URL { desktop.world.root.appending(path: "records.jsonl") }

  private func install() throws {
    let source = Repository.root.appending(path: "Tests/EndToEndTests/Hostile/targets")
    let targets = try desktop.world.write(
      String(contentsOf: source, encoding: .utf8), to: "targets", executable: true
    ).path
    let actions = [
      // Out of their sandbox, where a canary could be reached.
      "command": """
      {"command": {"sandbox": "none", "run": ["\(targets)", "command", "--number={number}",
        "--text={text}", "--", "{text}"]}}
      """,
      "worker": #"{"worker": {"run": ["\#(targets)", "worker"], "sandbox": "none"}}"#,
      "handler": #"{"handler": {"busName": "org.example.Handler"}}"#,
      "application": #"{"application": {"desktopEntry": "org.example.Application"}}"#,
      "exec": #"{"application": {"desktopEntry": "org.example.Exec"}}"#,
      "call": """
      {"call": {"bus": "session", "busName": "org.example.Service", "path": "/s",
        "interface": "org.example.Service", "member": "Do", "signature": "sxas",
        "arguments": ["{text}", "{number}", ["a", "{text}"]]}}
      """,
      "notify": #"{"notify": {"title": "Note {number}", "body": "{text}"}}"#,
      "open": #"{"open": {"url": "org.example.landing:found?text={text}&number={number}"}}"#,
    ]
    let routes = actions.sorted { $0.key < $1.key }.map { kind, action in
      let token =
        ["worker", "handler"].contains(kind) ? #""token": {"type": "string"},"# : ""
      return """
        {"name": "\(kind)", "match": ["\(kind)", "\(kind)/:text", "/\(kind)/:text"],
         "effect": "view", "action": \(action), "parameters": {\(token)
           "text": {"type": "string", "maxLength": 2000, "required": true},
           "number": {"type": "integer", "minimum": 0, "required": true},
           "file": {"type": "string", "format": "relative-path"},
           "link": {"type": "string", "format": "uri", "schemes": ["https"]}}}
        """
    }
    try desktop.addPlugin(
      id: "org.example.Hostile",
      manifest: """
        {"id": "org.example.Hostile", "name": "Target", "schemes": ["org.example.hostile"],
         "routes": [\(routes.joined(separator: ",\n"))]}
        """)
    try desktop.addPlugin(
      id: "org.example.Landing",
      manifest: """
        {"id": "org.example.Landing", "name": "Landing", "schemes": ["org.example.landing"],
         "routes": [{"name": "found", "match": "found",
           "parameters": {"text": {"type": "string"}, "number": {"type": "integer"}},
           "action": {"handler": {"busName": "org.example.Handler"}}}]}
        """)
    // Without a word about its effect: a command is taken to change something.
    try desktop.addPlugin(
      id: "org.example.Change",
      manifest: """
        {"id": "org.example.Change", "name": "Change", "schemes": ["org.example.change"],
         "routes": [{"name": "all", "match": "all",
           "parameters": {"text": {"type": "string"}, "number": {"type": "integer"}},
           "action": {"command": {"sandbox": "none", "run": ["./do", "it", "--", "{text}"]}}}]}
        """)
    try FileManager.default.createSymbolicLink(
      atPath: desktop.world.dataHome.path + "/deeplinkd/plugins/org.example.Change/do",
      withDestinationPath: targets)
    try desktop.registerHandler(schemes: ["org.example.landing"], id: "org.example.Landing")
    for (id, isActivatable) in [("Application", true), ("Exec", false)] {
      try desktop.world.write(
        """
        [Desktop Entry]
        Type=Application
        Name=\(id)
        Exec=\(targets) exec %u
        DBusActivatable=\(isActivatable)

        """, to: "home/.local/share/applications/org.example.\(id).desktop")
    }
    try desktop.world.write(
      #"{"rates": {"enabled": false}, "history": {"values": true}}"#,
      to: "home/.config/deeplinkd/settings.json")
    try desktop.world.write("", to: "records.jsonl")
  }

  /// - Parameter answer: What a person says to questions: the name of a button, or `silence`.
  private func startServices(answer: String = "deny") throws -> RunningProcess {
    let targets = desktop.world.root.appending(path: "targets").path
    let services = try desktop.world.start([targets, "services", answer])
    _ = try services.outputLine(1)
    return services
  }

  private func startDaemon() throws -> RunningProcess { try desktop.startDaemon() }
}

extension Desktop {
  /// As a service manager does, in place of the bus, so that a test has what it writes; returns when
  /// the daemon has its name.
  func startDaemon(environment: [String: String?] = [:]) throws -> RunningProcess {
    let daemon = try world.start([Repository.program("deeplinkd")], environment: environment)
    let waited = try world.run([
      "gdbus", "wait", "--session", "--timeout", "20", Self.busName,
    ])
    guard waited.status == 0 else { throw TestingError("\(waited.errors)\(daemon.errors)") }
    return daemon
  }

  /// No file of the daemon's state holds any of `secrets`; what plugins keep at home is theirs.
  func expectNothingKept(of secrets: [String]) throws {
    let state = world.stateHome.appending(path: "deeplinkd")
    let found = try #require(FileManager.default.subpaths(atPath: state.path))
    let files = found.filter { !$0.hasPrefix("homes") }
    #expect(files.contains("history.db"))
    for file in files {
      guard let data = try? Data(contentsOf: state.appending(path: file)) else { continue }
      for secret in secrets {
        #expect(data.range(of: Data(secret.utf8)) == nil, "\(file)")
      }
    }
  }
}
