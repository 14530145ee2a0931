import DeeplinkTesting
import Foundation
import Testing

/// Links that are clicked in real browsers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrowserTests {
  struct Browser: Sendable, CustomTestStringConvertible {
    let id: String
    let program: String
    let driver: String
    /// Whether a portal is on the bus, which Chromium asks before anything else.
    var hasPortal = false
    var testDescription: String { id }

    static let all = [
      Browser(id: "Chromium", program: "chromium", driver: "chromium.py"),
      Browser(
        id: "Chromium with a portal", program: "chromium", driver: "chromium.py", hasPortal: true),
      Browser(id: "Firefox", program: "firefox-esr", driver: "firefox.py"),
    ]
  }

  /// What only pages can hold: browsers take raw tabs and line ends, and blanks at the end, out of a
  /// link.
  private static let forPages = [
    LinkCase("a\nb", "ab", "ab"), LinkCase("a\r\nb\tc", "abc", "abc"),
    LinkCase("end  ", "end", "end"),
  ]

  @Test(arguments: Browser.all)
  func `a click reaches the action, with the daemon running or not`(_ browser: Browser) throws {
    guard Requirement.program(browser.program, "Xvfb", "python3") else {
      try Test.cancel("\(browser.program), Xvfb or python3 is not installed")
    }
    let links = LinkCase.all + Self.forPages
    #expect(links.count == 31)
    let display = try Display()
    let desktop = try Desktop.withDemonstration(
      extra: ["DISPLAY": display.name, "BROWSER": "false"], installedServices: browser.hasPortal)
    #expect(try desktop.daemonProcess() == nil)
    let driver = try desktop.world.start(
      [
        "/usr/bin/python3",
        Repository.root.appending(path: "Tests/EndToEndTests/Browsers/\(browser.driver)").path,
        "--scheme", "com.example.demo",
      ] + links.flatMap { ["--href", $0.url()] },
      takesLines: true)
    defer {
      // The browser is the driver's to end.
      driver.signal(SIGTERM)
      _ = driver.waitForEnd()
    }

    try expect("ready", driver.outputLine(1))
    for (index, link) in links.enumerated() {
      try expect("clicked", driver.outputLine(index + 2))
      let record = try desktop.record(index + 1)
      #expect(record.url == link.canonicalURL())
      #expect(record.parameters == ["name": link.name])
      try driver.send("next")
    }
    try expect("done", driver.outputLine(links.count + 2))
    let records = try desktop.records
    #expect(records.map(\.delivery) == ["launch"] + Array(repeating: "running", count: 30))
    #expect(Set(records.map(\.pid)).count == 1)
    withExtendedLifetime(display) {}
  }

  /// An event of the driver's; anything else is its account of what went wrong.
  private func expect(_ event: String, _ line: String) throws {
    guard line.contains(#""event": "\#(event)""#) else { throw TestingError(line) }
  }
}
