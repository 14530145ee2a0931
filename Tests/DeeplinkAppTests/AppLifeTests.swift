import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Testing

@testable import DeeplinkApp

/// Starting, being the second instance, and ending.
@Suite(.timeLimit(.minutes(2))) struct AppLifeTests {
  let world: World

  init() throws { world = try World() }

  @Test(arguments: ["", "Photos", "com..example", "com.example.Phötos", ":1.7", "com.example\0.A"])
  func `what is no name of an app is refused`(id: String) {
    #expect(throws: DeeplinkApp.Failure.invalidID(id)) { try DeeplinkApp(id: id) }
  }

  @Test func `a second instance is told that the first is running`() async throws {
    let first = try world.app()
    first.answerURL { _ in ["instance": 1] }
    try await first.start()
    let second = try world.app()
    second.answerURL { _ in ["instance": 2] }
    await #expect(throws: DeeplinkApp.Failure.alreadyRunning(id: "com.example.Photos")) {
      try await second.start()
    }
    let daemon = try await FakeDaemon(world)
    #expect(try await daemon.handOver().result == ["instance": .int64(1)])
    // Once the first has ended, the second may start.
    async let end: Void = daemon.nameIsFree("com.example.Photos")
    first.stop()
    try await end
    try await second.start()
    #expect(try await daemon.handOver().result == ["instance": .int64(2)])
    second.stop()
  }

  @Test func `without a session bus the error is the bus's own`() async throws {
    let app = try DeeplinkApp(id: "com.example.Photos", busAddress: "unix:path=/nonexistent/bus")
    await #expect {
      try await app.start()
    } throws: { error in
      guard case .noSession(let words) = error as? DeeplinkApp.Failure else { return false }
      return words.contains("No such file")
    }
  }

  @Test(arguments: [false, true])
  func `run returns when the app stops or the session ends`(busEnds: Bool) async throws {
    let app = try world.app()
    app.onOpenURL { _ in }
    let daemon = try await FakeDaemon(world)
    async let run: Void = app.run()
    try await daemon.nameIsOwned("com.example.Photos")
    if busEnds { world.killBus() } else { app.stop() }
    try await run
    await #expect(throws: DeeplinkApp.Failure.ended) { try await app.start() }
    await #expect(throws: DeeplinkApp.Failure.ended) { _ = try await app.canOpen("known:") }
  }
}

extension FakeDaemon {
  func nameIsOwned(_ name: WellKnownName) async throws { try await wait(for: name, owned: true) }
  func nameIsFree(_ name: WellKnownName) async throws { try await wait(for: name, owned: false) }

  private func wait(for name: WellKnownName, owned: Bool) async throws {
    let (changes, continuation) = AsyncStream<Void>.makeStream()
    let subscription = try await connection.subscribe(.owner(of: name)) { _ in
      continuation.yield()
    }
    continuation.yield()
    for await _ in changes {
      if try await (connection.owner(of: name) != nil) == owned { break }
    }
    subscription.cancel()
  }
}
