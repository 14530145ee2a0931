import DeeplinkTesting
import Foundation

/// A person with plugins and a shell, and no session bus.
final class Person: Sendable {
  let root: URL
  var plugins: URL { root.appending(path: "data/deeplinkd/plugins") }

  /// - Parameter plugins: folders of the repository to install.
  init(plugins names: [String] = Person.demonstration) throws {
    root = FileManager.default.temporaryDirectory.appending(path: "person-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: plugins, withIntermediateDirectories: true)
    for name in names {
      let folder = Repository.root.appending(path: name)
      try FileManager.default.copyItem(
        at: folder, to: plugins.appending(path: folder.lastPathComponent))
    }
  }

  static let demonstration = [
    "data/plugins/com.example.demo", "Tests/Manifests/com.example.Photos",
  ]

  deinit { try? FileManager.default.removeItem(at: root) }

  var environment: [String: String] {
    [
      "HOME": root.path, "XDG_DATA_HOME": root.path + "/data", "XDG_DATA_DIRS": "/nonexistent",
      "PATH": "\(URL(filePath: Self.program).deletingLastPathComponent().path):/usr/bin:/bin",
      "LANG": "C.UTF-8", "TERM": "xterm",
    ]
  }

  static let program = Repository.program("deeplink")

  /// Runs `deeplink` with these arguments.
  func deeplink(
    _ arguments: String..., input: Data? = nil, environment: [String: String] = [:]
  ) throws -> Finished {
    try run([Self.program] + arguments, input: input, environment: environment)
  }

  func run(
    _ arguments: [String], input: Data? = nil, environment: [String: String] = [:]
  ) throws -> Finished {
    try DeeplinkTesting.run(
      arguments, environment: self.environment.merging(environment) { $1 }, input: input)
  }

  /// Runs a line of the shell, for what only a shell can say.
  func shell(_ line: String, environment: [String: String] = [:]) throws -> Finished {
    try run(["/bin/bash", "-c", line], environment: environment)
  }

  func write(_ text: String, to path: String) throws {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  /// A plugin with one route that a test fills in.
  func addPlugin(_ id: String, _ route: String) throws {
    try write(
      """
      {"id": "\(id)", "name": "Test", "schemes": ["\(id.lowercased())"],
       "routes": [\(route)]}
      """, to: "data/deeplinkd/plugins/\(id)/plugin.json")
  }
}

extension Finished {
  var lines: [String] {
    output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}
