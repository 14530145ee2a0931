import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

/// Consent as a person meets it: a real daemon that asks on a real bus.
@Suite(.timeLimit(.minutes(3))) struct ConsentServiceTests {
  private static let plugin = """
    {"id": "org.example.Echo", "name": "E", "schemes": ["org.example.echo"], "routes": [
      {"name": "do", "match": ":text", "action": {"command": {"run": ["printf", "_{text}"]}}},
      {"name": "see", "match": "//see", "effect": "view", "action": {"command": {"run": ["true"]}}},
      {"name": "wipe", "match": "//wipe", "effect": "change", "confirm": "always",
       "action": {"command": {"run": ["true"]}}},
      {"name": "token", "match": "//token", "effect": "change",
       "action": {"command": {"run": ["cat"], "input": "context", "sandbox": "none"}}}]}
    """

  init() { EventLoop.shared.startThread() }

  private func desktop(
    settings: String = "{}", extra: [String: String] = [:], plugin: String = plugin
  ) throws -> Desktop {
    let desktop = try Desktop(extra: extra)
    try desktop.addPlugin(id: "org.example.Echo", manifest: plugin)
    try desktop.world.write(settings, to: "home/.config/deeplinkd/settings.json")
    return desktop
  }

  /// Opens a link while the test answers the question.
  @LoopActor private func opening(
    _ url: String, _ client: Client
  ) -> Task<String, any Error> {
    Task { @LoopActor in try await client.open(url).outcome }
  }

  @Test @LoopActor func `a notification asks, and its buttons are obeyed`() async throws {
    let desktop = try desktop()
    let person = try await FakeNotifications(desktop)
    let client = try Client(desktop)
    let states = try await client.states()
    let once = opening("org.example.echo:hi%20you", client)
    let first = try #require(await person.next())
    #expect(first.title == "E: allow this link?")
    #expect(first.body.hasPrefix("runs: printf \"_hi you\"\nfrom: "))
    #expect(first.body.contains("\ntext: \"hi you\""))
    #expect(first.actions == ["once", "Allow once", "always", "Always", "deny", "Deny"])
    // Links that need no consent go on meanwhile.
    #expect(try await client.open("org.example.echo://see").outcome == "delivered")
    // Whoever is not the service has no say.
    for key in ["once", "always"] {
      try client.connection.emit(
        Signal(
          path: "/org/freedesktop/Notifications", interface: "org.freedesktop.Notifications",
          member: "ActionInvoked", arguments: [.uint32(first.id), .string(key)]),
        to: .wellKnown("org.deeplinkd.Deeplinkd"))
    }
    #expect(try await client.property("Pending") == .uint32(1))
    try person.press("once", on: first)
    #expect(try await once.value == "delivered")
    var seen: [String] = []
    for await state in states where state.facts["route"] == .string("do") {
      seen.append(state.state)
      if state.state == "delivered" { break }
    }
    #expect(seen == ["accepted", "asking", "handing-over", "delivered"])
    #expect(person.closed == [first.id])
    // Once was once.
    let again = opening("org.example.echo:hi%20you", client)
    try person.press("deny", on: try #require(await person.next()))
    #expect(try await again.value == "denied")
    let dismissed = opening("org.example.echo:hi", client)
    try person.close(try #require(await person.next()), reason: 2)
    #expect(try await dismissed.value == "denied")
  }

  @Test @LoopActor func `an answer for good holds over a restart, until it is taken back`()
    async throws
  {
    let desktop = try desktop()
    let person = try await FakeNotifications(desktop)
    let client = try Client(desktop)
    let first = opening("org.example.echo:a", client)
    try person.press("always", on: try #require(await person.next()))
    #expect(try await first.value == "delivered")
    #expect(try await client.open("org.example.echo:b").outcome == "delivered")
    kill(try #require(try desktop.daemonProcess()), SIGKILL)
    #expect(try await openAfterDeath("org.example.echo:c", client) == "delivered")
    let file = desktop.world.stateHome.appending(path: "deeplinkd/grants.json")
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let list = try desktop.world.run([Repository.program("deeplink"), "grants", "list"])
    #expect(list.output.hasPrefix("org.example.Echo\tdo\texecutable:/"), "\(list.errors)")
    #expect(list.output.contains("\tgranted\t"))
    let revoked = try desktop.world.run(
      [Repository.program("deeplink"), "grants", "revoke", "org.example.Echo/do"])
    #expect(revoked.status == 0, "\(revoked.errors)")
    let asked = opening("org.example.echo:d", client)
    try person.press("always", on: try #require(await person.next()))
    #expect(try await asked.value == "delivered")
    // A manifest that changes what the route does is asked about again.
    try desktop.addPlugin(
      id: "org.example.Echo",
      manifest: Self.plugin.replacingOccurrences(of: "_{text}", with: "-{text}"))
    _ = try await client.call("Reload")
    let changed = opening("org.example.echo:e", client)
    try person.press("deny", on: try #require(await person.next()))
    #expect(try await changed.value == "denied")
  }

  /// The bus may not know yet that the daemon is gone: then the call fails, and is made again.
  @LoopActor private func openAfterDeath(_ url: String, _ client: Client) async throws -> String {
    do { return try await client.open(url, ["request": .string(url)]).outcome } catch {
      return try await client.open(url, ["request": .string(url)]).outcome
    }
  }

  @Test @LoopActor func `a question that was open when the daemon died is asked again`()
    async throws
  {
    let desktop = try desktop()
    let person = try await FakeNotifications(desktop)
    let client = try Client(desktop)
    let request: [String: Value] = ["request": .string("r")]
    let id = try await client.submit("org.example.echo:a", request)
    let first = try #require(await person.next())
    kill(try #require(try desktop.daemonProcess()), SIGKILL)
    let waiting = Task { @LoopActor in
      do { return try await client.open("org.example.echo:a", request) } catch {
        return try await client.open("org.example.echo:a", request)
      }
    }
    let again = try #require(await person.next())
    try person.press("once", on: again)
    let reply = try await waiting.value
    #expect(reply.id == id && reply.outcome == "delivered")
    // Who sent it was found out in the first life.
    #expect(again.body == first.body && !again.body.contains("from: unknown"))
  }

  @Test @LoopActor func `a route that asks always is never allowed for good`() async throws {
    let desktop = try desktop()
    let person = try await FakeNotifications(desktop)
    let client = try Client(desktop)
    for _ in 0..<2 {
      let wipe = opening("org.example.echo://wipe", client)
      let shown = try #require(await person.next())
      #expect(shown.actions == ["once", "Allow once", "deny", "Deny"])
      try person.press("once", on: shown)
      #expect(try await wipe.value == "delivered")
    }
  }

  @Test @LoopActor func `the token of the answer takes the place of the link's`() async throws {
    let desktop = try desktop()
    let person = try await FakeNotifications(desktop)
    let client = try Client(desktop)
    let task = Task { @LoopActor in
      try await client.open(
        "org.example.echo://token", ["activation-token": .string("old")]
      ).result["output"]?.string
    }
    try person.press("once", on: try #require(await person.next()), token: "new")
    #expect(try await task.value?.contains(#""activationToken":"new""#) == true)
  }

  @Test @LoopActor func `equal links are one question, and one can be taken back`() async throws {
    let desktop = try desktop()
    let person = try await FakeNotifications(desktop)
    let client = try Client(desktop)
    let first = try await client.submit("org.example.echo:a")
    let shown = try #require(await person.next())
    let request: [String: Value] = ["request": .string("second")]
    try await client.submit("org.example.echo:%61", request)
    _ = try await client.call("Cancel", .uint64(first))
    #expect(person.closed == [])
    try person.press("once", on: shown)
    #expect(try await client.open("org.example.echo:%61", request).outcome == "delivered")
    let third = try await client.submit("org.example.echo:b")
    let next = try #require(await person.next())
    _ = try await client.call("Cancel", .uint64(third))
    #expect(try await client.property("Pending") == .uint32(0))
    #expect(person.closed.contains(next.id))
  }

  @Test @LoopActor func `the settings allow and deny without asking`() async throws {
    let desktop = try desktop(
      settings: """
        {"consent": {"org.example.Echo": "deny", "org.example.Echo/do": "allow",
         "org.example.Echo/wipe": "allow"}}
        """)
    let client = try Client(desktop)
    #expect(try await client.open("org.example.echo:a").outcome == "delivered")
    #expect(try await client.open("org.example.echo://wipe").outcome == "delivered")
    #expect(try await client.open("org.example.echo://see").outcome == "denied")
  }

  @Test @LoopActor func `without any way to ask the outcome says what would help`() async throws {
    let desktop = try desktop()
    let reply = try await Client(desktop).open("org.example.echo:a")
    #expect(reply.outcome == "consent-unavailable")
    let message = try #require(reply.result["message"]?.string)
    #expect(message.contains("zenity") && message.contains(#""org.example.Echo/do": "allow""#))
  }

  // MARK: Dialogs

  /// A desktop whose dialog program is a script that writes down its arguments and answers.
  private func desktop(
    dialog script: String, of program: String = "zenity"
  ) throws -> (Desktop, URL) {
    let programs = FileManager.default.temporaryDirectory.appending(
      path: "programs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    let file = programs.appending(path: program)
    try "#!/bin/sh\nprintf '%s\\n' \"$@\" > \(programs.path)/words\n\(script)\n".write(
      to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: file.path)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let extra = [
      "PATH": "\(programs.path):\(path)", "DISPLAY": ":0",
      "XDG_CURRENT_DESKTOP": program == "kdialog" ? "KDE" : "GNOME",
    ]
    return (try desktop(extra: extra), programs)
  }

  static let dialogs = [
    ("exit 0", "delivered"), ("echo Always; exit 1", "delivered"), ("exit 1", "denied"),
    ("echo Deny; exit 1", "denied"), ("exit 255", "consent-unavailable"),
    ("kill -9 $$", "consent-unavailable"),
    ("echo 'Gtk-Message: Failed to load module \"canberra\"' >&2; exit 1", "denied"),
    (
      "echo '(zenity:1): Gtk-WARNING **: 10:00:00.000: cannot open display: :0' >&2; exit 1",
      "consent-unavailable"
    ),
    (
      "echo 'zenity: Fatal IO error 11 (Resource temporarily unavailable) on X server :0.' >&2; exit 1",
      "consent-unavailable"
    ),
  ]

  @Test(arguments: dialogs) @LoopActor
  func `where notifications have no buttons a dialog asks`(script: String, outcome: String)
    async throws
  {
    let (desktop, programs) = try desktop(dialog: script)
    defer { try? FileManager.default.removeItem(at: programs) }
    let person = try await FakeNotifications(desktop, capabilities: ["body"])
    defer { withExtendedLifetime(person) {} }
    let client = try Client(desktop)
    #expect(try await client.open(#"org.example.echo:a%5Cnb<i>"#).outcome == outcome)
    let words = lines(of: programs.appending(path: "words"))
    #expect(words.contains("--no-markup") && words.contains("--extra-button=Always"))
    // Backslashes of the link stay backslashes, and begin no line.
    #expect(words.contains(#"text: "a\\\\nb<i>""#), "\(words)")
  }

  static let kdialogs = [
    ("echo once", "delivered"), ("echo always", "delivered"), ("echo deny", "denied"),
    ("echo", "denied"), ("exit 1", "denied"), ("exit 255", "consent-unavailable"),
    (
      "echo 'The X11 connection broke (error 1). Did the X11 server die?' >&2; exit 1",
      "consent-unavailable"
    ),
    (
      "echo 'The Wayland connection broke. Did the Wayland compositor die?' >&2; exit 1",
      "consent-unavailable"
    ),
  ]

  @Test(arguments: kdialogs) @LoopActor
  func `in KDE kdialog asks, and what ends it is never a yes`(script: String, outcome: String)
    async throws
  {
    let (desktop, programs) = try desktop(dialog: script, of: "kdialog")
    defer { try? FileManager.default.removeItem(at: programs) }
    let client = try Client(desktop)
    #expect(try await client.open(#"org.example.echo:a%5Cn<i>"#).outcome == outcome)
    let words = lines(of: programs.appending(path: "words"))
    #expect(words.contains("--radiolist") && words.suffix(3) == ["deny", "Deny", "on"])
    #expect(words.contains { $0.contains(#"text: "a\\\\n&lt;i&gt;""#) }, "\(words)")
  }

  @Test(.enabled(if: Requirement.program("zenity"))) @LoopActor
  func `a display that is not there is no answer`() async throws {
    // Of the root's X servers none has this number.
    let desktop = try desktop(extra: ["DISPLAY": ":40404"])
    let reply = try await Client(desktop).open("org.example.echo:a")
    #expect(reply.outcome == "consent-unavailable", "\(reply.result)")
  }

  @Test @LoopActor func `long questions, and a person who wants quiet, get a dialog`()
    async throws
  {
    let (desktop, programs) = try desktop(dialog: "exit 0")
    defer { try? FileManager.default.removeItem(at: programs) }
    let person = try await FakeNotifications(desktop)
    let client = try Client(desktop)
    let long = String(repeating: "x", count: 200)
    #expect(try await client.open("org.example.echo:\(long)").outcome == "delivered")
    #expect(lines(of: programs.appending(path: "words")).contains("text: \"\(long)\""))
    person.isQuiet = true
    #expect(try await client.open("org.example.echo:a").outcome == "delivered")
    person.isQuiet = false
    let shown = opening("org.example.echo:a", client)
    try person.press("once", on: try #require(await person.next()))
    #expect(try await shown.value == "delivered")
  }

  @Test(.enabled(if: Requirement.program("zenity", "Xvfb", "xdotool"))) @LoopActor
  func `zenity itself asks and is answered`() async throws {
    let display = try Display()
    let desktop = try desktop(extra: ["DISPLAY": display.name])
    let client = try Client(desktop)
    // It looks for the window until it is there, while the loop's thread sends the link.
    let keys = try desktop.world.start(
      [
        "xdotool", "search", "--sync", "--onlyvisible", "--name", "E: allow this link",
        "windowfocus", "key", "--clearmodifiers", "Escape",
      ], environment: ["DISPLAY": display.name])
    defer { keys.signal(SIGKILL) }
    let reply = try await client.open("org.example.echo:a")
    #expect(reply.outcome == "denied", "\(reply.result) \(keys.errors)")
  }
}
