import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkCommandLine

/// `deeplink grants`, which reads and writes the person's file itself.
@Suite(.timeLimit(.minutes(2))) struct GrantsCommandTests {
  let person: Person
  let file: String

  init() throws {
    person = try Person()
    file = person.root.path + "/.local/state/deeplinkd/grants.json"
    let photos = Repository.root.appending(path: "Tests/Manifests/com.example.Photos/plugin.json")
    let plugin = try Plugin.manifest(at: photos.path)
    var grants = Grants()
    grants.allowAll(plugin, time: 1)
    var old = Grants.Grant(
      plugin: plugin, route: plugin.routes[1], source: "unit:org.example.\u{1B}Mail", time: 2)
    old.action = "what it was"
    grants.add(old)
    try grants.write(file)
  }

  @Test func `the list tells what holds, and what does no more`() throws {
    let rows = try person.deeplink("grants", "list").lines.map { $0.split(separator: "\t") }
    #expect(
      rows.map { $0.prefix(4).joined(separator: " ") } == [
        "com.example.Photos import * granted", "com.example.Photos tag * granted",
        "com.example.Photos rate * granted",
        #"com.example.Photos import unit:org.example.\u001bMail void"#,
      ])
    let json = try person.deeplink("grants", "list", "--json").lines.map {
      try JSONValue(json5: Array($0.utf8))
    }
    #expect(json.map { $0["state"] } == ["granted", "granted", "granted", "void"])
    #expect(json[3]["action"] == "what it was" && json[3]["time"]?.number == 2)
  }

  @Test func `a plugin, a route or a source is taken back`() throws {
    func count() throws -> Int { try Grants.read(file).list.count }
    let known = try person.deeplink(
      "grants", "revoke", "com.example.Photos/import", "--source", "*")
    #expect(known.status == 0 && known.output == "" && known.errors == "")
    #expect(try count() == 3)
    #expect(try person.deeplink("grants", "revoke", "com.example.Photos/import").status == 0)
    #expect(try count() == 2)
    #expect(try person.deeplink("grants", "revoke", "com.example.Photos/import").status == 1)
    #expect(try person.deeplink("grants", "revoke", "com.example.Photos").status == 0)
    #expect(try count() == 0)
    #expect(try person.deeplink("grants", "list").output == "")
  }

  @Test func `a file that is none is told of, and left alone`() throws {
    try "{".write(toFile: file, atomically: true, encoding: .utf8)
    for arguments in [["list"], ["revoke", "com.example.Photos"]] {
      let done = try person.run([Person.program, "grants"] + arguments)
      #expect(done.status == 1)
      #expect(
        done.errors == "deeplink: the grants cannot be used: '\(file)' is no list of grants\n")
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "{")
  }
}
