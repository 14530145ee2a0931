import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// The examples, each launched by a link and reached again while it runs.
@Suite(.timeLimit(.minutes(5))) struct ExamplesTests {
  static let folder = Repository.root.appending(path: "data/examples")
  static let names = [
    "com.example.forwarding", "com.example.gapplication", "com.example.handler",
    "com.example.swift", "com.example.worker",
  ]

  let desktop: Desktop

  init() throws { desktop = try Desktop() }

  @Test func `every example has a manifest without a fault`() throws {
    let found = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(found.sorted() == Self.names)
    for name in Self.names {
      let (plugin, diagnostics) = PluginFolder(path: Self.folder.appending(path: name).path)
        .read(user: getuid())
      #expect(plugin?.id.text == name)
      #expect(diagnostics.isEmpty)
    }
  }

  /// Examples whose answer reaches the sender.
  @Test(
    .enabled(if: Requirement.program("bwrap"), "bwrap is not installed"),
    arguments: ["com.example.swift", "com.example.worker", "com.example.handler"])
  func `an example answers, launched and running`(_ name: String) throws {
    try install(name)
    let links = ["album/Summer%20%C3%A9?index=3", "album/Winter"]
    let answers = try links.map { try desktop.call("\(name):\($0)") }
    #expect(
      answers == [
        "delivered album=Summer é delivery=launch index=3 shown=1",
        "delivered album=Winter delivery=running index=1 shown=2",
      ])
    #expect(
      try desktop.call("\(name):album/Winter?index=0").hasPrefix("org.deeplinkd.Error.Parameter"))
  }

  /// Examples that get the URL alone: what they showed, by one process.
  @Test(arguments: ["com.example.gapplication", "com.example.forwarding"])
  func `an example takes URLs, launched and running`(_ name: String) throws {
    try install(name)
    let shown = desktop.world.stateHome.appending(path: "\(name)/albums.jsonl")
    try FileManager.default.createDirectory(
      at: shown.deletingLastPathComponent(), withIntermediateDirectories: true)
    // The one without a bus name does not end with the bus.
    defer { for process in Set(albums(in: shown).map(\.process)) { kill(process, SIGTERM) } }
    for (count, link) in [(1, "album/Summer%20%C3%A9?index=3"), (2, "album/Winter")] {
      #expect(try desktop.call("\(name):\(link)") == "delivered")
      _ = try waitForLines(count, in: shown)
    }
    let albums = albums(in: shown)
    #expect(albums.map(\.album) == ["Summer é", "Winter"])
    #expect(albums.map(\.index) == [3, 1])
    #expect(Set(albums.map(\.process)).count == 1)
  }

  private struct Album: Decodable {
    let album: String
    let index: Int
    let process: Int32
  }

  private func albums(in file: URL) -> [Album] {
    lines(of: file).compactMap { try? JSONDecoder().decode(Album.self, from: Data($0.utf8)) }
  }

  // MARK: Helpers

  /// As the README says: the folder, its program, and what its templates say.
  private func install(_ name: String) throws {
    try desktop.addPlugin(Self.folder.appending(path: name))
    let folder = desktop.world.dataHome.appending(path: "deeplinkd/plugins/\(name)")
    if name == "com.example.swift" {
      try FileManager.default.createSymbolicLink(
        atPath: folder.appending(path: "deeplink-example").path,
        withDestinationPath: Repository.program("deeplink-example"))
    }
    for (suffix, place) in [
      ("desktop", "home/.local/share/applications"), ("service", "services"),
    ] {
      let template = folder.appending(path: "\(name).\(suffix).in")
      guard let text = try? String(contentsOf: template, encoding: .utf8) else { continue }
      try desktop.world.write(
        text.replacingOccurrences(of: "@folder@", with: folder.path),
        to: "\(place)/\(name).\(suffix)")
    }
  }
}

extension Desktop {
  /// Opens a link and waits: `OUTCOME key=value …`, keys sorted, or the error.
  func call(_ url: String) throws -> String {
    let script = """
      import dbus, sys
      daemon = dbus.Interface(
          dbus.SessionBus().get_object("org.deeplinkd.Deeplinkd", "/org/deeplinkd/Deeplinkd"),
          "org.deeplinkd.Dispatcher1")
      try:
          id, outcome, result = daemon.Open(sys.argv[1], {})
          print(outcome, *(f"{key}={result[key]}" for key in sorted(result)))
      except dbus.exceptions.DBusException as error:
          print(error.get_dbus_name(), error.get_dbus_message())
      """
    let done = try world.run(["/usr/bin/python3", "-c", script, url])
    guard done.status == 0 else { throw TestingError(done.errors) }
    return done.output.trimmed
  }
}
