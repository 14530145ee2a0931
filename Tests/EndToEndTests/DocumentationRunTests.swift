import DeeplinkTesting
import Foundation
import Testing

/// Every command of the documentation, typed on a terminal in the order of its page.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(
    if: Requirement.program(
      "bwrap", "update-desktop-database", "desktop-file-validate", "gio", "xdg-open", "python3"),
    "the programs that the pages use are not installed"))
struct DocumentationRunTests {
  struct Page: Sendable, CustomTestStringConvertible {
    let path: String
    let commands: Int
    var testDescription: String { path }
  }

  static let pages = [
    Page(path: "README.md", commands: 6),
    Page(path: "data/doc/start.md", commands: 13),
    Page(path: "data/doc/plugins.md", commands: 22),
    Page(path: "data/doc/apps.md", commands: 6),
    Page(path: "data/doc/debug.md", commands: 20),
    Page(path: "data/doc/reference.md", commands: 2),
  ]

  /// What is shown and not run: it installs packages and programs, which others of the tests do.
  static let notRun = [
    "README.md": [
      "packaging/demo       # builds, and opens two links in a session of its own that leaves nothing behind",
      "packaging/install    # to stay: below ~/.local, for root below /usr/local",
      "packaging/test    # every test, with real buses, desktop tools and browsers",
      "packaging/bench   # what a link costs, beside what it is compared with",
    ],
    "data/doc/start.md": ["packaging/install"],
  ]

  @Test(arguments: pages)
  func `what a page shows is what its commands say`(_ page: Page) throws {
    let documented = try DocumentedPage(page.path)
    #expect(documented.commands.count == page.commands)
    let place = try ReadersPlace()
    let answers = try place.type(documented.steps)
    try #require(answers.count == documented.commands.count, "\(answers.last?.output ?? "")")
    for (command, answer) in zip(documented.commands, answers) {
      let expected = command.output.map(ReadersPlace.withoutTimes)
      let lines = place.shown(answer.output)
      #expect(
        expected.matches(lines), "\(page.path): $ \(command.text)\n\(lines.joined(separator: "\n"))"
      )
      if command.output.isEmpty { #expect(answer.status == 0, "\(command.text)") }
    }
  }

  @Test func `what is not run is listed here`() throws {
    for page in try DocumentationTests.pages.map(DocumentedPage.init) {
      let shown = page.blocks.filter { $0.language == "sh" && !$0.text.hasPrefix("#!") }
        .flatMap { $0.text.split(separator: "\n").map(String.init) }
      #expect(shown == Self.notRun[page.path] ?? [], "\(page.path)")
    }
  }
}
