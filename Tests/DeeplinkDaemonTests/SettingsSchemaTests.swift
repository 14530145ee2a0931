import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkDaemon

/// `data/settings.schema.json`, held against what reads the file.
@Suite(.enabled(if: Schema.isInstalled, "python3-jsonschema is not installed"))
struct SettingsSchemaTests {
  /// A member that holds no further ones.
  private struct Member {
    var path: [String]
    var description: JSONValue
    /// A document with this member alone.
    func document(_ value: JSONValue) -> JSONValue {
      path.reversed().reduce(value) { .object([$1: $0]) }
    }
  }

  private func members() throws -> [Member] {
    func collect(_ schema: JSONValue, _ path: [String]) -> [Member] {
      guard let properties = schema["properties"]?.object else {
        return [Member(path: path, description: schema)]
      }
      return properties.sorted { $0.key < $1.key }.flatMap { collect($0.value, path + [$0.key]) }
    }
    let bytes = try Data(contentsOf: Repository.root.appending(path: "data/settings.schema.json"))
    return collect(try JSONValue(json5: Array(bytes)), []).filter { $0.path != ["$schema"] }
  }

  private func read(_ document: JSONValue) -> (settings: Settings, faults: [Diagnostic]) {
    var faults: [Diagnostic] = []
    let settings = Settings(json: document, file: "settings.json", diagnostics: &faults)
    return (settings, faults)
  }

  /// How many values a setting is made of, those of parts included.
  private func count(_ value: Any) -> Int {
    Mirror(reflecting: value).children.reduce(0) { sum, child in
      child.value is Settings.Queue || child.value is Settings.Rates
        || child.value is Settings.History ? sum + count(child.value) : sum + 1
    }
  }

  @Test func `the defaults of the code are those of the schema, member by member`() throws {
    let members = try members()
    for member in members {
      let value = try #require(member.description["default"], "\(member.path)")
      let other: JSONValue
      switch value {
      case .integer(let number): other = .integer(number + 1)
      case .boolean(let flag): other = .boolean(!flag)
      case .array: other = member.path == ["outgoingSchemes"] ? ["sms"] : ["/ca.pem"]
      default: other = ["com.example.Photos/import": "deny"]
      }
      let same = read(member.document(value))
      #expect(same.settings == Settings() && same.faults.isEmpty, "\(member.path)")
      // Else a member that is not read at all would pass.
      let changed = read(member.document(other))
      #expect(changed.settings != Settings() && changed.faults.isEmpty, "\(member.path)")
    }
    #expect(members.count == count(Settings()))
  }

  static let right = [
    "{}", #"{"$schema": "https://deeplinkd.org/schemas/settings.schema.json"}"#,
    "{maximumLength: 256, maximumHops: 0, launchTimeout: 0.5, timeout: 86400,}",
    "{queue: {perTarget: 1}, history: {days: 3650}, rates: {}, /* none */ outgoingSchemes: []}",
    #"{"consent": {"com.example.A": "allow", "a.b/c_d-1": "ask"}}"#,
    #"{"certificateAuthorities": ["/etc/ssl/mine.pem"], "outgoingSchemes": ["web+a"]}"#,
  ]

  static let wrong = [
    "[]", "5", #"{"timeouts": 5}"#, #"{"maximumLength": 255}"#, #"{"maximumLength": 1048577}"#,
    #"{"maximumLength": "65536"}"#, #"{"maximumHops": -1}"#, #"{"maximumHops": 1.5}"#,
    #"{"maximumHops": 101}"#, #"{"launchTimeout": 0}"#, #"{"timeout": 86401}"#,
    #"{"timeout": null}"#, #"{"expiry": "60"}"#, #"{"queue": 5}"#, #"{"queue": {"each": 5}}"#,
    #"{"queue": {"perTarget": 0}}"#, #"{"queue": {"perTarget": 65537}}"#,
    #"{"queue": {"total": 262145}}"#, #"{"rates": []}"#, #"{"rates": {"enabled": "no"}}"#,
    #"{"rates": {"$schema": "x"}}"#, #"{"rates": {"burst": 0}}"#, #"{"rates": {"perSecond": 0.5}}"#,
    #"{"rates": {"totalBurst": 1000001}}"#, #"{"rates": {"totalPerSecond": true}}"#,
    #"{"consent": []}"#, #"{"consent": {"com.example.A": "yes"}}"#,
    #"{"consent": {"com.example.A": true}}"#, #"{"consent": {"example": "deny"}}"#,
    #"{"consent": {"com.example.A/": "deny"}}"#, #"{"consent": {"com.example.A/b/c": "deny"}}"#,
    #"{"consent": {"com.example.A/b c": "deny"}}"#, #"{"history": false}"#,
    #"{"history": {"enabled": 1}}"#, #"{"history": {"values": "all"}}"#,
    #"{"history": {"days": 0}}"#, #"{"history": {"days": 3651}}"#,
    #"{"history": {"entries": 0}}"#, #"{"history": {"entries": 10000001}}"#,
    #"{"outgoingSchemes": "https"}"#, #"{"outgoingSchemes": [5]}"#,
    #"{"outgoingSchemes": ["file"]}"#, #"{"outgoingSchemes": ["javascript"]}"#,
    #"{"outgoingSchemes": ["https:"]}"#, #"{"outgoingSchemes": ["HTTPS"]}"#,
    #"{"certificateAuthorities": {}}"#, #"{"certificateAuthorities": ["mine.pem"]}"#,
  ]

  @Test func `reader and schema take the same files and refuse the same`() throws {
    let documents = try (Self.right + Self.wrong).map { try JSONValue(json5: $0) }
    let errors = try Schema("settings").errors(in: documents.map(\.description))
    for (index, document) in documents.enumerated() {
      let isRight = index < Self.right.count
      let faults = read(document).faults
      #expect(faults.isEmpty == isRight, "\(document): \(faults)")
      #expect(errors[index].isEmpty == isRight, "\(document): \(errors[index])")
    }
    #expect(errors.count == 53)
  }

  @Test func `a file that cannot be read keeps what there was, and is told`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "settings.json").path
    #expect(Settings.read(path).settings == Settings())
    for text in ["{", "{} // " + String(repeating: "x", count: 1 << 20)] {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let answer = Settings.read(path)
      #expect(answer.settings == nil && answer.diagnostics.count == 1)
    }
  }
}
