import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Testing

@testable import DeeplinkApp

/// Windows with closures of their own.
@Suite(.timeLimit(.minutes(2))) struct SceneTests {
  let world: World
  let app: DeeplinkApp

  init() throws {
    world = try World()
    app = try world.app()
    app.answerURL { _ in ["by": "app"] }
  }

  private func window(_ name: String, _ routes: String?...) -> DeeplinkApp.Scene {
    let window = app.scene()
    for route in routes { window.answerURL(route) { _ in ["by": .string(name)] } }
    return window
  }

  private func path(_ number: Int) -> ObjectPath {
    ObjectPath(unchecked: "/com/example/Photos/scene/\(number)")
  }

  @Test func `windows are told to the daemon, and to the next one again`() async throws {
    let daemon = try await FakeDaemon(world)
    try await app.start()
    let first = window("first", "b", "a")
    let second = window("second", "a", nil)
    first.becameActive()
    second.becameActive()
    first.becameActive()
    let registered = [
      "RegisterScene com.example.Photos /com/example/Photos/scene/1 [a,b]",
      "RegisterScene com.example.Photos /com/example/Photos/scene/2 []",
    ]
    #expect(
      await daemon.calls(3) == registered + ["ActivateScene /com/example/Photos/scene/1"])
    await daemon.connection.close()
    // A daemon that comes later knows them in the order in which they were active.
    let next = try await FakeDaemon(world)
    #expect(await next.calls(2) == registered.reversed())
    second.close()
    #expect(await next.calls(3).last == "UnregisterScene /com/example/Photos/scene/2")
    app.stop()
  }

  @Test func `the window that was active last gets the link, whatever object it came to`()
    async throws
  {
    let daemon = try await FakeDaemon(world)
    try await app.start()
    let first = window("first", "show")
    let second = window("second", "show", "edit")
    first.becameActive()
    second.becameActive()
    _ = await daemon.calls(2)
    #expect(try await daemon.handOver("show").result == ["by": .string("second")])
    #expect(try await daemon.handOver("show", path: path(1)).result == ["by": .string("first")])
    #expect(try await daemon.handOver("other", path: path(1)).result == ["by": .string("app")])
    first.becameActive()
    _ = await daemon.calls(3)
    #expect(try await daemon.handOver("show").result == ["by": .string("first")])
    #expect(try await daemon.handOver("edit").result == ["by": .string("second")])
    first.close()
    _ = await daemon.calls(4)
    #expect(try await daemon.handOver("show").result == ["by": .string("second")])
    app.stop()
  }

  @Test func `windows of before the start count from the start on`() async throws {
    let daemon = try await FakeDaemon(world)
    window("first", "show").becameActive()
    try await app.start()
    #expect(
      await daemon.calls(1)
        == ["RegisterScene com.example.Photos /com/example/Photos/scene/1 [show]"])
    #expect(try await daemon.handOver("show", path: path(1)).result == ["by": .string("first")])
    app.stop()
  }
}
