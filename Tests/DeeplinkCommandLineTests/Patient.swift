import DeeplinkTesting
import Foundation
import Testing

/// A desktop where all is well, with the demonstration added, until a test brings it a fault.
final class Patient: Sendable {
  static let scheme = "com.example.demo"
  static let entry = "home/.local/share/applications/com.example.demo.Deeplinks.desktop"
  static let list = "home/.config/mimeapps.list"
  static let plugin = "home/.local/share/deeplinkd/plugins/com.example.demo"

  /// As entries have it: the program's own path, whatever links lead to it.
  static var opener: String {
    URL(filePath: Repository.program("deeplink-open")).resolvingSymlinksInPath().path
  }

  let desktop: Desktop
  var world: World { desktop.world }
  /// The machine's data and configuration folder.
  let system: URL

  init() throws {
    system = FileManager.default.temporaryDirectory.appending(path: "usr-\(UUID().uuidString)")
    desktop = try Desktop(extra: ["XDG_DATA_DIRS": system.path, "XDG_CONFIG_DIRS": system.path])
    try world.write(
      """
      [Desktop Entry]
      Type=Application
      Name=deeplinkd
      Exec=\(Repository.program("deeplink-open")) -- %u
      StartupNotify=true
      NoDisplay=true
      MimeType=x-scheme-handler/org.deeplinkd;

      """, to: "home/.local/share/applications/org.deeplinkd.Deeplinkd.desktop")
    let folder = Repository.root.appending(path: "data/plugins/\(Self.scheme)").path
    let added = try deeplink("plugin", "add", "--yes", folder)
    guard added.status == 0 else { throw TestingError(added.errors) }
  }

  deinit { try? FileManager.default.removeItem(at: system) }

  /// With `deeplink` where a shell finds it, and a display that no program opens.
  var environment: [String: String?] {
    let programs = URL(filePath: Repository.program("deeplink")).deletingLastPathComponent().path
    return [
      "PATH": "\(programs):\(world.environment["PATH"] ?? "/usr/bin:/bin")",
      "DISPLAY": ":none", "BROWSER": "false",
    ]
  }

  func deeplink(
    _ arguments: String..., desktop: String? = nil, environment: [String: String?] = [:],
    through wrapper: [String] = []
  ) throws -> Finished {
    var environment = environment
    if let desktop { environment["XDG_CURRENT_DESKTOP"] = desktop }
    return try world.run(
      wrapper + [Repository.program("deeplink")] + arguments, environment: environment)
  }

  /// Runs a line of the shell, as a person would who was told it.
  @discardableResult func shell(_ line: String) throws -> Finished {
    try world.run(["/bin/sh", "-c", line], environment: environment)
  }

  /// Whether a link of the demonstration comes through `xdg-open`.
  func linkArrives() throws -> Bool {
    func accepted() throws -> Int {
      let done = try deeplink("status", "--json")
      let status = try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any]
      return (status?["statistics"] as? [String: Int])?["accepted"] ?? 0
    }
    let before = try accepted()
    let opened = try shell("xdg-open \(Self.scheme):greet")
    return try opened.status == 0 && accepted() == before + 1
  }

  func path(_ path: String) -> String { world.root.appending(path: path).path }

  func change(_ path: String, _ text: String, to other: String) throws {
    let file = world.root.appending(path: path)
    let before = try String(contentsOf: file, encoding: .utf8)
    #expect(before.contains(text))
    try world.write(before.replacingOccurrences(of: text, with: other), to: path)
  }

  func remove(_ path: String) throws {
    try FileManager.default.removeItem(at: world.root.appending(path: path))
  }

  /// An application that claims the demonstration's scheme.
  func otherApplication() throws {
    try world.write(
      "[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true %u\n"
        + "MimeType=x-scheme-handler/\(Self.scheme);\n",
      to: "home/.local/share/applications/other.desktop")
    _ = try world.run([
      "update-desktop-database", world.dataHome.appending(path: "applications").path,
    ])
  }

  /// Has the daemon run, and gives its process.
  func startDaemon() throws -> pid_t {
    _ = try desktop.open()
    return try #require(try desktop.daemonProcess())
  }
}

extension Finished {
  /// The rows of `deeplink doctor --json`.
  func checks() throws -> [[String: String]] {
    try output.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      return object.compactMapValues { $0 as? String }
    }
  }
}
