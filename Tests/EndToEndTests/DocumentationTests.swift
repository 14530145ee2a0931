import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// What the documentation shows: each piece is checked, run, or part of something that is.
@Suite(.timeLimit(.minutes(5))) struct DocumentationTests {
  struct Snippet {
    let language: String
    let text: String
  }

  /// The fenced blocks of a page, in order.
  private static func snippets(of page: String) throws -> [Snippet] {
    let file = Repository.root.appending(path: page)
    let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```")
    return parts.enumerated().filter { $0.offset % 2 == 1 }.map { _, block in
      let language = block.prefix { $0 != "\n" }
      return Snippet(
        language: String(language), text: String(block.dropFirst(language.count + 1)))
    }
  }

  private static func lines(_ text: String) -> [String] {
    text.components(separatedBy: "\n").map(\.trimmed).filter { !$0.isEmpty }
  }

  @Test(arguments: [("data/doc/apps.md", 11), ("data/doc/apple.md", 4)])
  func `every snippet is of a kind that is checked`(page: String, count: Int) throws {
    let languages = try Self.snippets(of: page).map(\.language)
    #expect(languages.count == count)
    #expect(Set(languages).isSubset(of: ["json", "swift", "python", "c", "sh"]))
  }

  @Test func `manifests and actions are valid`() throws {
    let snippets = try Self.snippets(of: "data/doc/apps.md").filter { $0.language == "json" }
    #expect(snippets.count == 5)
    for snippet in snippets {
      let manifest =
        snippet.text.hasPrefix("{")
        ? snippet.text
        : """
        {"id": "com.example.photos", "name": "Photos", "schemes": ["com.example.photos"],
         "routes": [{"name": "show-album", "match": "album/:album", \(snippet.text)}]}
        """
      let (plugin, diagnostics) = Plugin.read(
        Array(manifest.utf8), file: "data/doc/apps.md", folder: "/")
      #expect(plugin != nil, "\(snippet.text)")
      #expect(diagnostics.isEmpty, "\(diagnostics)")
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
    let snippets = try Self.snippets(of: page).filter { $0.language == language }
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
  func `the program in C compiles without a warning`() throws {
    let world = try World()
    let snippet = try #require(
      try Self.snippets(of: "data/doc/apps.md").first { $0.language == "c" })
    let source = try world.write(snippet.text, to: "app.c").path
    let done = try world.run([
      "sh", "-c",
      "cc -std=gnu11 -Wall -Werror -o \(source).out \(source) $(pkg-config --cflags --libs gio-2.0)",
    ])
    #expect(done.status == 0, "\(done.errors)")
  }

  @Test(.enabled(if: Requirement.program("bwrap"), "bwrap is not installed"))
  func `the script shows what a link names`() throws {
    let snippets = try Self.snippets(of: "data/doc/apps.md")
    let manifest = try #require(snippets.last { $0.language == "json" })
    let script = try #require(
      snippets.first { $0.language == "sh" && $0.text.hasPrefix("#!") })
    let desktop = try Desktop()
    try desktop.addPlugin(
      id: "com.example.script", manifest: manifest.text, files: ["show-album": script.text])
    let done = try desktop.call("com.example.script:album/-n%20$(id)?index=2")
    #expect(done == "delivered exitStatus=0 output=picture 2 of -n $(id)")
  }
}
