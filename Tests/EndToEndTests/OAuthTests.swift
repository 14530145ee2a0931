import DeeplinkBus
import DeeplinkTesting
import Foundation
import Testing

/// Signing in with the preset `oauth-redirect`: RFC 8252, with RFC 7636's PKCE, against a provider.
@Suite(
  .timeLimit(.minutes(5)), .enabled(if: Requirement.program("python3", "xdg-open", "gdbus")))
struct OAuthTests {
  private let desktop: Desktop
  private let daemon: RunningProcess
  private let provider: RunningProcess
  private let app: RunningProcess

  init() throws {
    desktop = try Desktop(extra: ["DISPLAY": ":none", "BROWSER": "false"])
    try desktop.addPlugin(
      id: "com.example.signin",
      manifest: """
        {"id": "com.example.signin", "name": "Sign in", "schemes": ["com.example.signin"],
         "routes": [{"name": "redirect", "match": "/oauth2redirect", "preset": "oauth-redirect",
           "action": {"handler": {"busName": "com.example.signin"}}}]}
        """)
    // Claims the same scheme, with a route that would fit better (RFC 8252 section 8.1).
    try desktop.addPlugin(
      id: "org.example.thief",
      manifest: """
        {"id": "org.example.thief", "name": "Thief", "schemes": ["com.example.signin"],
         "routes": [{"name": "take", "match": "/oauth2redirect", "effect": "view",
           "parameters": {"code": {"type": "string", "required": true}},
           "action": {"command": {"run": ["tee", "taken"], "input": "context",
             "sandbox": "none"}}}]}
        """)
    try desktop.registerHandler(schemes: ["com.example.signin"], id: "com.example.signin")
    try desktop.world.write(
      #"{"history": {"values": true}}"#, to: "home/.config/deeplinkd/settings.json")
    daemon = try desktop.startDaemon()
    provider = try desktop.world.start([Self.program("provider")])
    app = try desktop.world.start(
      [
        Self.program("sign-in"), desktop.world.root.appending(path: "secrets").path,
        provider.outputLine(1),
      ], takesLines: true)
    let waited = try desktop.world.run([
      "gdbus", "wait", "--session", "--timeout", "20", "com.example.signin",
    ])
    guard waited.status == 0 else { throw TestingError("\(waited.errors)\(app.errors)") }
  }

  private static func program(_ name: String) -> String {
    Repository.root.appending(path: "Tests/EndToEndTests/Hostile/\(name)").path
  }

  /// Has the app begin, and a browser go where it says; gives the redirect.
  private func signIn(_ prompt: String, lines: Int, follow: Bool = true) throws -> String {
    try app.send(prompt)
    let url = try app.outputLine(lines)
    let browser = try desktop.world.run([Self.program("browser"), url, follow ? "follow" : "stay"])
    guard browser.status == 0 else { throw TestingError(browser.errors) }
    return browser.output.trimmed
  }

  @Test
  func `a code reaches the app that asked for it, once, and leaves no trace on the way`()
    async throws
  {
    let follower = try await Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")

    let redirect = try signIn("yes", lines: 1)
    #expect(redirect.hasPrefix("com.example.signin:/oauth2redirect?state="))
    #expect(try app.outputLine(2) == "signed in as alice")
    #expect(try provider.outputLine(2) == "200")
    // Whoever sees the link later can do nothing with it: neither the app nor the provider takes it.
    #expect(try desktop.open("--wait", redirect).status == 0)
    #expect(try app.outputLine(3) == "not what was asked for")

    _ = try signIn("no", lines: 4)
    #expect(try app.outputLine(5) == "refused: access_denied")
    try await expectNoTrace(states, links: 3)
  }

  @Test
  func `a link that answers no question of the app's, or comes from elsewhere, signs nobody in`()
    async throws
  {
    let follower = try await Client(desktop)
    let states = try await follower.states()
    _ = try await follower.call("Follow")

    // An attacker's own code, sent to somebody who is signing in (RFC 6749 section 10.12).
    let attackers = try signIn("yes", lines: 1, follow: false)
    let own = try signIn("yes", lines: 2, follow: false)
    #expect(try desktop.open("--wait", attackers).status == 0)
    #expect(try app.outputLine(3) == "not what was asked for")
    // Another provider's answer with the right state (RFC 9207).
    let mixed = own.replacingOccurrences(of: "127.0.0.1", with: "127.0.0.2")
    #expect(try desktop.open("--wait", mixed).status == 0)
    #expect(try app.outputLine(4) == "of another provider")
    // A code of one flow with the state of another: the verifier does not fit (RFC 7636).
    let code = attackers.components(separatedBy: "code=").last ?? ""
    let injected = "\(own.components(separatedBy: "code=")[0])code=\(code)"
    #expect(try desktop.open("--wait", injected).status == 0)
    #expect(try app.outputLine(5) == "invalid_grant")
    #expect(try provider.outputLine(2) == "400")
    // Given twice, a value is nobody's.
    #expect(try desktop.open("--wait", "\(own)&code=x").status == 1)
    try await expectNoTrace(states, links: 3, also: [code])
  }

  /// Of what was secret nothing is in a signal, the history, the daemon's words or its files; and the
  /// plugin that claimed the scheme too had none of the links.
  private func expectNoTrace(
    _ states: AsyncStream<(id: UInt64, state: String, facts: [String: Value])>, links: Int,
    also: [String] = []
  ) async throws {
    let secrets =
      lines(of: desktop.world.root.appending(path: "secrets")).filter { $0.count > 10 } + also
    #expect(secrets.count >= 4)
    var ended = 0
    for await state in states {
      for secret in secrets { #expect(!"\(state.facts)".contains(secret)) }
      if state.state == "delivered" { ended += 1 }
      if ended == links { break }
    }
    let client = try await Client(desktop)
    let history = try await client.call("History", .options([:]))[0].string ?? ""
    #expect(history.contains("redirect") && !history.contains("thief"))
    daemon.signal(SIGTERM)
    #expect(daemon.waitForEnd() && daemon.finished.status == 0)
    for secret in secrets { #expect(!"\(history)\(daemon.errors)".contains(secret)) }
    try desktop.expectNothingKept(of: secrets)
  }
}
