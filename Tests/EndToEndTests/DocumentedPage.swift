import DeeplinkRouting
import DeeplinkTesting
import Foundation

/// A page of the documentation, and what in it is not prose.
///
/// The first line of a fenced block says what the block is:
///
/// - `console`: commands behind `$ ` and what a terminal shows then. They are run, in one shell for
///   the whole page, and the output is compared; `…` stands for what differs from time to time.
/// - A language and a path: a file, which is there for the commands that follow.
/// - `json +`: a route, which is added to the manifest that was last.
/// - `json`: a manifest, or members of one; `json5` in the place of a manifest has mistakes.
/// - `sh`: commands that are shown and not run, each listed in the tests with the reason.
struct DocumentedPage {
  struct Block {
    let language: String
    /// What stands behind the language.
    let place: String
    let text: String
  }

  struct Command {
    let text: String
    let output: [String]
  }

  enum Step {
    case command(Command)
    case file(path: String, text: String)
  }

  let path: String
  let text: String
  let blocks: [Block]

  init(_ path: String) throws {
    self.path = path
    text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    let parts = text.components(separatedBy: "```")
    blocks = parts.enumerated().filter { $0.offset % 2 == 1 }.map { _, block in
      let head = block.prefix { $0 != "\n" }
      let words = head.split(separator: " ", maxSplits: 1).map(String.init)
      return Block(
        language: words.first ?? "", place: words.dropFirst().first ?? "",
        text: String(block.dropFirst(head.count + 1)))
    }
  }

  /// What a reader does who goes through the page: files that are made, and commands.
  var steps: [Step] {
    var steps: [Step] = []
    var manifest = (path: "", text: "")
    for block in blocks {
      if block.language == "console" {
        steps += Self.commands(block.text).map(Step.command)
      } else if block.place == "+" {
        manifest.text = Self.adding(block.text, to: manifest.text)
        steps.append(.file(path: manifest.path, text: manifest.text))
      } else if !block.place.isEmpty {
        steps.append(.file(path: block.place, text: block.text))
        if block.language == "json" { manifest = (block.place, block.text) }
      }
    }
    return steps
  }

  var commands: [Command] {
    steps.compactMap { if case .command(let command) = $0 { command } else { nil } }
  }

  /// Every manifest that the page shows or lets grow; of a piece, one that holds it.
  var manifests: [String] {
    var last = ""
    return blocks.filter { $0.language == "json" }.map { block in
      guard !block.place.isEmpty else { return Self.whole(block.text) }
      last = block.place == "+" ? Self.adding(block.text, to: last) : block.text
      return last
    }
  }

  private static func commands(_ text: String) -> [Command] {
    var commands: [Command] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if line.hasPrefix("$ ") {
        commands.append(Command(text: String(line.dropFirst(2)), output: []))
      } else if let last = commands.popLast() {
        commands.append(Command(text: last.text, output: last.output + [String(line)]))
      }
    }
    return commands
  }

  /// A manifest with one route more.
  private static func adding(_ route: String, to manifest: String) -> String {
    guard let end = manifest.lastIndex(of: "]") else { return manifest }
    return String(manifest[..<end]).trimmed + ",\n" + route + manifest[end...]
  }

  private static let pluginKeys: Set = [
    "$schema", "id", "name", "icon", "schemes", "sharedWith", "allowsCredentials",
    "associatedDomains", "appIDs",
  ]

  /// A manifest with these members, at its top, in its route, or in the action of that.
  private static func whole(_ text: String) -> String {
    guard !text.hasPrefix("{"),
      let members = (try? JSONValue(json5: Array("{\(text)}".utf8)))?.object
    else { return text }
    var action = JSONValue.object([
      "command": ["run": ["true"]]
    ])
    var route: [String: JSONValue] = ["name": "example", "match": "album/:album"]
    var plugin: [String: JSONValue] = [
      "id": "com.example.photos", "name": "Photos", "schemes": ["com.example.photos"],
    ]
    if Set(members.keys).isSubset(of: pluginKeys) {
      plugin.merge(members) { $1 }
    } else if let sandbox = members["sandbox"] {
      action = ["command": ["run": ["true"], "sandbox": sandbox]]
    } else {
      route.merge(members) { $1 }
    }
    route["action"] = route["action"] ?? action
    plugin["routes"] = [.object(route)]
    return JSONValue.object(plugin).description
  }
}

extension [String] {
  /// Whether `lines` are these, where `…` stands for any text, and alone in a line for any lines.
  func matches(_ lines: some Sequence<String>) -> Bool {
    Self.matches(self[...], Array(lines)[...])
  }

  private static func matches(_ pattern: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return lines.isEmpty }
    if first == "…" {
      return matches(pattern.dropFirst(), lines)
        || (!lines.isEmpty && matches(pattern, lines.dropFirst()))
    }
    guard let line = lines.first, fits(line, first) else { return false }
    return matches(pattern.dropFirst(), lines.dropFirst())
  }

  private static func fits(_ line: String, _ pattern: String) -> Bool {
    let parts = pattern.components(separatedBy: "…")
    guard let first = parts.first, let last = parts.last, parts.count > 1 else {
      return line == pattern
    }
    guard line.hasPrefix(first), line.dropFirst(first.count).hasSuffix(last) else { return false }
    var rest = line.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() {
      guard let found = rest.range(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }
}
