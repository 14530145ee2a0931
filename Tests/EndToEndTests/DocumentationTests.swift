import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// What the documentation shows: each piece is checked, run, or part of something that is.
@Suite(.timeLimit(.minutes(5))) struct DocumentationTests {
  /// In the order in which they are read.
  static let pages = [
    "README.md", "data/doc/start.md", "data/doc/plugins.md", "data/doc/apps.md",
    "data/doc/apple.md", "data/doc/debug.md", "data/doc/security.md", "data/doc/reference.md",
  ]

  private static func lines(_ text: String) -> [String] {
    text.components(separatedBy: "\n").map(\.trimmed).filter { !$0.isEmpty }
  }

  @Test func `the README names every page, in order`() throws {
    let folder = Repository.root.appending(path: "data/doc")
    let found = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(found.map { "data/doc/\($0)" } == Self.pages.dropFirst().sorted())
    let text = try DocumentedPage("README.md").text
    let places = Self.pages.dropFirst().map { text.range(of: "](\($0))")?.lowerBound }
    #expect(!places.contains(nil))
    #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
  }

  /// `[text](page.md#heading)`, as GitHub names headings.
  @Test(arguments: pages)
  func `links between pages lead somewhere`(page: String) throws {
    let link = /\]\(([^):]+)\)/
    let folder = Repository.root.appending(path: page).deletingLastPathComponent()
    for match in try DocumentedPage(page).text.matches(of: link) {
      let parts = match.1.components(separatedBy: "#")
      let file =
        parts[0].isEmpty
        ? Repository.root.appending(path: page) : folder.appending(path: parts[0])
      let text = try String(contentsOf: file, encoding: .utf8)
      guard parts.count == 2 else { continue }
      let headings = text.components(separatedBy: "\n").filter { $0.hasPrefix("#") }.map {
        $0.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
          .filter { $0.isLetter || $0.isNumber || $0 == "-" }
      }
      #expect(headings.contains(parts[1]), "\(match.1)")
    }
  }

  @Test(arguments: pages)
  func `every block is of a kind that is checked`(page: String) throws {
    let blocks = try DocumentedPage(page).blocks
    #expect(!blocks.isEmpty)
    for block in blocks where block.place.isEmpty {
      #expect(["", "console", "json", "swift", "python", "c", "sh"].contains(block.language))
    }
  }

  @Test(arguments: [
    ("README.md", 0), ("data/doc/start.md", 0), ("data/doc/plugins.md", 16),
    ("data/doc/apps.md", 5),
    ("data/doc/apple.md", 0), ("data/doc/debug.md", 1), ("data/doc/security.md", 1),
    ("data/doc/reference.md", 0),
  ])
  func `manifests are valid`(page: String, count: Int) throws {
    let manifests = try DocumentedPage(page).manifests
    #expect(manifests.count == count)
    for manifest in manifests {
      let (plugin, diagnostics) = Plugin.read(Array(manifest.utf8), file: page, folder: "/")
      #expect(plugin != nil && diagnostics.isEmpty, "\(diagnostics)\n\(manifest)")
    }
  }

  /// Indentation aside, the snippet stands line by line in a source that is compiled or run.
  @Test(arguments: [
    ("data/doc/apps.md", "swift", 1, ["data/examples/com.example.swift/Albums.swift"]),
    ("README.md", "swift", 1, ["Tests/DeeplinkAppTests/DocumentedSnippets.swift"]),
    ("data/doc/apple.md", "swift", 4, ["Tests/DeeplinkAppTests/DocumentedSnippets.swift"]),
    (
      "data/doc/apps.md", "python", 2,
      ["data/examples/com.example.handler/albums", "data/examples/com.example.worker/albums"]
    ),
  ])
  func `code is part of what the tests build and run`(
    page: String, language: String, count: Int, files: [String]
  ) throws {
    let sources = try files.map {
      Self.lines(
        try String(contentsOf: Repository.root.appending(path: $0), encoding: .utf8)
      ).joined(separator: "\n")
    }
    let snippets = try DocumentedPage(page).blocks.filter {
      $0.language == language && $0.place.isEmpty
    }
    #expect(snippets.count == count)
    for snippet in snippets {
      let text = Self.lines(snippet.text).joined(separator: "\n")
      #expect(sources.contains { $0.contains(text) }, "\(snippet.text)")
    }
  }

  @Test(
    .enabled(if: Requirement.program("cc", "pkg-config"), "there is no C compiler"),
    .enabled(
      if: Requirement.file(URL(filePath: "/usr/include/glib-2.0/gio/gio.h")),
      "GIO's headers are not installed"))
  func `the program in C compiles without a warning, and takes links`() throws {
    let desktop = try Desktop()
    let world = desktop.world
    let blocks = try DocumentedPage("data/doc/apps.md").blocks
    let source = try world.write(
      try #require(blocks.first { $0.language == "c" }).text, to: "app.c"
    ).path
    let done = try world.run([
      "sh", "-c",
      "cc -std=gnu11 -Wall -Werror -o \(source).out \(source) $(pkg-config --cflags --libs gio-2.0)",
    ])
    #expect(done.status == 0, "\(done.errors)")
    let id = "com.example.photos"
    let shown = try world.write("", to: "shown")
    try world.write(
      "[D-BUS Service]\nName=\(id)\nExec=/bin/sh -c 'exec \(source).out --gapplication-service >>\(shown.path)'\n",
      to: "services/\(id).service")
    try world.write(
      "[Desktop Entry]\nType=Application\nName=Photos\nExec=\(source).out %u\nDBusActivatable=true\n",
      to: "home/.local/share/applications/\(id).desktop")
    try desktop.addPlugin(
      id: id,
      manifest: try #require(
        try DocumentedPage("data/doc/apps.md").manifests.first { $0.contains("desktopEntry") }))
    for album in ["Summer", "Winter"] {
      #expect(try desktop.call("\(id):album/\(album)") == "delivered")
    }
    #expect(
      try waitForLines(2, in: shown)
        == ["show \(id):album/Summer", "show \(id):album/Winter"])
  }
}
