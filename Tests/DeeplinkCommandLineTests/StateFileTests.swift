import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// The files that the programs write for themselves, held against their schemas in `data/`.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(if: Schema.isInstalled, "python3-jsonschema is not installed"),
  .enabled(if: Requirement.program("update-desktop-database")))
struct StateFileTests {
  let world: World
  static let files = [
    "registration": "registration.json", "choices": "choices/plugins.json",
    "grants": "grants.json",
  ]

  init() throws {
    world = try World(extra: ["XDG_DATA_DIRS": "/nonexistent", "XDG_CONFIG_DIRS": "/nonexistent"])
  }

  private func deeplink(_ arguments: String...) throws {
    let done = try world.run([Repository.program("deeplink")] + arguments)
    #expect(done.status == 0, "\(arguments): \(done.errors)")
  }

  private func path(_ schema: String) -> URL {
    world.stateHome.appending(path: "deeplinkd/\(Self.files[schema] ?? "")")
  }

  /// Those files that there are, as JSON; each is valid.
  @discardableResult private func valid() throws -> [String: JSONValue] {
    var found: [String: JSONValue] = [:]
    for schema in Self.files.keys {
      guard let bytes = try? Data(contentsOf: path(schema)) else { continue }
      let document = try JSONValue(json5: Array(bytes))
      #expect(try Schema(schema).errors(in: [document.description]) == [""])
      found[schema] = document
    }
    return found
  }

