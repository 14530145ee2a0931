import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkActions
@testable import DeeplinkRouting

/// x-callback-url 1.0, both ways, with real xdg-open and real dialogs' exit statuses.
@Suite(.timeLimit(.minutes(2))) struct CallbackTests {
  let desktop: Desktop
  let asked: URL

  /// Dialogs are answered by a program in zenity's place, whose words are kept.
  init() throws {
    let bin = FileManager.default.temporaryDirectory.appending(path: "bin-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    desktop = try Desktop(extra: ["PATH": "\(bin.path):\(path)", "DISPLAY": ":99"])
    asked = desktop.world.home.appending(path: "asked")
    let zenity = bin.appending(path: "zenity")
    try """
    #!/bin/sh
    printf '%s\\n---\\n' "$*" >> "\(asked.path)"
    exit "$(cat "\(desktop.world.home.path)/answer" 2>/dev/null || echo 0)"
    """.write(to: zenity, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: zenity.path)
    try addPlugin(
      "org.example.Source",
      """
      {"name": "sum", "match": "sum", "callback": true, "callbackHosts": ["good.example"],
       "effect": "view", "parameters": {"text": {"type": "string"}},
       "action": {"command": {"run": ["printf", "%s", "--", "{text}"], "sandbox": "none"}}},
      {"name": "fail", "match": "fail", "callback": true, "effect": "view",
       "action": {"command": {"run": ["false"], "sandbox": "none"}}}
      """)
    try addPlugin(
      "org.example.Asker",
      """
      {"name": "done", "match": ["done", "failed"], "effect": "view", "additionalParameters": "pass",
       "action": {"command": {"run": ["cat"], "input": "context", "sandbox": "none"}}}
      """)
    try desktop.registerHandler(schemes: ["org.example.source", "org.example.asker"])
  }

  private func addPlugin(_ id: String, _ routes: String) throws {
    try desktop.addPlugin(
      id: id,
      manifest: """
        {"id": "\(id)", "name": "\(id)", "schemes": ["\(id.lowercased())"], "routes": [\(routes)]}
        """)
  }

  /// What the asker's route received after `url` was opened.
  @LoopActor private func received(_ url: String) async throws -> [String: Any] {
    let client = try Client(desktop)
    let states = try await client.states()
    _ = try await client.call("Follow")
    try await client.submit(url)
    for await state in states
    where state.facts["plugin"] == .string("org.example.Asker") && state.state == "delivered" {
      guard let result = state.facts["result"]?.options, let text = result["output"]?.string else {
        break
      }
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
      return object as? [String: Any] ?? [:]
    }
    throw TestingError("nothing was called back")
  }

  @Test @LoopActor func `a result goes to x-success once the person agreed`() async throws {
    let link =
      "org.example.source:sum?text=a%26b&x-source=Asker"
      + "&x-success=org.example.asker%3Adone%3Fkeep%3D1"
    let first = try await received(link)
    let parameters = first["parameters"] as? [String: String]
    #expect(parameters?["keep"] == "1")
    #expect(parameters?["output"] == "--a&b")
    #expect(parameters?["exitStatus"] == "0")
    #expect((first["context"] as? [String: Any])?["hops"] as? Int == 1)
    let question = try String(contentsOf: asked, encoding: .utf8)
    #expect(question.contains("to: org.example.asker:"))
    #expect(question.contains("for: Asker, as the link says"))
    #expect(question.contains("output: --a&b"))
  }

  @Test @LoopActor func `a failure goes to x-error with its code and message`() async throws {
    let failure = try await received(
      "org.example.source:fail?x-error=org.example.asker%3Afailed&x-success=org.example.asker%3Adone"
    )
    #expect((failure["url"] as? String)?.hasPrefix("org.example.asker:failed?") == true)
    let parameters = failure["parameters"] as? [String: String]
    #expect(parameters == ["errorCode": "exit", "errorMessage": "it exited with status 1"])
  }

  @Test(arguments: [
    "https://evil.example/?a=1", "https://evil.example/good.example", "javascript:alert(1)",
    "file:///etc/passwd", "org.example.nobody:x", "http://good.example/", "not a url",
    "data:text/html,x",
  ])
  @LoopActor func `a result goes nowhere else, and nobody is asked`(target: String) async throws {
    let client = try Client(desktop)
    let reply = try await client.open(
      "org.example.source:sum?text=x&x-success=" + PercentEncoding.encodeComponent(target))
    #expect(reply.outcome == "delivered")
    _ = try await client.property("Version")
    #expect(lines(of: asked).isEmpty)
  }

  @Test @LoopActor func `a no sends nothing`() async throws {
    try desktop.world.write("1", to: "home/answer")
    let client = try Client(desktop)
    _ = try await client.open(
      "org.example.source:sum?text=x&x-success=org.example.asker%3Adone")
    try wait(forChangesOf: asked) { lines(of: asked).contains("---") }
    // A second question shows that the first one was answered, and had no consequence.
    _ = try await client.open(
      "org.example.source:sum?text=y&x-success=org.example.asker%3Adone")
    try wait(forChangesOf: asked) { lines(of: asked).count { $0 == "---" } == 2 }
    guard case .dictionary(_, _, let statistics)? = try await client.property("Statistics") else {
      return
    }
    #expect(statistics.contains(.init(.string("accepted"), .uint64(2))))
  }

  @Test func `deeplink call prints what the action returned`() throws {
    let done = try desktop.world.run([
      Repository.program("deeplink"), "call", "org.example.source:sum?text=hello",
    ])
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output == #"{"exitStatus":0,"output":"--hello"}"# + "\n")
  }

  @Test(arguments: ["success", "error", "cancel"])
  func `an app that knows nothing of us but x-callback-url is called too`(way: String) throws {
    // It answers by opening what the link names, as such apps do.
    let app = try desktop.world.write(
      """
      #!/usr/bin/python3
      import subprocess, sys, urllib.parse
      query = urllib.parse.parse_qs(urllib.parse.urlsplit(sys.argv[1]).query)
      assert query["x-source"] == ["deeplinkd"] and query["n"] == ["1 2"]
      extra = {"success": "?sum=3&text=a%20b", "error": "?errorCode=7&errorMessage=too%20large", "cancel": ""}
      subprocess.run(["xdg-open", query["x-\(way)"][0] + extra["\(way)"]], check=True)
      """, to: "foreign-app", executable: true)
    try desktop.world.write(
      """
      [Desktop Entry]
      Type=Application
      Name=Foreign
      Exec=\(app.path) %u
      MimeType=x-scheme-handler/org.example.foreign;
      """, to: "home/.local/share/applications/org.example.Foreign.desktop")
    try desktop.registerHandler(schemes: ["org.deeplinkd"], id: "org.deeplinkd.Deeplinkd")
    try desktop.world.write(
      """
      [Default Applications]
      x-scheme-handler/org.example.foreign=org.example.Foreign.desktop
      x-scheme-handler/org.deeplinkd=org.deeplinkd.Deeplinkd.Deeplinks.desktop

      """, to: "home/.config/mimeapps.list")
    let done = try desktop.world.run([
      Repository.program("deeplink"), "call", "org.example.foreign:add?n=1%202",
    ])
    switch way {
    case "success":
      #expect(done.status == 0, "\(done.errors)")
      #expect(done.output == #"{"sum":"3","text":"a b"}"# + "\n")
    case "error":
      #expect(done.status == 4)
      #expect(done.errors.contains("too large"), "\(done.errors)")
    default:
      #expect(done.status == 4)
      #expect(done.errors.contains("cancelled"), "\(done.errors)")
    }
  }

  @Test(
    arguments: [
      ("a:b", [("x", "1 &=#")], "a:b?x=1%20%26%3D%23"), ("a:b?", [("x", "1")], "a:b?x=1"),
      ("a:b?y=2#f", [("x", "é")], "a:b?y=2&x=%C3%A9#f"), ("https://h/p#f", [], "https://h/p#f"),
      ("no url", [("x", "1")], nil),
    ] as [(String, [(String, String)], String?)])
  func `parameters are added to a target's query`(
    target: String, parameters: [(String, String)], expected: String?
  ) {
    #expect(CallbackURL.url(target, adding: parameters)?.href == expected)
  }
}
