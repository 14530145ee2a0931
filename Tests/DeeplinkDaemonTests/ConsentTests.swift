import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkDesktop
import DeeplinkRouting
import Foundation
import Testing

@testable import DeeplinkDaemon

/// Who is asked what and when, without a screen.
@Suite(.timeLimit(.minutes(1))) struct ConsentTests {
  init() { EventLoop.shared.startThread() }

  // MARK: Decisions

  static let decisions:
    [(consent: Route.Consent, rule: ConsentRule?, isGranted: Bool, verdict: ConsentPolicy.Verdict)] =
      [
        (.notAsked, nil, false, .allow), (.notAsked, .ask, false, .ask(offersAlways: true)),
        (.notAsked, .ask, true, .allow), (.notAsked, .allow, false, .allow),
        (.notAsked, .deny, true, .deny),
        (.atFirstUse, nil, false, .ask(offersAlways: true)), (.atFirstUse, nil, true, .allow),
        (.atFirstUse, .ask, false, .ask(offersAlways: true)), (.atFirstUse, .ask, true, .allow),
        (.atFirstUse, .allow, false, .allow), (.atFirstUse, .deny, true, .deny),
        (.always, nil, true, .ask(offersAlways: false)),
        (.always, .ask, true, .ask(offersAlways: false)), (.always, .allow, false, .allow),
        (.always, .deny, true, .deny),
      ]

  @Test func `the settings go before the manifest, and a grant before a question`() {
    for one in Self.decisions {
      #expect(
        ConsentPolicy.verdict(one.consent, rule: one.rule, isGranted: one.isGranted)
          == one.verdict, "\(one)")
    }
    #expect(Self.decisions.count == 15)
  }

  @Test func `the settings name plugins and routes, the more exact name counts`() throws {
    var found: [Diagnostic] = []
    let settings = Settings(
      json: [
        "consent": [
          "org.example.A": "allow", "org.example.A/wipe": "deny", "org.example.B": "allways",
        ]
      ], file: "settings.json", diagnostics: &found)
    let a = try PluginID("org.example.A")
    #expect(settings.consentRule(a, "show") == .allow)
    #expect(settings.consentRule(a, "wipe") == .deny)
    #expect(try settings.consentRule(PluginID("org.example.B"), "x") == .ask)
    #expect(try settings.consentRule(PluginID("org.example.C"), "x") == nil)
    #expect(found.count == 1)
  }

  // MARK: Questions

  private static func plugin(_ action: String = #"{"command": {"run": ["rm", "--", "{file}"]}}"#)
    throws -> Plugin
  {
    let text = """
      {"id": "org.example.A", "name": "<b>A</b>\u{202E}", "schemes": ["org.example.a"], "routes": [
        {"name": "wipe", "title": "Wipe {file}", "match": ":file", "effect": "change",
         "parameters": {"token": {"type": "string"}, "n": {"type": "integer"}},
         "action": \(action)}]}
      """
    return try #require(Plugin.read(Array(text.utf8), file: "plugin.json").plugin)
  }

  private func question(
    _ url: String, _ plugin: Plugin? = nil, from source: Source = .unknown,
    offersAlways: Bool = true
  ) throws -> Question {
    let link = try Link(admitting: Array(url.utf8))
    let table = RouteTable(plugins: [try plugin ?? Self.plugin()])
    let match = try #require(try table.matches(for: link).first)
    return Question(match, link, from: source, offersAlways: offersAlways)
  }

  @Test func `a question shows everything, and nothing can pass for what it is not`() throws {
    let question = try question(
      "org.example.a:a%20b%E2%80%AE%3Ci%3E%22?token=hunter2&n=3",
      from: Source(kind: .executable, name: "/opt/mail\u{1B}"))
    #expect(question.title == #"<b>A</b>\u202e: allow this link?"#)
    #expect(
      question.lines == [
        #"Wipe a b\u202e<i>""#, #"runs: rm -- "a b\u202e<i>\"""#,
        #"from: /opt/mail\u001b (executable)"#, #"file: "a b\u202e<i>\"""#, "n: 3",
        #"token: "secret, 7 characters""#,
      ])
    #expect(!question.body.contains("hunter2"))
    #expect(question.body.markupEscaped.contains("b\\u202e&lt;i&gt;"))
  }

  @Test func `what speaks for others is told with the button for good`() throws {
    let words = "Always means: any program or web page"
    #expect(try question("org.example.a:x").lines.last == words)
    #expect(
      try question("org.example.a:x", from: Source(kind: .flatpak, name: "org.mozilla.firefox"))
        .lines.last == words)
    #expect(
      try !question("org.example.a:x", from: Source(kind: .unit, name: "org.example.Mail")).lines
        .contains(words))
    #expect(try !question("org.example.a:x", offersAlways: false).lines.contains(words))
  }

  @Test func `160 characters are short, one more is not`() throws {
    let base = try question("org.example.a:x")
    let rest = 160 - (base.title.count + base.body.count + 1)
    // The name stands in three lines.
    let fits = "x" + String(repeating: "x", count: rest / 3)
    #expect(base.isShort && rest > 3)
    #expect(try question("org.example.a:\(fits)").isShort)
    #expect(try !question("org.example.a:\(fits)x").isShort)
  }

  @Test func `equal questions are one, others are not`() throws {
    #expect(try question("org.example.a:x?n=1") == question("org.example.a:%78?n=1"))
    #expect(try question("org.example.a:x?n=1") != question("org.example.a:x?n=2"))
    #expect(
      try question("org.example.a:x?token=aaa") != question("org.example.a:x?token=bbb"),
      "secrets of one length")
    #expect(
      try question("org.example.a:x")
        != question("org.example.a:x", from: Source(kind: .unit, name: "org.example.Mail")))
  }

  static let actions: [(action: String, text: String)] = [
    (#"{"worker": {"run": ["./w", "a b"]}}"#, #"hands it to: ./w "a b""#),
    (#"{"handler": {"busName": "org.example.A"}}"#, "opens org.example.A"),
    (#"{"application": {"desktopEntry": "org.example.A"}}"#, "opens org.example.A"),
    (#"{"open": {"url": "https://example.com/{file}"}}"#, "opens https://example.com/x"),
    (
      #"{"notify": {"title": "Hi {file} {url}"}}"#,
      #"shows the notification "Hi x org.example.a:x""#
    ),
    (
      #"{"call": {"busName": "org.example.A", "path": "/a", "interface": "org.example.A", "member": "Do", "signature": "s", "arguments": ["{file}"]}}"#,
      #"calls org.example.A org.example.A.Do["x"]"#
    ),
  ]

  @Test(arguments: actions) func `each kind of action says what it does`(
    action: String, text: String
  ) throws {
    #expect(try question("org.example.a:x", Self.plugin(action)).lines[1] == text)
    #expect(Self.actions.count == 6)
  }

  // MARK: One at a time

  @LoopActor private final class Screen: Asker {
    @LoopActor final class Shown: AskedQuestion {
      let question: Question
      let answer: @LoopActor (Answer) -> Void
      var isWithdrawn = false
      init(_ question: Question, _ answer: @escaping @LoopActor (Answer) -> Void) {
        self.question = question
        self.answer = answer
      }
      func withdraw() { isWithdrawn = true }
    }
    var shown: [Shown] = []
    func ask(
      _ question: Question, _ environment: [String: String], limit: Duration,
      _ answer: @escaping @LoopActor (Answer) -> Void
    ) -> any AskedQuestion {
      shown.append(Shown(question, answer))
      return shown[shown.count - 1]
    }
  }

  @LoopActor private final class Log {
    var rulings: [UInt64: ConsentDesk.Ruling] = [:]
    func note(_ id: UInt64) -> @LoopActor (ConsentDesk.Ruling) -> Void {
      { [self] in rulings[id] = $0 }
    }
  }

  @LoopActor private final class Time {
    var now = 1000.0
  }

  private let mail = Source(kind: .unit, name: "org.example.Mail")
  private let chat = Source(kind: .unit, name: "org.example.Chat")

  @Test @LoopActor func `one question is on the screen, equal ones are asked once`() throws {
    let screen = Screen()
    let desk = ConsentDesk(asker: screen)
    let log = Log()
    let first = try question("org.example.a:x", from: mail)
    desk.ask(first, for: 1, [:], log.note(1))
    desk.ask(first, for: 2, [:], log.note(2))
    desk.ask(try question("org.example.a:y", from: mail), for: 3, [:], log.note(3))
    desk.ask(try question("org.example.a:z", from: mail), for: 4, [:], log.note(4))
    desk.ask(try question("org.example.a:y", from: mail), for: 5, [:], log.note(5))
    desk.ask(try question("org.example.a:y", from: chat), for: 6, [:], log.note(6))
    #expect(screen.shown.map(\.question) == [first])
    #expect(log.rulings.keys.sorted() == [4], "one waits for a source, what is over is denied")
    screen.shown[0].answer(.once(token: "t"))
    screen.shown[0].answer(.no)
    #expect(log.rulings[1] == .answered(.once(token: "t")) && log.rulings[2] == log.rulings[1])
    #expect(screen.shown.count == 2)
    screen.shown[1].answer(.no)
    #expect(log.rulings[3] == .answered(.no) && log.rulings[5] == .answered(.no))
    #expect(screen.shown.count == 3 && log.rulings[6] == nil)
    screen.shown[2].answer(.unavailable)
    #expect(log.rulings[6] == .answered(.unavailable))
  }

  @Test @LoopActor func `silence is no, and silences the source for five minutes`() async throws {
    let screen = Screen()
    let clock = Time()
    let desk = ConsentDesk(asker: screen, limit: .milliseconds(20), now: { clock.now })
    let log = Log()
    let first = try question("org.example.a:x", from: mail)
    let second = try question("org.example.a:y", from: mail)
    let silence = await withCheckedContinuation { continuation in
      desk.ask(first, for: 1, [:]) {
        continuation.resume(returning: $0)
      }
      desk.ask(second, for: 2, [:], log.note(2))
    }
    #expect(silence == .answered(.silence) && screen.shown[0].isWithdrawn)
    func isDenied(_ ruling: ConsentDesk.Ruling?) -> Bool {
      if case .denied? = ruling { true } else { false }
    }
    #expect(isDenied(log.rulings[2]), "it waited behind the other")
    clock.now += 299
    desk.ask(try question("org.example.a:x", from: mail), for: 3, [:], log.note(3))
    #expect(isDenied(log.rulings[3]) && screen.shown.count == 1)
    desk.ask(try question("org.example.a:x", from: chat), for: 4, [:], log.note(4))
    #expect(screen.shown.count == 2, "another source is asked about")
    screen.shown[1].answer(.no)
    clock.now += 1.5
    desk.ask(try question("org.example.a:x", from: mail), for: 5, [:], log.note(5))
    #expect(screen.shown.count == 3)
    screen.shown[2].answer(.no)
  }

  @Test @LoopActor func `a link that is taken back takes its question along`() throws {
    let screen = Screen()
    let desk = ConsentDesk(asker: screen)
    let log = Log()
    let first = try question("org.example.a:x", from: mail)
    desk.ask(first, for: 1, [:], log.note(1))
    desk.ask(first, for: 2, [:], log.note(2))
    desk.ask(try question("org.example.a:y", from: mail), for: 3, [:], log.note(3))
    #expect(desk.cancel(1) && !screen.shown[0].isWithdrawn)
    #expect(desk.cancel(2) && screen.shown[0].isWithdrawn)
    #expect(screen.shown.count == 2 && !desk.cancel(2))
    screen.shown[0].answer(.always(token: nil))
    #expect(log.rulings.isEmpty)
    screen.shown[1].answer(.no)
    #expect(log.rulings == [3: .answered(.no)])
  }

  @Test @LoopActor func `an answer for good settles what waits`() throws {
    let screen = Screen()
    let desk = ConsentDesk(asker: screen)
    let log = Log()
    desk.isSettled = { _ in log.rulings[1] != nil }
    desk.ask(try question("org.example.a:x", from: mail), for: 1, [:], log.note(1))
    desk.ask(try question("org.example.a:y", from: mail), for: 2, [:], log.note(2))
    screen.shown[0].answer(.always(token: nil))
    #expect(log.rulings[2] == .answered(.once(token: nil)) && screen.shown.count == 1)
  }

  // MARK: Grants

  @Test func `a grant is for a route as it was, and a source`() throws {
    let plugin = try Self.plugin()
    let changed = try Self.plugin(#"{"command": {"run": ["rm", "-f", "--", "{file}"]}}"#)
    var grants = Grants()
    grants.add(
      Grants.Grant(plugin: plugin, route: plugin.routes[0], source: "unit:a", time: 1))
    #expect(grants.allows(plugin.id, plugin.routes[0], source: "unit:a"))
    #expect(!grants.allows(plugin.id, plugin.routes[0], source: "unit:b"))
    #expect(!grants.allows(changed.id, changed.routes[0], source: "unit:a"))
    grants.allowAll(plugin, time: 2)
    #expect(grants.allows(plugin.id, plugin.routes[0], source: "unit:b"))
    #expect(grants.list.count == 2)
    let path = FileManager.default.temporaryDirectory.path + "/grants-\(UUID().uuidString)/a/g.json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(try Grants.read(path) == Grants())
    try grants.write(path)
    #expect(try Grants.read(path) == grants)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    try "[1]".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: Grants.FileError.self) { try Grants.read(path) }
    #expect(grants.revoke(plugin: "org.example.A", route: "x", source: nil) == 0)
    #expect(grants.revoke(plugin: "org.example.A", route: "wipe", source: "unit:a") == 1)
    #expect(grants.revoke(plugin: "org.example.A", route: nil, source: nil) == 1)
  }
}
