import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkCommandLine

/// What is wrong is told in one sentence, with a hint, and the status that the manual names.
@Suite(.timeLimit(.minutes(2))) struct UsageTests {
  struct ErrorCase: Sendable, CustomTestStringConvertible {
    let id: String
    let arguments: [String]
    let expected: String
    var status: Int32 = 1
    var testDescription: String { id }
  }

  static let cases = [
    ErrorCase(
      id: "nothing at all", arguments: [],
      expected: """
        deeplink: 'deeplink' needs a command
        hint: one of open, call, explain, plugin, schemes, page, doctor, history, replay, grants, status, reload; `deeplink --help` says more
        """),
    ErrorCase(
      id: "misspelt command", arguments: ["expalin", "x:y"],
      expected: "deeplink: 'deeplink' has no command 'expalin'\nhint: did you mean 'explain'?"),
    ErrorCase(
      id: "unknown command", arguments: ["frobnicate"],
      expected: """
        deeplink: 'deeplink' has no command 'frobnicate'
        hint: `deeplink --help` lists the commands
        """),
    ErrorCase(
      id: "misspelt subcommand", arguments: ["plugin", "chek"],
      expected: "deeplink: 'deeplink plugin' has no command 'chek'\nhint: did you mean 'check'?"),
    ErrorCase(
      id: "no subcommand", arguments: ["plugin"],
      expected: """
        deeplink: 'deeplink plugin' needs a command
        hint: one of new, add, remove, list, show, check, enable, disable; `deeplink plugin --help` says more
        """),
    ErrorCase(
      id: "unknown value", arguments: ["plugin", "check", "--start", "maybe"],
      expected: "deeplink: '--start' takes one of no, closed, all, not 'maybe'"),
    ErrorCase(
      id: "command of another command", arguments: ["list"],
      expected:
        "deeplink: 'deeplink' has no command 'list'\nhint: did you mean `deeplink plugin list`?"
    ),
    ErrorCase(
      id: "misspelt word of an option", arguments: ["history", "--outcome", "deliverd"],
      expected: """
        deeplink: '--outcome' takes one of refused, cancelled, consent-unavailable, declined, \
        delivered, denied, expired, failed, interrupted, timed-out, not 'deliverd'
        hint: did you mean 'delivered'?
        """),
    ErrorCase(
      id: "no plugin in a folder", arguments: ["plugin", "add", "/nowhere"],
      expected: """
        deeplink: '/nowhere/plugin.json' cannot be read: No such file or directory
        hint: a plugin is a folder with a plugin.json; `deeplink plugin new` writes one
        """),
    ErrorCase(
      id: "misspelt option", arguments: ["explain", "--jsno", "x:y"],
      expected: "deeplink: 'deeplink explain' has no option '--jsno'\nhint: did you mean '--json'?"),
    ErrorCase(
      id: "unknown short option", arguments: ["explain", "-q", "x:y"],
      expected: """
        deeplink: 'deeplink explain' has no option '-q'
        hint: `deeplink explain --help` lists the options; what begins with a minus can stand behind \
        '--'
        """),
    ErrorCase(
      id: "option of another command", arguments: ["open", "--stdin"],
      expected: "deeplink: 'deeplink open' has no option '--stdin'"),
    ErrorCase(
      id: "value missing", arguments: ["explain", "x:y", "--manifest"],
      expected: "deeplink: '--manifest' needs a value\nhint: it is written --manifest FILE"),
    ErrorCase(
      id: "value too much", arguments: ["explain", "--json=yes", "x:y"],
      expected: "deeplink: '--json' takes no value\nhint: it is written --json"),
    ErrorCase(
      id: "no number", arguments: ["open", "--timeout", "soon", "x:y"],
      expected: "deeplink: '--timeout' takes a whole number from 1 to 86400, not 'soon'"),
    ErrorCase(
      id: "number out of range", arguments: ["open", "--timeout=0", "x:y"],
      expected: "deeplink: '--timeout' takes a whole number from 1 to 86400, not '0'"),
    ErrorCase(
      id: "argument missing", arguments: ["open"],
      expected: """
        deeplink: 'deeplink open' needs URL
        hint: `deeplink open --help` shows how it is used
        """),
    ErrorCase(
      id: "two links", arguments: ["open", "x:y", "x:z"],
      expected: """
        deeplink: 'deeplink open' has no place for 'x:z'
        hint: `deeplink open --help` shows how it is used
        """),
    ErrorCase(
      id: "nothing to explain", arguments: ["explain"],
      expected: "deeplink: 'deeplink explain' needs URL"),
    ErrorCase(
      id: "links from two places", arguments: ["explain", "--stdin", "x:y"],
      expected:
        "deeplink: links come from the command line or from standard input, not from both"),
    ErrorCase(
      id: "manifest that is not there", arguments: ["explain", "--manifest", "gone.json", "x:y"],
      expected: "deeplink: 'gone.json' cannot be read: No such file or directory"),
    ErrorCase(
      id: "manifest that is a folder", arguments: ["explain", "--manifest", "/", "x:y"],
      expected: "deeplink: '/' cannot be read: Is a directory"),
    ErrorCase(
      id: "misspelt plugin", arguments: ["plugin", "show", "com.example.dmeo"],
      expected: """
        deeplink: there is no plugin 'com.example.dmeo'
        hint: did you mean 'com.example.demo'?
        """),
    ErrorCase(
      id: "unknown plugin", arguments: ["plugin", "check", "org.nobody.Thing"],
      expected: """
        deeplink: there is no plugin 'org.nobody.Thing'
        hint: `deeplink plugin list` shows those there are
        """),
    ErrorCase(
      id: "nothing to revoke", arguments: ["grants", "revoke", "com.example.demo"],
      expected: """
        deeplink: nothing was allowed for good to 'com.example.demo'
        hint: `deeplink grants list` shows what was
        """),
    ErrorCase(
      id: "a word that steers the terminal", arguments: ["\u{1B}]0;title\u{07}"],
      expected: #"deeplink: 'deeplink' has no command '\u001b]0;title\u0007'"#),
    ErrorCase(
      id: "no session bus", arguments: ["open", "x:y"],
      expected: "deeplink: there is no session bus: ", status: 3),
    ErrorCase(
      id: "no session bus for status", arguments: ["status"],
      expected: "deeplink: there is no session bus: ", status: 3),
  ]

  @Test(arguments: cases) func `bad usage is told plainly`(_ error: ErrorCase) throws {
    let person = try Person()
    let done = try person.run(
      [Person.program] + error.arguments,
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"])
    #expect(done.errors.hasPrefix(error.expected), "\(done.errors)")
    #expect(done.status == error.status)
    #expect(done.output == "")
    let lines = done.errors.split(separator: "\n")
    #expect(lines.count <= 2 && lines.dropFirst().allSatisfy { $0.hasPrefix("hint: ") })
  }

  @Test func `a minus begins a link behind two of them, and is a link by itself`() throws {
    let person = try Person()
    for arguments in [["explain", "--", "--json"], ["explain", "-"]] {
      let done = try person.run([Person.program] + arguments)
      #expect(done.output.contains("not-absolute"), "\(arguments): \(done.errors)")
    }
  }

  @Test func `options stand before, between and behind arguments`() throws {
    let person = try Person()
    let manifest = Repository.root.appending(path: "data/plugins/com.example.demo/plugin.json").path
    let expected = try person.deeplink("explain", "--json", "--manifest", manifest, "x:y").output
    for arguments in [
      ["explain", "x:y", "--json", "--manifest", manifest],
      ["explain", "--manifest=\(manifest)", "x:y", "--json"],
    ] {
      #expect(try person.run([Person.program] + arguments).output == expected)
    }
  }

  // MARK: The table

  @Test func `every command runs or has commands, and says what it does`() {
    let commands = Command.deeplink.walk()
    #expect(commands.count >= 11)
    for (path, command) in commands {
      #expect((command.run == nil) == !command.subcommands.isEmpty, "\(path)")
      #expect(command.summary.first?.isLowercase == true && command.summary.last != ".", "\(path)")
      #expect(command.run == nil || !command.exitStatuses.isEmpty, "\(path)")
      let names = command.allOptions.map(\.name) + command.subcommands.map(\.name)
      #expect(Set(names).count == names.count, "\(path)")
    }
  }

  @Test func `help of every command names all that it takes, in 80 columns`() throws {
    let person = try Person()
    for (path, command) in Command.deeplink.walk() {
      let words = path.split(separator: " ").dropFirst().map(String.init)
      let help = try person.run([Person.program] + words + ["--help"])
      #expect(help.status == 0 && help.errors == "", "\(path)")
      #expect(help.output.hasPrefix("usage: \(path)"))
      for option in command.allOptions { #expect(help.output.contains("\n  \(option.usage)  ")) }
      for argument in command.arguments { #expect(help.output.contains("\n  \(argument.name)  ")) }
      for command in command.visibleSubcommands {
        #expect(help.output.contains("\n  \(command.name)  "))
      }
      #expect(help.lines.allSatisfy { $0.count <= 80 }, "\(path)")
      #expect(!help.output.contains("generate"), "\(path)")
    }
  }

  @Test func `help is given whatever else is wrong`() throws {
    let person = try Person()
    for arguments in [["explain", "--help"], ["explain", "--nonsense", "--help"]] {
      let done = try person.run([Person.program] + arguments)
      #expect(done.status == 0)
      #expect(done.output.hasPrefix("usage: deeplink explain "))
    }
    #expect(try person.deeplink("explain", "--", "--help").status == 1)
  }

  @Test func `the three programs have one version`() throws {
    let person = try Person()
    let versions = try ["deeplink", "deeplink-open", "deeplinkd"].map { name in
      let done = try person.run([Repository.program(name), "--version"])
      #expect(done.output.hasPrefix("\(name) "))
      return done.output.dropFirst(name.count)
    }
    #expect(Set(versions).count == 1)
  }
}
