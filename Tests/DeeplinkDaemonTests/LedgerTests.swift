import DeeplinkLoop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkDaemon

/// The ledger as a file; what it is for is told by the tests that kill daemons.
@Suite(.timeLimit(.minutes(1))) struct LedgerTests {
  let folder = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID())")

  init() throws {
    EventLoop.shared.startThread()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private var path: String { folder.appending(path: "ledger").path }

  @LoopActor private func delivery(_ id: UInt64, size: Int) throws -> Delivery {
    let text = "x:" + String(repeating: "y", count: size)
    return Delivery(
      id: id, link: try Link(admitting: Array(text.utf8)), options: .init(), sender: nil,
      matches: [], source: Source(kind: .executable, name: "/usr/bin/\(id)"), hops: Int(id % 4))
  }

  @LoopActor private func commit(_ ledger: Ledger) async {
    await withCheckedContinuation { continuation in
      ledger.afterCommit { continuation.resume() }
    }
  }

  @Test @LoopActor func `the log is folded away from the loop, and begins anew`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let ledger = Ledger(path: path)
    #expect(ledger.isDurable && !FileManager.default.fileExists(atPath: path))
    #expect(!Ledger(path: nil).isDurable && !Ledger(path: "\(path)/none/ledger").isDurable)
    ledger.open()
    var id: UInt64 = 0
    for _ in 1...3 {
      while try #require(ledger.database).logPages < Ledger.logLimit {
        id += 1
        ledger.insert(try delivery(id, size: 40_000))
        await commit(ledger)
      }
      await ledger.folded()
      id += 1
      ledger.insert(try delivery(id, size: 10))
      await commit(ledger)
      #expect(try #require(ledger.database).logPages < 100)
    }
    #expect(id > 200)
    let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
    #expect(try #require(log) < 2 * Ledger.logLimit * 4096)
    // As a daemon that comes after a crash reads it.
    let next = Ledger(path: path)
    next.open()
    let entries = next.entries()
    #expect(entries.map(\.id) == Array(1...id) && next.lastID() == id)
    #expect(entries.allSatisfy { $0.hops == Int($0.id % 4) })
    #expect(entries.allSatisfy { $0.source?.key == "executable:/usr/bin/\($0.id)" })
  }
}
