import DeeplinkTesting
import Foundation

/// Who reads along: a person whose deeplinkd is installed as `packaging/install` does it.
final class ReadersPlace {
  let desktop: Desktop
  private static let bin = URL(filePath: Repository.program("deeplink"))
    .deletingLastPathComponent().path
  private static let scripts = "\(Repository.root.path)/Tests/EndToEndTests/Documentation"

  /// What notifications said, one a line.
  var notifications: URL { desktop.world.runtime.appending(path: "notifications") }

  init(display: String? = nil) throws {
    let empty = FileManager.default.temporaryDirectory.appending(path: "usr-\(UUID().uuidString)")
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    desktop = try Desktop(extra: [
      "XDG_DATA_DIRS": empty.path, "XDG_CONFIG_DIRS": empty.path, "PATH": "\(Self.bin):\(path)",
      // Without a display xdg-open looks for no handler at all; and no web browser is to start.
      "DISPLAY": display ?? ":none", "BROWSER": "false", "TERM": "xterm", "NO_COLOR": "1",
      "TZ": "UTC",
    ])
    let world = desktop.world
    for (template, file) in [
      ("desktop", "home/.local/share/applications/org.deeplinkd.Deeplinkd.desktop"),
      ("service", "home/.local/share/dbus-1/services/org.deeplinkd.Deeplinkd.service"),
    ] {
      let source = Repository.root.appending(
        path: "data/org.deeplinkd.Deeplinkd.\(template).in")
      let text = try String(contentsOf: source, encoding: .utf8)
      try world.write(text.replacingOccurrences(of: "@bindir@", with: Self.bin), to: file)
    }
    try world.write(
      """
      [D-BUS Service]
      Name=org.freedesktop.Notifications
      Exec=/usr/bin/python3 \(Self.scripts)/notifications.py
      """, to: "services/org.freedesktop.Notifications.service")
    let cached = try world.run([
      "update-desktop-database", world.dataHome.appending(path: "applications").path,
    ])
    guard cached.status == 0 else { throw TestingError(cached.errors) }
  }

  struct Answer: Decodable {
    let output: String
    let status: Int
  }

  /// What the commands say, one after the other, in one shell.
  func type(_ steps: [DocumentedPage.Step]) throws -> [Answer] {
    let words = steps.map { step -> [String: String] in
      switch step {
      case .command(let command): ["run": command.text]
      case .file(let path, let text): ["write": path, "text": text]
      }
    }
    let done = try desktop.world.run(
      ["/usr/bin/python3", "\(Self.scripts)/terminal.py"],
      input: try JSONEncoder().encode(words), limit: .seconds(300))
    guard done.status == 0 else { throw TestingError(done.errors) }
    return try JSONDecoder().decode([Answer].self, from: Data(done.output.utf8))
  }

  /// The lines as a terminal shows them, with a reader's folders in place of the test's.
  func shown(_ output: String) -> [String] {
    var text = output
    for (path, name) in [
      (desktop.world.home.path, "/home/you"), (Self.bin, "/home/you/.local/bin"),
      (URL(filePath: Self.bin).resolvingSymlinksInPath().path, "/home/you/.local/bin"),
      (desktop.world.runtime.path, "/run/user/1000"),
    ] { text = text.replacingOccurrences(of: path, with: name) }
    return text.components(separatedBy: "\n").dropLast().map { line in
      // What was written over is not to be seen.
      let last = line.components(separatedBy: "\r\u{1B}[K").last ?? line
      return Self.withoutTimes(last)
    }
  }

  /// A line with the same moment wherever one stands, and without blanks at its end.
  static func withoutTimes(_ line: String) -> String {
    var line = line.replacingOccurrences(
      of: #"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"#, with: "2026-01-02 15:04:05",
      options: .regularExpression)
    while line.last == " " { line.removeLast() }
    return line
  }
}
