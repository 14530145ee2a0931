import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkTesting
import DeeplinkWire
import Foundation
import Testing

/// The tables of the documentation hold all that the programs know, and nothing else.
struct DocumentedFactsTests {
  private static let debug = "data/doc/debug.md"
  private static let reference = "data/doc/reference.md"

  /// The rows of the table under a heading, without its head; the cells without backquotes.
  private static func table(_ heading: String, of page: String) throws -> [[String]] {
    let lines = try DocumentedPage(page).text.components(separatedBy: "\n")
    let section = lines.drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    let rows = section.filter { $0.hasPrefix("|") }.map { line in
      line.dropFirst().dropLast().components(separatedBy: " | ").map {
        $0.replacing("`", with: "").trimmed
      }
    }
    try #require(rows.count > 2, "\(page) has no table under '\(heading)'")
    return Array(rows.dropFirst(2))
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
  }

  @Test func `every refusal is explained, in the order in which they are looked for`() throws {
    let rows = try Self.table("Refusals", of: Self.debug)
    #expect(rows.map { $0[0] } == Refusal.Code.allCases.map(\.rawValue))
  }

  @Test func `every outcome is explained, with each reason to fail`() throws {
    let rows = try Self.table("Outcomes", of: Self.debug)
    #expect(
      rows.map { $0[0] } == DeeplinkWire.DeliveryState.allCases.filter(\.isOutcome).map(\.rawValue))
    let failed = try #require(rows.first { $0[0] == "failed" })
    for reason in FailureReason.allCases { #expect(failed[2].contains("\(reason.rawValue):")) }
  }

  /// The names stand in the sources of the command line, and in what the doctor says.
  @Test(
    .enabled(
      if: Requirement.program("gio", "xdg-open", "update-desktop-database"),
      "the doctor's tools are not installed"))
  func `every check of the doctor is explained`() throws {
    let folder = Repository.root.appending(path: "Sources/DeeplinkCommandLine/Commands")
    var names: Set<String> = []
    for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    where file.contains("Check") || file.contains("Doctor") {
      guard file.hasSuffix(".swift") else { continue }
      let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      for match in source.matches(
        of: /(?:Check\(\s*name: |\bcheck\(\s*|\.(?:good|bad|warning)\(\s*)"([^"\\]+)"/)
      { names.insert(String(match.1)) }
    }
    #expect(names.count >= 20)
    let place = try ReadersPlace()
    let said = try place.desktop.world.run([Repository.program("deeplink"), "doctor", "--json"])
    let checks = try said.output.split(separator: "\n").map {
      try JSONValue(json5: Array($0.utf8))["check"]?.string
    }
    #expect(checks.count >= 12)
    names.formUnion(checks.compactMap(\.self))
    let rows = try Self.table("What the doctor looks at", of: Self.debug)
    #expect(Set(rows.map { $0[0] }) == names)
    #expect(rows.count == names.count)
  }

  @Test func `the keys of a manifest are those of its schema`() throws {
    let schema = try JSONValue(json5: Array(try Self.text("data/plugin.schema.json").utf8))
    let definitions = schema["$defs"]
    func keys(_ value: JSONValue?) -> Set<String> {
      Set(value?["properties"]?.object?.keys.map { $0 } ?? [])
    }
    var expected = [
      "plugin": keys(schema), "route": keys(definitions?["route"]),
      "parameter": keys(definitions?["parameter"]).union(keys(definitions?["valueRule"])),
      "sandbox": keys(definitions?["sandbox"]?["anyOf"]?.array?.last),
    ]
    for (kind, action) in definitions?["action"]?["properties"]?.object ?? [:] {
      expected[kind] = keys(action)
    }
    #expect(expected.count == 11)
    #expect(!expected.values.contains([]))
    var found: [String: Set<String>] = [:]
    for row in try Self.table("Manifest", of: Self.reference) {
      for place in row[0].components(separatedBy: ", ") { found[place, default: []].insert(row[1]) }
    }
    #expect(found == expected)
  }

  @Test func `the settings are shown with the defaults of the daemon`() throws {
    let block = try #require(
      try DocumentedPage(Self.reference).blocks.first { $0.language == "json5" })
    let value = try JSONValue(json5: Array(block.text.utf8))
    var diagnostics: [Diagnostic] = []
    #expect(Settings(json: value, file: "settings.json", diagnostics: &diagnostics) == Settings())
    #expect(diagnostics.isEmpty)
    let schema = try JSONValue(json5: Array(try Self.text("data/settings.schema.json").utf8))
    #expect(Self.keys(of: value) == Self.keys(inSchema: schema).filter { $0 != "$schema" })
  }

  /// `queue`, `queue.total`, …, sorted.
  private static func keys(of value: JSONValue) -> [String] {
    (value.object ?? [:]).flatMap { key, value in
      [key] + keys(of: value).map { "\(key).\($0)" }
    }.sorted()
  }

  private static func keys(inSchema schema: JSONValue) -> [String] {
    (schema["properties"]?.object ?? [:]).flatMap { key, value in
      [key] + keys(inSchema: value).map { "\(key).\($0)" }
    }.sorted()
  }

  @Test func `the interfaces are those of the contract`() throws {
    var expected: Set<String> = []
    for interface in ["Dispatcher1", "Handler1"] {
      let xml = try Self.text("data/interfaces/org.deeplinkd.\(interface).xml")
      for match in xml.matches(of: /<(?:method|signal|property)[^>]* name="([^"]+)"/) {
        expected.insert("\(interface).\(match.1)")
      }
    }
    #expect(expected.count == 19)
    let rows = try Self.table("D-Bus", of: Self.reference)
    #expect(Set(rows.flatMap { $0[0].components(separatedBy: ", ") }) == expected)
  }

  @Test func `every command is listed`() throws {
    let manual = try World().run(
      [Repository.program("deeplink"), "generate", "manual"],
      input: Data(try Self.text("data/man/deeplink.1.in").utf8)
    ).output
    let commands = manual.components(separatedBy: "\n").filter { $0.hasPrefix(".Nm deeplink Cm ") }
      .map { line in
        line.dropFirst(".Nm deeplink Cm ".count).split(separator: " ").prefix {
          $0.allSatisfy { $0.isLowercase || $0 == "-" }
        }.joined(separator: " ")
      }
    #expect(commands.count > 15)
    let rows = try Self.table("Commands", of: Self.reference)
    #expect(
      rows.map { $0[0].replacing("deeplink ", with: "") }.filter { !$0.contains("deeplink") }
        .sorted()
        == commands.sorted())
  }

  @Test func `the exit codes are those of the contract`() throws {
    let codes = [
      ExitCode.accepted, ExitCode.refused, ExitCode.unreachable, ExitCode.failed,
    ]
    #expect(try Self.table("Exit codes", of: Self.reference).map { $0[0] } == codes.map { "\($0)" })
  }
}
