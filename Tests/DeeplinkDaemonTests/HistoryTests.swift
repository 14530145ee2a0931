import DeeplinkDesktop
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkDaemon
@testable import DeeplinkRouting

/// The history as a file.
@Suite struct HistoryTests {
  private func entry(
    _ delivery: UInt64, duration: Double = 1, values: String? = nil
  ) -> History.Entry {
    History.Entry(
      time: 1_000_000 + Double(delivery), delivery: delivery, scheme: "x", plugin: nil, route: nil,
      source: "unknown", outcome: "delivered", reason: nil, mode: nil, size: 3, duration: duration,
      values: values)
  }

  @Test func `a batch that cannot be written is left out whole, and the next one is written`()
    async throws
  {
    let file = FileManager.default.temporaryDirectory.appending(path: "history-\(UUID())")
    defer { for end in ["", "-wal", "-shm"] { unlink(file.path + end) } }
    let history = try History(path: file.path)
    let limits = Settings.History()
    // SQLite has no such number: it becomes a null, which the table does not take.
    await #expect(throws: (any Error).self) {
      try await history.add([entry(1), entry(2, duration: .nan)], limits, now: 1_000_000)
    }
    try await history.add([entry(3)], limits, now: 1_000_000)
    #expect(try await history.entries(History.Filter()).compactMap { $0["id"]?.integer } == [3])
  }

  @Test func `an answer that no message could carry has the newest entries`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "history-\(UUID())")
    defer { for end in ["", "-wal", "-shm"] { unlink(file.path + end) } }
    let history = try History(path: file.path)
    let values = #"{"text":"\#(String(repeating: "x", count: 1 << 20))"}"#
    for number in UInt64(1)...20 {
      try await history.add([entry(number, values: values)], Settings.History(), now: 1_000_000)
    }
    let ids = try await history.entries(History.Filter()).compactMap { $0["id"]?.integer }
    #expect(ids == Array(6...20))
  }
}
