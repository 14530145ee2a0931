import DeeplinkTesting
import Foundation
import Testing

/// What reads the output: a terminal, a file, a pipe that closes.
@Suite(.timeLimit(.minutes(2))) struct OutputTests {
  let person: Person
  init() throws { person = try Person() }

  /// Runs a line with a terminal as its output (script(1)).
  private func onTerminal(_ line: String, environment: [String: String] = [:]) throws -> Finished {
    try person.run(
      ["script", "--quiet", "--return", "--command", line, "/dev/null"], environment: environment)
  }

  @Test(.enabled(if: Requirement.program("script")))
  func `a terminal gets colours and tables, a file neither`() throws {
    let terminal = try onTerminal("deeplink schemes")
    #expect(terminal.status == 0)
    #expect(terminal.output.contains("\u{1B}[1mSCHEME"))
    #expect(terminal.output.contains("com.example.demo    com.example.demo"))
    #expect(try !person.deeplink("schemes").output.contains("\u{1B}"))
    let explained = try onTerminal("deeplink explain nobody:x")
    #expect(explained.status == 1)
    #expect(explained.output.contains("\u{1B}[31mrefused"))
    #expect(try !person.deeplink("explain", "nobody:x").output.contains("\u{1B}"))
  }

  @Test(
    .enabled(if: Requirement.program("script")),
    arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
  func `a terminal that wants no colours gets tables alone`(_ wish: [String: String]) throws {
    let terminal = try onTerminal("deeplink schemes; deeplink nonsense", environment: wish)
    #expect(terminal.output.contains("SCHEME"))
    #expect(terminal.output.contains("hint: "))
    #expect(!terminal.output.contains("\u{1B}"))
  }

  @Test func `a reader that goes away ends the program without a word`() throws {
    let input = person.root.appending(path: "links")
    try String(repeating: "com.example.demo:greet\n", count: 20_000)
      .write(to: input, atomically: true, encoding: .utf8)
    for line in ["", "trap '' PIPE; "] {
      let done = try person.shell(
        line + "deeplink explain --stdin --json <\(input.path) | head -n 1; echo ${PIPESTATUS[0]}")
      #expect(done.errors == "", "\(done.errors)")
      #expect(done.lines.count == 2)
      #expect(done.lines.last == (line.isEmpty ? "141" : "4"))
    }
  }

  @Test func `output that cannot be written is an error`() throws {
    let done = try person.shell("deeplink schemes >/dev/full")
    #expect(done.status == 4)
    #expect(
      done.errors == "deeplink: the output cannot be written: No space left on device\n")
  }

  @Test func `closed descriptors are errors where they are used, and nowhere else`() throws {
    let output = try person.shell("deeplink schemes >&-")
    #expect(output.status == 4)
    #expect(output.errors == "deeplink: the output cannot be written: Bad file descriptor\n")
    let input = try person.shell("deeplink explain --stdin <&-")
    #expect(input.status == 1)
    #expect(input.errors == "deeplink: 'standard input' cannot be read: Bad file descriptor\n")
    #expect(try person.shell("deeplink schemes <&- 2>&-").status == 0)
  }
}
