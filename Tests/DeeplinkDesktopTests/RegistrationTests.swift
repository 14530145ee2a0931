import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// Plans against a home, with the desktop's own tools as judges of what they come to.
@Suite(.timeLimit(.minutes(2))) struct RegistrationTests {
  static let tools = Requirement.program(
    "update-desktop-database", "xdg-mime", "gio", "desktop-file-validate")

  /// Everything below the home but what the cache's tool leaves, by path; links as their targets.
  static func snapshot(_ root: URL) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
      let path = root.appending(path: name).path
      if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
        files[name] = Data("-> \(target)".utf8)
      } else {
        files[name] = FileManager.default.contents(atPath: path) ?? Data("folder".utf8)
      }
    }
    return files
  }

  static func difference(_ after: [String: Data], _ before: [String: Data]) -> [String] {
    Set(after.keys).union(before.keys).filter { after[$0] != before[$0] }.sorted().map { name in
      let texts = [before, after].map {
        $0[name].map { String(decoding: $0, as: UTF8.self) } ?? "-"
      }
      return "\(name): \(texts)"
    }
  }

  static func plugin(_ id: String, _ schemes: String..., name: String = "\"Test\"") throws -> Plugin
  {
    let list = schemes.map { "\"\($0)\"" }.joined(separator: ", ")
    let text = """
      {"id": "\(id)", "name": \(name), "icon": "mail", "schemes": [\(list)],
       "routes": [{"name": "a", "match": "/a", "action": {"notify": {"title": "A"}}}]}
      """
    return try #require(Plugin.read(Array(text.utf8), file: "test").plugin)
  }

  struct Home {
    let world: World
    var directories: BaseDirectories { BaseDirectories(environment: world.environment) }
    var opener: String { world.root.appending(path: "home/opener").path }

    init() throws {
      world = try World(extra: ["XDG_DATA_DIRS": "/nonexistent", "XDG_CONFIG_DIRS": "/nonexistent"])
      try world.write("#!/bin/sh\n", to: "home/opener", executable: true)
    }

    @discardableResult func register(
      _ plugins: [Plugin], taking: Set<Scheme> = [], disabled: [Plugin] = [],
      desktops: [String] = []
    ) throws -> RegistrationPlan {
      var record = try Registration.read(directories)
      record.taken.formUnion(taking)
      var plan = try RegistrationPlan(
        table: RouteTable(plugins: plugins), disabled: disabled, opener: opener, record: record,
        directories: directories, desktops: desktops)
      try plan.apply { folder in
        _ = try? world.run(["update-desktop-database", folder])
      }
      return plan
    }

    /// What opens a scheme, by each of the tools; all must agree.
    func opener(of scheme: String, desktop: String? = nil) throws -> String {
      let type = "x-scheme-handler/\(scheme)"
      let xdg = try world.run(
        ["xdg-mime", "query", "default", type], environment: ["XDG_CURRENT_DESKTOP": desktop])
      let gio = try world.run(["gio", "mime", type], environment: ["XDG_CURRENT_DESKTOP": desktop])
      let line = gio.output.split(separator: "\n").first.map(String.init) ?? ""
      let name = line.contains("No default") ? "" : line.split(separator: " ").last.map(String.init)
      let chosen = Handlers(
        directories: directories, desktops: desktop.map { [$0.lowercased()] } ?? [])
      let ours = chosen.chosen(for: Scheme(scheme) ?? "x")?.entry ?? ""
      #expect(name == xdg.output.trimmed, "\(gio.output)\(gio.errors)")
      #expect(ours == xdg.output.trimmed)
      return xdg.output.trimmed
    }

    func addApplication(_ id: String, _ scheme: String) throws {
      try world.write(
        """
        [Desktop Entry]
        Type=Application
        Name=Other
        Exec=/bin/true %u
        MimeType=x-scheme-handler/\(scheme);

        """, to: "home/.local/share/applications/\(id)")
      _ = try world.run(["update-desktop-database", "\(directories.dataHome)/applications"])
    }
  }

  @Test(.enabled(if: tools))
  func `the tools of the desktop agree on who opens a registered scheme`() throws {
    let home = try Home()
    let demo = try Self.plugin(
      "com.example.Test", "com.example.test", "demo",
      name: #"{"en": " a\\b Demo", "de": "Vorführung", "pt_BR": "Demonstração"}"#)
    let plan = try home.register([demo])
    #expect(plan.held.isEmpty)
    #expect(try home.opener(of: "demo") == "com.example.Test.Deeplinks.desktop")
    #expect(try home.opener(of: "com.example.test") == "com.example.Test.Deeplinks.desktop")
    let path = "\(home.directories.dataHome)/applications/com.example.Test.Deeplinks.desktop"
    let validated = try home.world.run(["desktop-file-validate", path])
    #expect(validated.status == 0 && validated.output == "", "\(validated.output)")
    #expect(
      try String(contentsOfFile: path, encoding: .utf8) == #"""
        [Desktop Entry]
        Type=Application
        Name=\sa\\b Demo
        Name[de]=Vorführung
        Name[en]=\sa\\b Demo
        Name[pt_BR]=Demonstração
        Icon=mail
        Exec=\#(home.opener) -- %u
        TryExec=\#(home.opener)
        StartupNotify=true
        NoDisplay=true
        MimeType=x-scheme-handler/com.example.test;x-scheme-handler/demo;

        """#)
    #expect(try home.register([demo]).changes.isEmpty)
  }

  @Test(.enabled(if: tools)) func `add then remove leaves every byte and every link`() throws {
    let lists: [String?] = [
      nil, "", "# no end", "[Default Applications]\r\ntext/plain=a.desktop\r\n",
      "[Default Applications]\nx-scheme-handler/demo=gone.desktop\nx-scheme-handler/demo=b.desktop",
      "[Added Associations]\nx-scheme-handler/demo=other.desktop;\n\n[Default Applications]\n\n",
      "[Removed Associations]\nx-scheme-handler/demo=com.example.A.Deeplinks.desktop;\n",
    ]
    let first = try Self.plugin("com.example.A", "demo")
    let second = try Self.plugin("com.example.B", "demo", "com.example.b")
    var cases = 0
    for list in lists {
      for (isLink, hasOther) in [(false, false), (false, true), (true, true)] {
        let home = try Home()
        let world = home.world
        if let list {
          try world.write(list, to: isLink ? "home/dotfiles/list" : "home/.config/mimeapps.list")
        }
        if isLink {
          try FileManager.default.createDirectory(
            at: world.home.appending(path: "dotfiles"), withIntermediateDirectories: true)
          try FileManager.default.createSymbolicLink(
            atPath: world.configHome.appending(path: "mimeapps.list").path,
            withDestinationPath: "../dotfiles/list")
        }
        if hasOther { try home.addApplication("other.desktop", "demo") }
        try FileManager.default.createDirectory(
          atPath: home.directories.state, withIntermediateDirectories: true)
        // The order of lines in the cache is the tool's business until somebody else's it is.
        if hasOther {
          try world.write(
            "[MIME Cache]\nx-scheme-handler/demo=other.desktop;\n\n",
            to: "home/.local/share/applications/mimeinfo.cache")
        }
        let before = try Self.snapshot(world.home)
        // Each way round, and what was first added first removed.
        for order in [[first, second], [second, first]] {
          try home.register([first], taking: ["demo"])
          #expect(try home.opener(of: "demo") == "com.example.A.Deeplinks.desktop")
          try home.register([first, second])
          try home.register([order[1]])
          #expect(try home.opener(of: "demo") == HandlerEntry.id(of: order[1].id))
          try home.register([])
          #expect(Self.difference(try Self.snapshot(world.home), before) == [], "\(list ?? "none")")
          cases += 1
        }
      }
    }
    #expect(cases == lists.count * 6)
  }

  @Test(.enabled(if: tools)) func `a scheme of another application is taken only when asked`()
    throws
  {
    for (isChosen, isDesktops) in [(false, false), (true, false), (true, true)] {
      let home = try Home()
      try home.addApplication("other.desktop", "demo")
      if isChosen {
        try home.world.write(
          "[Default Applications]\nx-scheme-handler/demo=other.desktop\n",
          to: "home/.config/\(isDesktops ? "mate-" : "")mimeapps.list")
      }
      let desktops = isDesktops ? ["mate"] : []
      let before = try Self.snapshot(home.world.home)
      let demo = try Self.plugin("com.example.Test", "demo", "com.example.test")
      let plan = try home.register([demo], desktops: desktops)
      #expect(plan.held.map(\.entry) == ["other.desktop"] && plan.held[0].name == "Other")
      let gio = try home.world.run(["gio", "mime", "x-scheme-handler/demo"])
      #expect(gio.output.contains("other.desktop") && !gio.output.contains("com.example.Test"))
      #expect(try home.opener(of: "com.example.test") == "com.example.Test.Deeplinks.desktop")
      try home.register([demo], taking: ["demo"], desktops: desktops)
      let desktop = isDesktops ? "MATE" : nil
      #expect(
        try home.opener(of: "demo", desktop: desktop) == "com.example.Test.Deeplinks.desktop")
      let taken = try home.world.run(
        ["gio", "mime", "x-scheme-handler/demo"], environment: ["XDG_CURRENT_DESKTOP": desktop])
      #expect(!taken.output.contains("other.desktop"), "a portal would ask: \(taken.output)")
      try home.register([], desktops: desktops)
      var after = try Self.snapshot(home.world.home)
      after[".local/state/deeplinkd"] = nil
      #expect(Self.difference(after, before) == [])
    }
  }

  @Test(.enabled(if: tools)) func `what the person chose since stays chosen`() throws {
    let home = try Home()
    let demo = try Self.plugin("com.example.Test", "demo")
    try home.addApplication("other.desktop", "demo")
    try home.register([demo], taking: ["demo"])
    let done = try home.world.run(["gio", "mime", "x-scheme-handler/demo", "other.desktop"])
    #expect(done.status == 0)
    let plan = try home.register([demo])
    #expect(plan.held.map(\.entry) == ["other.desktop"])
    try home.register([])
    #expect(try home.opener(of: "demo") == "other.desktop")
    #expect(
      !(try home.world.run(["grep", "-r", "Deeplinks", home.directories.configHome])).output
        .contains("Test"))
  }

  @Test func `one scheme has one entry, and what a package installed needs no second`() throws {
    let home = try Home()
    let world = home.world
    let first = try Self.plugin("com.example.A", "demo")
    let second = try Self.plugin("com.example.B", "demo", "com.example.b")
    try home.register([first, second])
    let text = try String(
      contentsOfFile:
        "\(home.directories.dataHome)/applications/com.example.B.Deeplinks.desktop", encoding: .utf8
    )
    #expect(text.contains("MimeType=x-scheme-handler/com.example.b;\n"))
    try home.register([])

    let shared = try World(
      extra: ["XDG_DATA_DIRS": world.root.appending(path: "usr").path])
    let directories = BaseDirectories(environment: shared.environment)
    try world.write(
      HandlerEntry(first, schemes: first.schemes, opener: "/usr/bin/deeplink-open").text,
      to: "usr/applications/com.example.A.Deeplinks.desktop")
    func plan(_ enabled: [Plugin], _ disabled: [Plugin]) throws -> [String] {
      try RegistrationPlan(
        table: RouteTable(plugins: enabled), disabled: disabled, opener: "/usr/bin/deeplink-open",
        record: Registration.read(directories), directories: directories, desktops: []
      ).changes.map { String($0.path.split(separator: "/").last ?? "") }
    }
    #expect(try plan([first], []) == ["mimeapps.list"])
    #expect(try plan([], [first]) == ["com.example.A.Deeplinks.desktop"])
    #expect(try plan([], [second]) == [])
  }

  @Test func `a change that fails takes the others back`() throws {
    let home = try Home()
    // A file where a folder is wanted.
    try home.world.write("", to: "home/.local/share/applications")
    let before = try Self.snapshot(home.world.home)
    let demo = try Self.plugin("com.example.Test", "demo")
    #expect(throws: PersonFile.Failure.self) { try home.register([demo]) }
    var after = try Self.snapshot(home.world.home)
    after[".local/state/deeplinkd"] = nil
    #expect(Self.difference(after, before) == [])
  }
}
