import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkActions

/// A person's home with a secret in it, a plugin, and a way to run its program as the daemon would.
final class Box {
  /// Who runs it: the tests' own user, or, where that is root, a plain one as well.
  enum User: CaseIterable, CustomTestStringConvertible {
    case own, nobody
    var testDescription: String { "\(self)" }

    static var available: [User] { getuid() == 0 ? allCases : [.own] }
    /// The one that limits hold for.
    static var plain: User { getuid() == 0 ? .nobody : .own }
  }

  let root: URL
  let user: User
  let place: PluginPlace
  var variables: [String: String]

  var person: URL { root.appending(path: "person") }

  init(_ user: User = .own) throws {
    self.user = user
    root = FileManager.default.temporaryDirectory.appending(path: "box-\(UUID().uuidString)")
    let person = root.appending(path: "person").path
    let state = "\(person)/.local/state/deeplinkd"
    let folder = "\(person)/.local/share/deeplinkd/plugins/com.example.box"
    place = PluginPlace(
      id: try PluginID("com.example.box"), folder: folder,
      home: "\(state)/homes/com.example.box",
      ownFolders: [state, "\(person)/.local/share/deeplinkd"])
    variables = [
      "HOME": person, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "API_TOKEN": "geheim",
      "LD_PRELOAD": "", "DISPLAY": ":77", "XDG_RUNTIME_DIR": "\(root.path)/run",
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(root.path)/run/bus",
    ]
    for path in [folder, place.home, "\(root.path)/run", "\(person)/Pictures"] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    try write("geheim", "person/secret")
    try write("sky", "person/Pictures/sky")
    try write("grants", "person/.local/state/deeplinkd/grants.json")
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  func write(_ text: String, _ path: String, mode: Int = 0o644) throws {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
  }

  /// As the daemon would start it, as `user`.
  func arguments(
    _ words: [String], _ sandbox: Sandbox = .confined(.init())
  ) throws -> (words: [String], environment: [String: String]) {
    let process = try ProcessDescription.plugin(
      words, in: sandbox, at: place, LaunchEnvironment(variables: variables))
    guard user == .nobody else { return (process.arguments, process.environment) }
    let given = try run(["chown", "-R", "65534:65534", root.path], environment: variables)
    #expect(given.status == 0, "\(given.errors)")
    let prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return (prefix + process.arguments, process.environment)
  }

  func finished(
    _ words: [String], _ sandbox: Sandbox = .confined(.init())
  ) throws -> Finished {
    let (words, environment) = try arguments(words, sandbox)
    return try run(words, environment: environment)
  }

  /// The lines that a Python program beside the manifest prints.
  func python(
    _ script: String, _ sandbox: Sandbox = .confined(.init())
  ) throws -> [String] {
    try write(
      "#!/usr/bin/python3\nimport os, socket, sys\n\(script)\n",
      "person/.local/share/deeplinkd/plugins/com.example.box/program", mode: 0o755)
    let done = try finished(["./program"], sandbox)
    #expect(done.status == 0, "\(done.errors)")
    return done.output.split(separator: "\n").map(String.init)
  }
}
