import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Testing

@testable import DeeplinkApp

/// `open` and `canOpen`: what an app learns of a link that it sends.
@Suite(.timeLimit(.minutes(2))) struct OpeningTests {
  let world: World

  init() throws { world = try World() }

  @Test(arguments: DeeplinkApp.Outcome.State.allCases)
  func `every outcome is told`(_ state: DeeplinkApp.Outcome.State) async throws {
    let daemon = try await FakeDaemon(world) { call in
      #expect(call.arguments[0].string == "known:a")
      #expect(call.arguments[1].options?["timeout"] == .uint32(1500))
      #expect(call.arguments[1].options?["activation-token"] == .string("token"))
      #expect(call.arguments[1].options?["callback"] == .boolean(true))
      call.reply(
        .uint64(7), .string(state.rawValue), .options(["message": .string("so it is")]))
    }
    let app = try world.app()
    let outcome = try await app.open(
      "known:a", activationToken: "token", wantsCallback: true, limit: .milliseconds(1500))
    #expect(outcome.id == 7)
    #expect(outcome.state == state)
    #expect(outcome.isDelivered == (state == .delivered))
    #expect(outcome.message == (state == .failed ? "so it is" : nil))
    #expect(outcome.result == ["message": "so it is"])
    await daemon.connection.close()
    app.stop()
  }

  @Test func `a refusal is thrown with its code and sentence`() async throws {
    let daemon = try await FakeDaemon(world) { call in
      call.fail("org.deeplinkd.Error.NoRoute", "no route takes it")
    }
    let app = try world.app()
    await #expect(
      throws: DeeplinkApp.Failure.refused(code: "NoRoute", "no route takes it")
    ) { try await app.open("known:a") }
    #expect(try await app.canOpen("known:"))
    #expect(try await !app.canOpen("other:"))
    await #expect {
      try await app.open("known:a\0b")
    } throws: { error in
      guard case .refused("ControlCharacter", _) = error as? DeeplinkApp.Failure else {
        return false
      }
      return true
    }
    await daemon.connection.close()
    app.stop()
  }

  @Test func `an answer that is none is no outcome`() async throws {
    let daemon = try await FakeDaemon(world) { call in
      call.reply(.uint64(7), .string("eaten"), .options([:]))
    }
    let app = try world.app()
    await #expect(throws: DeeplinkApp.Failure.unavailable("its answer cannot be read")) {
      try await app.open("known:a")
    }
    await daemon.connection.close()
    app.stop()
  }

  @Test func `without deeplinkd it says so`() async throws {
    let app = try world.app()
    await #expect {
      try await app.open("known:a")
    } throws: { error in
      guard case .unavailable = error as? DeeplinkApp.Failure else { return false }
      return true
    }
    app.stop()
  }
}
