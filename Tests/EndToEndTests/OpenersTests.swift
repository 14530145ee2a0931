import DeeplinkTesting
import Foundation
import Testing

/// One link by every way in: what the action receives is the same.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OpenersTests {
  @Test func `there are cases`() {
    #expect(Opener.all.count == 18)
    #expect(LinkCase.all.count == 28)
  }

  @Test(arguments: Opener.all)
  func `every way in hands over the same URL and parameters`(_ opener: Opener) throws {
    let missing = opener.programs.filter { !Requirement.program($0) }
    guard missing.isEmpty else {
      try Test.cancel("not installed: \(missing.joined(separator: ", "))")
    }
    let display = opener.needsDisplay ? try Display() : nil
    var environment = opener.environment
    // Without a handler xdg-open would go on to start a web browser.
    environment["BROWSER"] = "false"
    environment["DISPLAY"] = display?.name ?? environment["DISPLAY"]
    let desktop = try Desktop.withDemonstration(
      extra: environment, installedServices: opener.needsPortal)
    #expect(try desktop.daemonProcess() == nil)

    let links = LinkCase.all.filter { !opener.refuses.contains($0.written) }
    for (index, link) in links.enumerated() {
      let done = try desktop.world.run(opener.command(link.url()))
      #expect(done.status == 0, "\(link.written): \(done.output)\(done.errors)")
      let record = try desktop.record(index + 1)
      #expect(record.url == link.canonicalURL())
      #expect(record.parameters == ["name": link.name])
    }
    let records = try desktop.records
    #expect(records.count == LinkCase.all.count - opener.refuses.count)
    #expect(
      records.map(\.delivery) == ["launch"] + Array(repeating: "running", count: links.count - 1))
    #expect(Set(records.map(\.pid)).count == 1)
    withExtendedLifetime(display) {}
  }

  @Test(.enabled(if: Requirement.program("gio", "gdbus", "busctl", "xdg-open")))
  func `the URL as it was sent travels beside the canonical one`() throws {
    let desktop = try Desktop.withDemonstration(extra: ["DISPLAY": ":none", "BROWSER": "false"])
    // These programs change nothing of a link; others do, and what they send is what is raw then.
    let openers = Opener.all.filter {
      ["xdg-open", "gio open", "Dispatcher1.Open, gdbus", "Application.Open, busctl"]
        .contains($0.id)
    }
    #expect(openers.count == 4)
    for (index, opener) in openers.enumerated() {
      let link = LinkCase(#"a b"é%c3%a9"#)
      #expect(
        try desktop.world.run(opener.command(link.url("com.example.demo://Greet"))).status == 0)
      let record = try desktop.record(index + 1)
      #expect(record.rawURL == link.url("com.example.demo://Greet"))
    }
  }
}
