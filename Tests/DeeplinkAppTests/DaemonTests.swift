import DeeplinkTesting
import Foundation
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

  @Test(.enabled(if: Requirement.program("dbus-monitor"), "dbus-monitor is not installed"))
  func `the daemon sends a link to the window that was active last`() async throws {
    let calls = desktop.world.root.appending(path: "calls")
    let monitor = try desktop.world.start([
      "sh", "-c", "exec dbus-monitor \"interface='org.deeplinkd.Handler1'\" > \(calls.path)",
    ])
    // Its own first messages tell that it listens.
    _ = try waitForLines(1, in: calls)
    app.answerURL { _ in ["by": "app"] }
    try await app.start()
    // Answered by the app itself: starts the daemon, which then can be told of windows.
    #expect(try await app.open("com.example.photos:other").result == ["by": "app"])
    let windows = ["first", "second"].map { name in
      let window = app.scene()
      window.answerURL("show") { _ in ["by": .string(name)] }
      window.becameActive()
      return window
    }
    windows[0].becameActive()
    for expected in ["first", "second", "app"] {
      await app.scenesAreKnown()
      #expect(try await app.open("com.example.photos:album/a").result == ["by": .string(expected)])
      windows[expected == "first" ? 0 : 1].close()
    }
    func paths() -> [String] {
      lines(of: calls).filter { $0.contains("member=Open") }.compactMap { line in
        line.split(separator: " ").first { $0.hasPrefix("path=") }.map(String.init)
      }
    }
    try wait(forChangesOf: calls) { paths().count >= 4 }
    #expect(
      paths() == [
        "path=/com/example/Photos;", "path=/com/example/Photos/scene/1;",
        "path=/com/example/Photos/scene/2;", "path=/com/example/Photos;",
      ])
    monitor.signal(SIGTERM)
    app.stop()
  }

  private struct Broken: Error, CustomStringConvertible {
    let description = "the drawer is stuck"
  }
}
