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
    Page(path: "data/doc/debug.md", commands: 32),
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

  @Test(arguments: ["README.md", "data/doc/start.md"])
  func `the first link greets the reader`(page: String) throws {
    let place = try ReadersPlace()
    _ = try place.type(try DocumentedPage(page).steps)
    #expect(lines(of: place.notifications).first == "Hello, World")
  }

  @Test(
    .enabled(
      if: Requirement.program("chromium", "Xvfb"), "chromium or Xvfb is not installed"))
  func `a link of the page that a reader makes is clicked in a browser`() throws {
    let display = try Display()
    let place = try ReadersPlace(display: display.name)
    let world = place.desktop.world
    let made = try world.run([
      "sh", "-c",
      """
      cd && deeplink plugin new com.example.hello && deeplink plugin add --yes com.example.hello &&
        deeplink page --output links.html
      """,
    ])
    #expect(made.status == 0, "\(made.errors)")
    let page = try String(contentsOf: world.home.appending(path: "links.html"), encoding: .utf8)
    let link = try #require(page.firstMatch(of: /<a href="([^"]+)">/))
    try Data().write(to: place.notifications)
    let driver = try world.start(
      [
        "/usr/bin/python3",
        Repository.root.appending(path: "Tests/EndToEndTests/Browsers/chromium.py").path,
        "--scheme", "com.example.hello", "--href", String(link.1),
      ], takesLines: true)
    defer {
      driver.signal(SIGTERM)
      _ = driver.waitForEnd()
    }
    #expect(try driver.outputLine(2).contains(#""event": "clicked""#))
    #expect(try waitForLines(1, in: place.notifications) == ["Hello, name"])
    withExtendedLifetime(display) {}
  }

  @Test func `what is not run is listed here`() throws {
    for page in try DocumentationTests.pages.map(DocumentedPage.init) {
      let shown = page.blocks.filter { $0.language == "sh" && !$0.text.hasPrefix("#!") }
        .flatMap { $0.text.split(separator: "\n").map(String.init) }
      #expect(shown == Self.notRun[page.path] ?? [], "\(page.path)")
    }
  }
}
