import DeeplinkTesting
import Foundation
import Testing

/// Messages that no library would send, and senders without manners: the daemon answers on.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Requirement.program("python3")))
struct HostileBusTests {
  /// One line of the client's.
  private struct Step: Decodable {
    let step: String
    let answer: String
    let expected: String
    let right: Bool
    /// Whether the same process gave the right answers to a friendly caller afterwards.
    let alive: Bool
  }

  private struct Summary: Decodable {
    let steps: Int
    /// How many descriptors the daemon has more than before.
    let descriptors: Int
  }

  @Test func `whatever comes over the bus, the same process answers the next caller`() throws {
    let desktop = try Desktop.withDemonstration()
    // What comes after a flood has to be answered by the rules that it is to break.
    try desktop.world.write(
      #"{"rates": {"enabled": false}}"#, to: "home/.config/deeplinkd/settings.json")
    let client = Repository.root.appending(path: "Tests/EndToEndTests/Bus/hostile.py")
    let done = try desktop.world.run(
      ["/usr/bin/python3", "-B", client.path], limit: .seconds(400))
    let lines = done.output.split(separator: "\n").map { Data($0.utf8) }
    let steps = lines.compactMap { try? JSONDecoder().decode(Step.self, from: $0) }
    for step in steps {
      #expect(step.alive, "\(step.step): \(step.answer)")
      #expect(step.right, "\(step.step): \(step.answer), not \(step.expected)")
    }
    #expect(done.status == 0, "\(done.errors)")
    let summary = try JSONDecoder().decode(Summary.self, from: #require(lines.last))
    #expect(summary.steps == steps.count && steps.count >= 400)
    // The worker's pipes, and the databases that are opened with the first links: the history's, and
    // the ledger's for another thread.
    #expect(summary.descriptors <= 12)
  }
}
