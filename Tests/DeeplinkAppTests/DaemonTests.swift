import DeeplinkTesting
import Testing

@testable import DeeplinkApp

/// An app in this process with the real daemon.
@Suite(.timeLimit(.minutes(2))) struct DaemonTests {
  let desktop: Desktop
  let app: DeeplinkApp

  init() throws {
    desktop = try Desktop()
    try desktop.addPlugin(
      id: "com.example.Photos",
      manifest: """
        {"id": "com.example.Photos", "name": "Photos", "schemes": ["com.example.photos"],
         "routes": [
           {"name": "show", "match": "album/:album",
            "parameters": {"index": {"type": "integer", "default": 1}},
            "action": {"handler": {"busName": "com.example.Photos"}}},
           {"name": "other", "match": "other",
            "action": {"handler": {"busName": "com.example.Photos"}}}]}
        """)
    app = try desktop.world.app()
  }

  @Test func `an app opens links of its own, and learns what became of them`() async throws {
    app.answerURL("show") { link in
      [
        "album": .string(try link.string("album")),
        "next": .integer(try link.integer("index") + 1),
        "delivery": .string(link.delivery.rawValue),
      ]
    }
    try await app.start()
    let outcome = try await app.open("com.example.photos:album/Vacation%20%C3%A9?index=7")
    #expect(outcome.state == .delivered)
    #expect(outcome.result == ["album": "Vacation é", "next": 8, "delivery": "running"])
    #expect(try await app.open("com.example.photos:other").state == .declined)
    #expect(try await app.canOpen("com.example.photos:album/a"))
    #expect(try await !app.canOpen("com.example.photos:nothing"))
    await #expect {
      try await app.open("com.example.photos:nothing")
    } throws: { error in
      guard case .refused("NoRoute", _) = error as? DeeplinkApp.Failure else { return false }
      return true
    }
    app.onOpenURL("other") { _ in throw Broken() }
    let failed = try await app.open("com.example.photos:other")
    #expect(failed.state == .failed)
    #expect(failed.message == "the drawer is stuck")
    app.stop()
  }

  private struct Broken: Error, CustomStringConvertible {
    let description = "the drawer is stuck"
  }
}
