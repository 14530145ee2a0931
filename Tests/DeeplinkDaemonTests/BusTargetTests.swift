import DeeplinkActions
import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import DeeplinkWire
import Testing

/// How an app on the bus is started, where a start takes longer than anybody waits for it.
@Suite(.timeLimit(.minutes(1))) struct BusTargetTests {
  let world: World

  init() throws {
    EventLoop.shared.startThread()
    world = try World()
  }

  /// A program whose failures the test tells.
  @LoopActor private final class Program: ProgramLaunch {
    private var failures: [@LoopActor (String) -> Void] = []
    private var waiting: CheckedContinuation<Void, Never>?

    func launch(_ environment: LaunchEnvironment, failed: @escaping @LoopActor (String) -> Void) {
      failures.append(failed)
      waiting?.resume()
      waiting = nil
    }

    func launched(_ count: Int) async {
      while failures.count < count { await withCheckedContinuation { waiting = $0 } }
    }

    func fail(_ number: Int, _ message: String) { failures[number](message) }
  }

  @LoopActor private final class Events { var all: [TargetEvent] = [] }

  @Test @LoopActor func `a start that nobody waits for any more has no say in the next one`()
    async throws
  {
    let connection = try Connection.open(address: world.busAddress)
    defer { connection.close() }
    let program = Program()
    let target = BusTarget(
      "org.example.App", door: .handler, on: connection, program: program,
      launchTimeout: .seconds(20), scenes: nil)
    let events = Events()
    target.onEvent = { events.all.append($0) }
    let environment = LaunchEnvironment(variables: [:])
    target.start(environment)
    await program.launched(1)
    target.stop()
    target.start(environment)
    await program.launched(2)
    program.fail(0, "the first")
    #expect(events.all == [])
    program.fail(1, "the second")
    program.fail(1, "again")
    #expect(events.all == [.startFailed(.launch, "the second")])
  }

  @Test @LoopActor func `of two starts that look for the owner at once one tells of it`()
    async throws
  {
    let app = try Connection.open(address: world.busAddress)
    let connection = try Connection.open(address: world.busAddress)
    defer { app.close(); connection.close() }
    _ = try await app.requestName("org.example.App")
    let target = BusTarget(
      "org.example.App", door: .handler, on: connection, program: nil,
      launchTimeout: .seconds(20), scenes: nil)
    let events = Events()
    let (stream, feed) = AsyncStream.makeStream(of: TargetEvent.self)
    target.onEvent = {
      events.all.append($0)
      feed.yield($0)
    }
    let environment = LaunchEnvironment(variables: [:])
    target.start(environment)
    target.stop()
    target.start(environment)
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next() == .ready(wasRunning: true))
    app.close()
    #expect(await iterator.next() == .gone)
    #expect(events.all == [.ready(wasRunning: true), .gone])
  }
}
