import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// The page on security: every attack on it has tests, and they are there.
@Suite struct ThreatModelTests {
  /// A row of the page's tables: what its last column names.
  private struct Row {
    let attack: String
    let tests: [String]
  }

  private static let page = Repository.root.appending(path: "data/doc/security.md")

  /// Rows of four columns, but for the heading and the line below it.
  private static func rows() throws -> [Row] {
    try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n").compactMap { line in
      let columns = line.components(separatedBy: " | ")
      guard line.hasPrefix("| "), columns.count == 4, !line.hasPrefix("| Attack"),
        !line.hasPrefix("| ---")
      else {
        return nil
      }
      let tests = columns[3].trimmingCharacters(in: CharacterSet(charactersIn: " |"))
      return Row(
        attack: String(columns[0].dropFirst(2)), tests: tests.components(separatedBy: "<br>"))
    }
  }

  /// `Suite: name` of every test of the sources.
  private static func tests() throws -> Set<String> {
    let folder = Repository.root.appending(path: "Tests")
    let files = try #require(
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var names: Set<String> = []
    for case let file as URL in files where file.lastPathComponent.hasSuffix("Tests.swift") {
      var suite = ""
      for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
        if let name = line.firstMatch(of: /struct (\w+Tests)\b/)?.1 { suite = String(name) }
        if let name = line.firstMatch(of: /func `([^`]+)`/)?.1 { names.insert("\(suite): \(name)") }
      }
    }
    return names
  }

  @Test func `every test that the page names exists`() throws {
    let rows = try Self.rows()
    let tests = try Self.tests()
    #expect(rows.count == 25)
    #expect(tests.count >= 300)
    for row in rows {
      #expect(!row.tests.isEmpty)
      for test in row.tests { #expect(tests.contains(test), "\(row.attack)") }
    }
  }

  @Test func `the manifest of the sign-in has no fault`() throws {
    let parts = try String(contentsOf: Self.page, encoding: .utf8).components(separatedBy: "```")
    try #require(parts.count == 3 && parts[1].hasPrefix("json\n"))
    let (plugin, diagnostics) = Plugin.read(
      Array(parts[1].dropFirst(5).utf8), file: "data/doc/security.md", folder: "/")
    #expect(plugin?.routes.first?.preset == .oauthRedirect)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  @Test(arguments: [
    "CVE-2014-9622", "CVE-2017-18266", "CVE-2018-1000006", "CVE-2022-45062", "CVE-2026-4519",
    "CVE-2020-27748", "CVE-2019-11354", "CVE-2026-45035", "CVE-2025-54133", "CVE-2024-37182",
    "CVE-2026-45037", "CVE-2021-21381", "CVE-2024-32462", "CVE-2020-11934", "CVE-2021-25631",
    "RFC 8252", "CWE-770", "CWE-532", "CWE-1333",
  ])
  func `the known attacks of the field are on it`(name: String) throws {
    #expect(try Self.rows().filter { $0.attack.contains(name) }.count == 1)
  }
}