  @Test func `what the programs write is valid, from the first plugin to the last`() throws {
    let demo = Repository.root.appending(path: "data/plugins/com.example.demo").path
    let photos = Repository.root.appending(path: "Tests/Manifests/com.example.Photos").path
    // A list without its last line end, and with a byte that is no UTF-8.
    let list = try world.write("", to: "home/.config/mimeapps.list")
    try Data("[Default Applications]\nx-scheme-handler/com.example.demo=caf".utf8 + [0xE9])
      .write(to: list)
    try world.write(
      "[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true %u\n"
        + "MimeType=x-scheme-handler/com.example.demo;\n",
      to: "home/.local/share/applications/other.desktop")
    try deeplink("plugin", "add", "--yes", demo)
    #expect(try valid()["choices"]?["order"] == ["com.example.demo"])
    try deeplink("plugin", "enable", "--make-default", "com.example.demo")
    #expect(try valid()["registration"]?["taken"] == ["com.example.demo"])
    try deeplink("plugin", "add", "--yes", "--allow", photos)
    #expect(try valid()["grants"]?["grants"]?.array?.count == 3)
    try deeplink("plugin", "disable", "com.example.Photos")
    #expect(try valid()["choices"]?["disabled"] == ["com.example.Photos"])
    try deeplink("schemes", "--owner", "com.example.demo", "com.example.demo")
    #expect(try valid()["choices"]?["owners"] == ["com.example.demo": "com.example.demo"])
    #expect(try valid().count == 3)
    for file in Self.files.values.map({ "deeplinkd/\($0)" }) + ["deeplinkd", "deeplinkd/choices"] {
      let path = world.stateHome.appending(path: file).path
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == (file.hasSuffix(".json") ? 0o600 : 0o700), "\(file)")
    }
    try deeplink("plugin", "remove", "com.example.Photos")
    try deeplink("plugin", "remove", "com.example.demo")
    let left = try valid()
    #expect(left["registration"] == nil && left["choices"] == nil)
  }

  struct Wrong: CustomTestStringConvertible, Sendable {
    var schema: String
    var text: String
    var testDescription: String { "\(schema): \(text)" }
  }

  static let wrong: [Wrong] =
    [
      "[]", #"{"lists": []}"#, #"{"lists": {"/a": {"edits": {}}}}"#, #"{"lists": {"/a": 5}}"#,
      #"{"lists": {"/a": {"new": "yes"}}}"#, #"{"lists": {"/a": {"edits": [{}]}}}"#,
      #"{"lists": {"/a": {"edits": [{"type": "t", "group": "G", "entries": [], "former": []}]}}}"#,
      #"{"entries": "/a"}"#, #"{"entries": {"/a": 5}}"#, #"{"entries": {"/a": "\u0100"}}"#,
      #"{"cache": {}}"#, #"{"folders": "/a"}"#, #"{"folders": [5]}"#, #"{"taken": [null]}"#,
      #"{"taken": ["a b"]}"#,
    ].map { Wrong(schema: "registration", text: $0) }
    + [
      "[]", #"{"order": "a.b"}"#, #"{"order": ["a"]}"#, #"{"order": [5]}"#,
      #"{"disabled": {"a.b": true}}"#, #"{"disabled": ["../a.b"]}"#, #"{"owners": ["a.b"]}"#,
      #"{"owners": {"a b": "a.b"}}"#, #"{"owners": {"a": "b"}}"#,
    ].map { Wrong(schema: "choices", text: $0) }
    + [
      "[]", "{}", #"{"grants": {}}"#, #"{"version": 1}"#, #"{"grants": [5]}"#,
      #"{"grants": [{"plugin": "a.b", "route": "c", "source": "*"}]}"#,
      #"{"grants": [{"plugin": "a.b", "route": "c", "source": 5, "action": "x"}]}"#,
    ].map { Wrong(schema: "grants", text: $0) }

  @Test func `what a schema refuses is damaged, or nothing, to its reader`() throws {
    let directories = BaseDirectories(environment: world.environment)
    for row in Self.wrong {
      #expect(try Schema(row.schema).errors(in: [row.text]) != [""], "\(row.testDescription)")
      let file = path(row.schema)
      try world.write(row.text, to: String(file.path.dropFirst(world.root.path.count + 1)))
      switch row.schema {
      case "registration":
        #expect(throws: Registration.Damaged.self, "\(row.text)") {
          try Registration.read(directories)
        }
      case "choices": #expect(PluginChoices(directories) == PluginChoices(), "\(row.text)")
      default: #expect((try? Grants.read(file.path))?.list.isEmpty != false, "\(row.text)")
      }
    }
    #expect(Self.wrong.count == 31)
  }

  @Test func `every schema is one, and describes each of its members`() throws {
    let folder = Repository.root.appending(path: "data").path
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".schema.json") }.map { String($0.dropLast(".schema.json".count)) }
    #expect(Set(names) == Set(Self.files.keys).union(["plugin", "settings"]))
    for name in names {
      #expect(try Schema(name).errors(in: []).isEmpty)
      let schema = try JSONValue(
        json5: Array(Data(contentsOf: URL(filePath: "\(folder)/\(name).schema.json"))))
      #expect(schema["title"]?.string != nil && schema["description"]?.string != nil)
      #expect(undescribed(schema, in: schema, at: name) == [])
    }
  }

  /// Members without words, neither their own nor of the definition that they name.
  private func undescribed(_ value: JSONValue, in schema: JSONValue, at path: String) -> [String] {
    var found = (value.array ?? []).enumerated().flatMap {
      undescribed($1, in: schema, at: "\(path)[\($0)]")
    }
    for (key, member) in value.object ?? [:] {
      // Within a condition the members are those that stand elsewhere.
      if ["if", "then", "else", "dependentSchemas", "contains"].contains(key) { continue }
      if key == "properties" {
        for (name, property) in member.object ?? [:] {
          let definition = property["$ref"]?.string.flatMap {
            schema["$defs"]?[String($0.dropFirst("#/$defs/".count))]
          }
          // What may be anything here is told elsewhere.
          if property != true, (property["description"] ?? definition?["description"]) == nil {
            found.append("\(path).\(name)")
          }
        }
      }
      found += undescribed(member, in: schema, at: "\(path).\(key)")
    }
    return found
  }
}
