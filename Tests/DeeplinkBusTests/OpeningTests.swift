import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

/// Connecting without making the loop wait for the bus.
@Suite(.timeLimit(.minutes(1))) struct OpeningTests {
  init() { EventLoop.shared.startThread() }

  @Test @LoopActor func `a connection that was opened so has its name and can be called`()
    async throws
  {
    let world = try World()
    let connection = try await Connection.open(
      address: world.busAddress, limit: .seconds(20))
    #expect(connection.uniqueName.text.hasPrefix(":1."))
    #expect(try await !connection.busID().isEmpty)
    connection.close()
  }

  @Test @LoopActor func `a bus that says nothing costs the limit, and the loop goes on`()
    async throws
  {
    let path = "/tmp/deeplink-\(UUID().uuidString)"
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer {
      close(server)
      unlink(path)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0 && listen(server, 8) == 0)
    var fired = false
    EventLoop.shared.after(.milliseconds(50)) { fired = true }
    await #expect(throws: BusError.noReply(after: .milliseconds(200))) {
      try await Connection.open(address: "unix:path=\(path)", limit: .milliseconds(200))
    }
    #expect(fired)
  }
}
