import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkCommandLine

/// The pages of the manual as they are installed: sound, and telling what the sources have.
@Suite(.timeLimit(.minutes(2))) struct ManualTests {
  static let names = [
    "deeplink.1", "deeplink.7", "deeplink-open.1", "deeplink-plugin.5", "deeplinkd.1",
  ]
  let person: Person
  init() throws { person = try Person() }

  private func page(_ name: String) throws -> String {
    let template = try Data(contentsOf: Repository.root.appending(path: "data/man/\(name).in"))
    let done = try person.deeplink("generate", "manual", input: template)
    #expect(done.status == 0, "\(done.errors)")
    return done.output
  }

  /// The words of the items `.It Va a , Va b`, or of another macro.
  private func items(_ page: String, _ macro: String = "Va") -> Set<String> {
    var words: Set<String> = []
    for line in page.split(separator: "\n") where line.hasPrefix(".It \(macro) ") {
      words.formUnion(line.split(separator: " ").dropFirst().map(String.init))
    }
    return words.subtracting([macro, ","])
  }

  @Test func `every page of the repository is known here`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Repository.root.appending(path: "data/man").path)
    #expect(files.sorted() == Self.names.map { "\($0).in" }.sorted())
  }

  @Test(.enabled(if: Requirement.program("mandoc")), arguments: names)
  func `a page has no faults`(_ name: String) throws {
    try person.write(try page(name), to: name)
    let done = try person.run([
      "mandoc", "-T", "lint", "-W", "warning", person.root.appending(path: name).path,
    ])
    #expect(done.status == 0 && done.output == "", "\(done.output)")
    #expect(try !page(name).contains("\n@"))
  }

  @Test func `the date is that of the source where one is given`() throws {
    let done = try person.deeplink(
      "generate", "manual", input: Data(".Dd @date@\n".utf8),
      environment: ["SOURCE_DATE_EPOCH": "951782400"])
    #expect(done.output == ".Dd February 29, 2000\n")
  }

  @Test func `deeplink(1) has every command, option and argument`() throws {
    let page = try page("deeplink.1")
    for (path, command) in Command.deeplink.walk() where command.run != nil {
      let words = path.split(separator: " ").dropFirst().joined(separator: " ")
      let section = try #require(
        page.range(of: "\n.Ss \(words)\n").map { page[$0.upperBound...] })
      let text = section.prefix(upTo: section.range(of: "\n.Ss ")?.lowerBound ?? section.endIndex)
      for option in command.options { #expect(text.contains(".It Fl -\(option.name)"), "\(path)") }
      for argument in command.arguments { #expect(text.contains(".It Ar \(argument.name)\n")) }
    }
  }

  @Test func `deeplink(1) has the members, codes and remarks of explain, and no others`() throws {
    let page = try page("deeplink.1")
    let start = try #require(page.range(of: ".Sh JSON OF EXPLAIN")?.upperBound)
    let end = try #require(page.range(of: ".Sh ENVIRONMENT")?.lowerBound)
    let section = page[start..<end]
    let answer = try person.deeplink("explain", "--json", "com.example.demo:greet")
    let object = try #require(try JSONValue(json5: Array(answer.output.utf8)).object)
    #expect(items(String(section)) == Set(object.keys))
    #expect(
      items(String(section), "Li")
        == Set(Refusal.Code.allCases.map(\.rawValue) + Remark.allCases.map(\.rawValue)))
    let components = try #require(object["url"]?.object)
    for key in components.keys { #expect(section.contains(".Va \(key)"), "\(key)") }
    for key in ["plugin", "route", "matched", "reason", "code", "message"] {
      #expect(section.contains(".Va \(key)"), "\(key)")
    }
  }

  @Test func `deeplink-plugin(5) has every key of a manifest, and no others`() throws {
    let schema = try JSONValue(
      json5: Array(
        Data(contentsOf: Repository.root.appending(path: "data/plugin.schema.json"))))
    var keys: Set<String> = []
    func collect(_ value: JSONValue) {
      for (key, member) in value.object ?? [:] {
        if key == "properties" { keys.formUnion(member.object?.keys.map { $0 } ?? []) }
        collect(member)
      }
      for element in value.array ?? [] { collect(element) }
    }
    collect(schema)
    keys.remove("$schema")
    let page = try page("deeplink-plugin.5")
    let kinds = Set(
      page.split(separator: "\n").filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) })
    #expect(items(page).union(kinds.subtracting(["Targets"])) == keys)
  }

  @Test func `deeplinkd(1) has every setting with its default, and no others`() throws {
    let schema = try JSONValue(
      json5: Array(
        Data(contentsOf: Repository.root.appending(path: "data/settings.schema.json"))))
    let page = try page("deeplinkd.1")
    let start = try #require(page.range(of: ".Sh SETTINGS")?.upperBound)
    let end = try #require(page.range(of: ".Sh SIGNALS")?.lowerBound)
    let section = String(page[start..<end])
    var keys: Set<String> = []
    func collect(_ value: JSONValue) throws {
      for (key, member) in value["properties"]?.object ?? [:] where key != "$schema" {
        keys.insert(key)
        try collect(member)
        let item = try #require(
          section.components(separatedBy: "\n.It Va \(key)\n").dropFirst().first)
        let words = item.components(separatedBy: "\n.It ")[0] + "\n"
        switch member["default"] {
        case .integer(let number): #expect(words.contains("Default \(number).\n"), "\(key)")
        case .boolean(let flag): #expect(words.contains("Default\n.Li \(flag) .\n"), "\(key)")
        default: break
        }
      }
    }
    try collect(schema)
    #expect(items(section) == keys)
  }

  @Test func `deeplink(7) names every file that has a schema`() throws {
    let page = try page("deeplink.7")
    for file in [
      "$XDG_CONFIG_HOME/deeplinkd/settings.json", "$XDG_STATE_HOME/deeplinkd/registration.json",
      "$XDG_STATE_HOME/deeplinkd/choices/plugins.json", "$XDG_STATE_HOME/deeplinkd/grants.json",
    ] {
      #expect(page.contains("\n.It Pa \(file)\n"), "\(file)")
    }
  }

  @Test func `the example of deeplink-plugin(5) is a manifest without errors`() throws {
    let page = try page("deeplink-plugin.5")
    let start = try #require(page.range(of: ".Bd -literal\n")?.upperBound)
    let end = try #require(page.range(of: "\n.Ed")?.lowerBound)
    try person.write(String(page[start..<end]), to: "plugin.json")
    let manifest = person.root.appending(path: "plugin.json").path
    let done = try person.deeplink("plugin", "check", "--start", "no", manifest)
    #expect(done.status == 0 && done.output == "", "\(done.output)")
  }

  @Test(arguments: ["deeplink-open", "deeplinkd"])
  func `the other programs' pages have the options that their help has`(program: String) throws {
    let help = try person.run([Repository.program(program), "--help"]).output
    let options = help.split(separator: "\n").filter { $0.hasPrefix("  --") }
      .compactMap { $0.split(whereSeparator: { " [=".contains($0) }).first?.dropFirst(2) }
    #expect(options.count >= 2)
    let page = try page("\(program).1")
    let documented = page.split(separator: "\n").filter { $0.hasPrefix(".It Fl -") }
      .compactMap { $0.dropFirst(8).split(separator: " ").first }
    #expect(Set(options) == Set(documented))
  }
}
