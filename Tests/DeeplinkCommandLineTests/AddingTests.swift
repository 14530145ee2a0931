import DeeplinkTesting
import Foundation
import Testing

/// Plugins come and go, and the desktop with them.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(if: Requirement.program("update-desktop-database", "xdg-mime", "gio", "script")))
struct AddingTests {
  let world: World
  static let demo = Repository.root.appending(path: "data/plugins/com.example.demo").path
  static let entry = "home/.local/share/applications/com.example.demo.Deeplinks.desktop"

  init() throws {
    world = try World(extra: ["XDG_DATA_DIRS": "/nonexistent", "XDG_CONFIG_DIRS": "/nonexistent"])
  }

  private func deeplink(_ arguments: String...) throws -> Finished {
    try world.run([Repository.program("deeplink")] + arguments)
  }

  private func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: world.home.path)
    where !name.hasPrefix(".local/state") {
      files[name] =
        FileManager.default.contents(atPath: world.home.appending(path: name).path)
        ?? Data()
    }
    return files
  }

  private func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: world.root.appending(path: path).path)
  }

  private func opener(_ scheme: String) throws -> String {
    try world.run(["xdg-mime", "query", "default", "x-scheme-handler/\(scheme)"]).output.trimmed
  }

  private func write(_ id: String, _ schemes: String) throws -> String {
    try world.write(
      """
      {"id": "\(id)", "name": "Other", "schemes": [\(schemes)],
       "routes": [{"name": "a", "match": "/a", "action": {"notify": {"title": "A"}}}]}
      """, to: "source/\(id)/plugin.json")
    return world.root.appending(path: "source/\(id)").path
  }

  @Test func `what will not work is told when a plugin is made and added`() throws {
    let made = try world.run(
      [
        "bash", "-c",
        "cd \(world.root.path) && exec \(Repository.program("deeplink")) plugin new com.example.a2",
      ])
    #expect(made.status == 0 && made.output == "com.example.a2/plugin.json\n")
    #expect(made.errors.contains("$.schemes[0]: warning: 'com.example.a2' has a digit"))
    let first = try deeplink("plugin", "add", "--yes", try write("com.example.first", "\"myapp\""))
    #expect(first.status == 0 && first.errors.contains("warning: 'myapp' has no dot"))
    #expect(!first.errors.contains("belongs to"))
    let second = try deeplink(
      "plugin", "add", "--yes", try write("com.example.second", "\"myapp\""))
    #expect(second.status == 0)
    #expect(
      second.errors.contains(
        "'myapp' belongs to the plugin 'com.example.first', so no link of it comes to "
          + "'com.example.second'\nhint: `deeplink schemes --owner com.example.second myapp`"))
    #expect(try deeplink("schemes", "--owner", "com.example.second", "myapp").errors == "")
    #expect(try opener("myapp") == "com.example.second.Deeplinks.desktop")
  }

  @Test func `plugins that are added and removed side by side lose nothing of each other`() throws {
    try world.write("[Added Associations]\n# mine", to: "home/.config/mimeapps.list")
    let before = try files()
    let ids = "abcdefgh".map { "com.example.\($0)" }
    let folders = try ids.map { try write($0, "\"\($0)\"") }
    func sideBySide(_ command: String, _ words: [String]) throws {
      let program = Repository.program("deeplink")
      let lines = words.map { "\(program) plugin \(command) \($0) >/dev/null || echo failed &" }
      let done = try world.run(["bash", "-c", lines.joined(separator: "\n") + "\nwait"])
      #expect(done.output == "" && done.errors == "", "\(done.errors)")
    }
    try sideBySide("add --yes", folders)
    for id in ids { #expect(try opener(id) == "\(id).Deeplinks.desktop") }
    try sideBySide("remove", ids)
    #expect(try files() == before)
  }

  @Test func `adding asks, shows what the plugin opens, and removing leaves every byte`() throws {
    try world.write("# mine", to: "home/.config/mimeapps.list")
    let before = try files()
    let silent = try deeplink("plugin", "add", Self.demo)
    #expect(silent.status == 1)
    #expect(silent.errors.contains("hint: '--yes' agrees"))
    #expect(silent.output.contains("schemes  com.example.demo\n"))
    #expect(silent.output.contains("  opens      nothing\n"))
    #expect(try files() == before)

    let command = "\(Repository.program("deeplink")) plugin add \(Self.demo)"
    let refused = try world.run(
      ["script", "-qec", command, "/dev/null"], input: Data("n\n".utf8))
    #expect(refused.status == 1 && refused.output.contains("was not added"), "\(refused.output)")
    #expect(try files() == before)
    let agreed = try world.run(["script", "-qec", command, "/dev/null"], input: Data("y\n".utf8))
    #expect(agreed.status == 0, "\(agreed.output)")
    #expect(try opener("com.example.demo") == "com.example.demo.Deeplinks.desktop")
    #expect(exists("home/.local/share/deeplinkd/plugins/com.example.demo/demo-worker"))
    #expect(try deeplink("plugin", "check", "com.example.demo").status == 0)
    #expect(try deeplink("explain", "com.example.demo:greet").status == 0)

    let removed = try deeplink("plugin", "remove", "com.example.demo")
    #expect(removed.status == 0, "\(removed.errors)")
    #expect(try files() == before)
    #expect(try deeplink("explain", "com.example.demo:greet").status == 1)
    #expect(try deeplink("plugin", "remove", "com.example.demo").status == 1)
  }

  @Test func `a disabled plugin takes no links and is registered no more`() throws {
    #expect(try deeplink("plugin", "add", "--yes", Self.demo).status == 0)
    #expect(try deeplink("plugin", "disable", "com.example.demo").status == 0)
    #expect(!exists(Self.entry))
    #expect(try deeplink("explain", "com.example.demo:greet").status == 1)
    #expect(try deeplink("plugin", "list").output.contains("\tdisabled\t"))
    #expect(try opener("com.example.demo") == "")
    #expect(try deeplink("plugin", "enable", "com.example.demo").status == 0)
    #expect(try opener("com.example.demo") == "com.example.demo.Deeplinks.desktop")
    #expect(try deeplink("explain", "com.example.demo:greet").status == 0)
  }

  @Test func `who was added first owns a scheme until the person chooses`() throws {
    let first = try write("org.example.Z", #""shared", "org.example.z""#)
    let second = try write("org.example.A", #""shared", "org.example.a""#)
    #expect(try deeplink("plugin", "add", "--yes", first).status == 0)
    #expect(try deeplink("plugin", "add", "--yes", second).status == 0)
    let row = try deeplink("schemes", "shared")
    #expect(
      row.output
        == "shared\torg.example.Z\tOther\t\torg.example.A\torg.example.Z.Deeplinks.desktop\t\n")
    #expect(try opener("shared") == "org.example.Z.Deeplinks.desktop")
    #expect(try deeplink("schemes", "--owner", "org.example.A", "shared").status == 0)
    #expect(try opener("shared") == "org.example.A.Deeplinks.desktop")
    #expect(try deeplink("plugin", "remove", "org.example.A").status == 0)
    #expect(try opener("shared") == "org.example.Z.Deeplinks.desktop")
    #expect(try deeplink("schemes", "other").errors.contains("no plugin has the scheme 'other'"))
  }

  @Test func `another application keeps its scheme unless it is taken`() throws {
    let applications = world.dataHome.appending(path: "applications").path
    try world.write(
      """
      [Desktop Entry]
      Type=Application
      Name=Other
      Exec=/bin/true %u
      MimeType=x-scheme-handler/com.example.demo;

      """, to: "home/.local/share/applications/other.desktop")
    _ = try world.run(["update-desktop-database", applications])
    let before = try files()
    let added = try deeplink("plugin", "add", "--yes", Self.demo)
    #expect(added.status == 0)
    #expect(added.errors.contains("'com.example.demo' stays with Other (other.desktop)"))
    #expect(added.errors.contains("plugin enable --make-default com.example.demo"))
    #expect(try deeplink("schemes").output.contains("\tother.desktop\t"))
    #expect(try deeplink("plugin", "enable", "--make-default", "com.example.demo").status == 0)
    #expect(try opener("com.example.demo") == "com.example.demo.Deeplinks.desktop")
    #expect(try deeplink("plugin", "remove", "com.example.demo").status == 0)
    #expect(try files() == before)
  }

  @Test func `a data folder that is named twice hides nothing from itself`() throws {
    let link = world.root.appending(path: "link").path
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: world.dataHome.path)
    var cases = 0
    for folders in ["\(world.dataHome.path)/", link, "/usr/share:/usr/share/"] {
      let variables: [String: String?] = ["XDG_DATA_DIRS": folders]
      for arguments in [["add", "--yes", Self.demo]] + Array(repeating: ["enable"], count: 3) {
        let rest = arguments == ["enable"] ? ["com.example.demo"] : []
        let done = try world.run(
          [Repository.program("deeplink"), "plugin"] + arguments + rest, environment: variables)
        #expect(done.status == 0, "\(done.errors)")
        #expect(exists(Self.entry), "\(folders)")
        cases += 1
      }
      let removed = try world.run(
        [Repository.program("deeplink"), "plugin", "remove", "com.example.demo"],
        environment: variables)
      #expect(removed.status == 0 && !exists(Self.entry))
    }
    #expect(cases == 12)
  }

  @Test func `a package stages a plugin without a person's files`() throws {
    let before = try files()
    let stage = world.root.appending(path: "stage").path
    let done = try deeplink("plugin", "add", "--yes", "--destdir", stage, Self.demo)
    #expect(done.status == 0, "\(done.errors)")
    #expect(try files() == before)
    let text = try String(
      contentsOfFile:
        "\(stage)/usr/share/applications/com.example.demo.Deeplinks.desktop", encoding: .utf8)
    #expect(text.contains("\nExec=/usr/bin/deeplink-open -- %u\n"))
    #expect(exists("stage/usr/share/deeplinkd/plugins/com.example.demo/plugin.json"))
  }

  @Test func `adding again replaces the plugin, also by a new manifest`() throws {
    var source = try write("org.example.A", #""org.example.one""#)
    #expect(try deeplink("plugin", "add", "--yes", source).status == 0)
    source = try write("org.example.A", #""org.example.two""#)
    #expect(try deeplink("plugin", "add", "--yes", source).status == 0)
    #expect(try opener("org.example.one") == "")
    #expect(try opener("org.example.two") == "org.example.A.Deeplinks.desktop")
    let left = try FileManager.default.contentsOfDirectory(
      atPath: world.dataHome.appending(path: "deeplinkd/plugins").path)
    #expect(left == ["org.example.A"])
  }

  @Test func `a damaged record is told, and nothing is changed`() throws {
    try world.write("{", to: "home/.local/state/deeplinkd/registration.json")
    let before = try files()
    let done = try deeplink("plugin", "add", "--yes", Self.demo)
    #expect(done.status == 1)
    #expect(done.errors.contains("registration.json: line 1"))
    #expect(try files() == before)
  }

  @Test func `the page has a link for each route, and each link goes to its route`() throws {
    #expect(try deeplink("plugin", "add", "--yes", Self.demo).status == 0)
    let photos = Repository.root.appending(path: "Tests/Manifests/com.example.Photos").path
    #expect(try deeplink("plugin", "add", "--yes", photos).status == 0)
    let rows = try deeplink("page", "--json").output.split(separator: "\n")
    #expect(rows.count >= 9)
    var explained = 0
    for row in rows {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(row.utf8)) as? [String: Any])
      guard let url = object["url"] as? String else { continue }
      let done = try deeplink("explain", "--json", url)
      let answer = try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any]
      #expect(answer?["route"] as? String == object["route"] as? String, "\(url)")
      explained += 1
    }
    #expect(explained == rows.count)
    let page = try deeplink("page", "com.example.demo").output
    #expect(
      page.contains(
        #"<td><a href="com.example.demo:greet?name=World">com.example.demo:greet?name=World</a>"#))
  }

  @Test func `a manifest with an error keeps its registration`() throws {
    #expect(try deeplink("plugin", "add", "--yes", Self.demo).status == 0)
    try world.write("{", to: "home/.local/share/deeplinkd/plugins/com.example.demo/plugin.json")
    let other = try write("org.example.A", #""org.example.a""#)
    #expect(try deeplink("plugin", "add", "--yes", other).status == 0)
    #expect(try opener("com.example.demo") == "com.example.demo.Deeplinks.desktop")
    #expect(exists(Self.entry))
    #expect(try deeplink("plugin", "remove", "com.example.demo").status == 0)
    #expect(try opener("com.example.demo") == "")
    #expect(!exists(Self.entry))
  }

  @Test func `a new plugin has no faults, and its links are its own`() throws {
    let folder = world.root.appending(path: "work").path
    try world.write(
      "[Desktop Entry]\nType=Application\nName=Ed\\\\itor \"X\"\nIcon=edit\nExec=/bin/true %u\n"
        + "MimeType=text/plain;x-scheme-handler/ed;x-scheme-handler/https;\n",
      to: "home/.local/share/applications/org.example.Editor.desktop")
    func new(_ arguments: String...) throws -> Finished {
      let command =
        ([Repository.program("deeplink"), "plugin", "new"] + arguments).joined(separator: " ")
      return try world.run(["/bin/sh", "-c", "mkdir -p \(folder) && cd \(folder) && \(command)"])
    }
    let example = try new("com.example.Notes_1")
    #expect(example.output == "com.example.Notes_1/plugin.json\n", "\(example.errors)")
    #expect(try new("com.example.Notes_1").errors.contains("is there already"))
    #expect(try new("--from", "org.example.Editor.desktop").status == 0)
    #expect(try new("--from", "gone.desktop").status == 1)
    #expect(try new("notes").errors.contains("no identity in reverse DNS"))
    for (id, link, route) in [
      ("com.example.Notes_1", "com.example.notes1:hello/World", "hello"),
      ("com.example.Notes_1", "com.example.notes1:echo?text=a", "echo"),
      ("org.example.Editor", "ed:a/b?c=d", "open"), ("org.example.Editor", "ed://h/p/q", "open"),
      ("org.example.Editor", "ed:/x", "open"), ("org.example.Editor", "ed://h", "open"),
    ] {
      let check = try deeplink("plugin", "check", "\(folder)/\(id)")
      #expect(check.status == 0 && !check.output.contains("error"), "\(check.output)")
      let done = try deeplink(
        "explain", "--json", "--manifest", "\(folder)/\(id)/plugin.json", link)
      #expect(done.output.contains(#""route":"\#(route)""#), "\(link): \(done.output)")
    }
    // It is that application's scheme already.
    let added = try deeplink("plugin", "add", "--yes", "\(folder)/org.example.Editor")
    #expect(added.errors.contains("'ed' stays with Ed\\itor"), "\(added.errors)")
  }
}
