import DeeplinkTesting
import Foundation
import Testing

/// A person's files after a plugin came and went: every byte, every mode, every link, every folder.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: Requirement.program("update-desktop-database", "xdg-mime", "setpriv")))
struct ByteForByteTests {
  static let scheme = "com.example.demo"
  static let type = "x-scheme-handler/com.example.demo"
  static let ours = "com.example.demo.Deeplinks.desktop"
  static let demo = Repository.root.appending(path: "data/plugins/com.example.demo").path

  /// Where the list is, and how.
  enum Place: CaseIterable {
    case plain, privateFile, readOnly, link, chain, relativeLink
  }

  struct List: Sendable, CustomTestStringConvertible {
    let id: String
    /// Nil: there is none.
    let bytes: [UInt8]?
    var testDescription: String { id }

    init(_ id: String, _ text: String?, latin1: Bool = false) {
      self.id = id
      bytes = text.map {
        latin1
          ? $0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array($0.utf8)
      }
    }
  }

  static let lists = [
    List("none", nil), List("empty", ""), List("comment without end", "# mine"),
    List("blank lines", "\n\n\n"),
    List("CR LF", "[Default Applications]\r\ntext/plain=a.desktop\r\n\r\n# x\r\n"),
    List("CR LF without end", "[Default Applications]\r\ntext/plain=a.desktop"),
    List("CR alone", "[Default Applications]\rtext/plain=a.desktop\r"),
    List(
      "group behind others",
      "[Added Associations]\ntext/plain=a.desktop;\n\n\n[Default Applications]"),
    List(
      "groups twice",
      "[Default Applications]\na/b=a.desktop\n[X]\n[Default Applications]\n\(type)=x.desktop\n"
        + "[Default Applications]\n"),
    List("keys twice", "[Default Applications]\n\(type)=x.desktop\n\(type)=y.desktop;z.desktop"),
    List(
      "no UTF-8",
      "[Default Applications]\n# \u{FF}\u{FE}\na/\u{FF}=a.desktop\n\n[\u{E9}]\nk=\u{FF}\n",
      latin1: true),
    List("NUL", "[Default Applications]\ntext/plain=a.desktop\0\n\0"),
    List("byte order mark", "\u{FEFF}[Default Applications]\ntext/plain=a.desktop\n"),
    List("junk", "junk\n=x\n[Default Applications\n]\n\(type)=a.desktop\n"),
    List("blanks", " [Default Applications] \n \(type) = a.desktop ;b.desktop; \n"),
    List("empty value", "[Default Applications]\n\(type)=\n"),
    List("key of a language", "[Default Applications]\n\(type)[de]=a.desktop\n"),
    List("ours already", "[Default Applications]\n\(type)=\(ours)"),
    List("ours removed", "[Removed Associations]\n\(type)=\(ours);foo.desktop\n"),
    List("ours added", "[Added Associations]\n\(type)=\(ours);foo.desktop\n"),
    List(
      "long",
      "[Default Applications]\n"
        + (0..<5000).map { "text/x-\($0)=a.desktop;\n" }.joined()),
  ]

  /// A home that nothing was in before.
  private struct Home {
    let world: World
    /// The names of links and folders, their modes, and what files hold.
    var tree: [String: String] {
      get throws {
        var tree: [String: String] = [:]
        let home = world.home.path
        for name in try FileManager.default.subpathsOfDirectory(atPath: home)
        where !name.hasPrefix(".local/state") {
          let path = "\(home)/\(name)"
          let facts = try FileManager.default.attributesOfItem(atPath: path)
          let mode = String(facts[.posixPermissions] as? Int ?? 0, radix: 8)
          let kind = facts[.type] as? FileAttributeType
          let content =
            switch kind {
            case .typeSymbolicLink: try FileManager.default.destinationOfSymbolicLink(atPath: path)
            case .typeDirectory: "folder"
            default: (FileManager.default.contents(atPath: path) ?? Data()).base64EncodedString()
            }
          tree[name] = "\(mode) \(content)"
        }
        return tree
      }
    }

    init() throws {
      world = try World(extra: ["XDG_DATA_DIRS": "/nonexistent", "XDG_CONFIG_DIRS": "/nonexistent"])
    }

    func deeplink(_ arguments: String...) throws {
      let done = try world.run([Repository.program("deeplink")] + arguments)
      guard done.status == 0 else { throw TestingError(done.errors) }
    }

    var list: String { "\(world.configHome.path)/mimeapps.list" }

    func write(_ bytes: [UInt8], at place: Place) throws {
      let files = FileManager.default
      let dot = world.home.appending(path: "dot files").path
      guard [.link, .chain, .relativeLink].contains(place) else {
        try Data(bytes).write(to: URL(filePath: list))
        let mode = place == .privateFile ? 0o600 : place == .readOnly ? 0o444 : 0o644
        return try files.setAttributes([.posixPermissions: mode], ofItemAtPath: list)
      }
      try files.createDirectory(atPath: dot, withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(filePath: "\(dot)/list"))
      try files.createSymbolicLink(atPath: "\(dot)/second", withDestinationPath: "list")
      let end =
        switch place {
        case .link: "\(dot)/list"
        case .chain: "\(dot)/second"
        default: "../dot files/list"
        }
      try files.createSymbolicLink(atPath: list, withDestinationPath: end)
    }

    /// Another application that has the scheme, and a cache that knows it.
    func addOther() throws {
      try world.write(
        "[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true %u\nMimeType=\(type);\n",
        to: "home/.local/share/applications/other.desktop")
      _ = try world.run([
        "update-desktop-database", world.dataHome.appending(path: "applications").path,
      ])
    }

    var opener: String {
      get throws { try world.run(["xdg-mime", "query", "default", type]).output.trimmed }
    }
  }

  @Test(arguments: lists) func `a list is as it was, wherever it lies`(_ list: List) throws {
    var cases = 0
    for (index, place) in Place.allCases.enumerated() where index < 2 || list.bytes != nil {
      let hasOther = index % 2 == 1
      let home = try Home()
      if let bytes = list.bytes { try home.write(bytes, at: place) }
      if hasOther { try home.addOther() }
      let before = try home.tree
      try home.deeplink("plugin", "add", "--yes", "--make-default", Self.demo)
      #expect(try home.opener == Self.ours)
      try home.deeplink("plugin", "disable", Self.scheme)
      try home.deeplink("plugin", "enable", "--make-default", Self.scheme)
      #expect(try home.opener == Self.ours)
      try home.deeplink("plugin", "remove", Self.scheme)
      #expect(try home.tree == before, "\(place)")
      cases += 1
    }
    #expect(cases == (list.bytes == nil ? 2 : Place.allCases.count))
  }

  @Test func `where there was no folder there is none afterwards`() throws {
    let home = try Home()
    try FileManager.default.removeItem(at: home.world.home)
    try FileManager.default.createDirectory(
      at: home.world.home, withIntermediateDirectories: false)
    try home.deeplink("plugin", "add", "--yes", Self.demo)
    try home.deeplink("plugin", "disable", Self.scheme)
    try home.deeplink("plugin", "enable", Self.scheme)
    try home.deeplink("plugin", "remove", Self.scheme)
    // What is kept lies in .local/state.
    #expect(try home.tree.keys.sorted() == [".local"])
  }

  @Test func `a link to nothing leads to nothing again`() throws {
    let home = try Home()
    try FileManager.default.createDirectory(
      at: home.world.home.appending(path: "dot"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: home.list, withDestinationPath: "../dot/list")
    let before = try home.tree
    try home.deeplink("plugin", "add", "--yes", Self.demo)
    #expect(try home.tree["dot/list"] != nil && home.opener == Self.ours)
    try home.deeplink("plugin", "remove", Self.scheme)
    #expect(try home.tree == before)
  }

  @Test func `plugins go in another order than they came`() throws {
    let home = try Home()
    try home.write(Array("# mine\n[Default Applications]\na/b=c.desktop".utf8), at: .plain)
    let before = try home.tree
    var sources: [String] = []
    for name in ["A", "B", "C"] {
      let file = try home.world.write(
        #"{"id": "org.example.\#(name)", "name": "\#(name)", "schemes": ["org.example.\#(name.lowercased())", "shared"], "#
          + #""routes": [{"name": "a", "match": "/a", "action": {"notify": {"title": "A"}}}]}"#,
        to: "source/\(name)/plugin.json")
      sources.append(file.deletingLastPathComponent().path)
    }
    var cases = 0
    for order in [
      ["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"], ["B", "C", "A"], ["C", "A", "B"],
      ["C", "B", "A"],
    ] {
      for source in sources { try home.deeplink("plugin", "add", "--yes", source) }
      for name in order { try home.deeplink("plugin", "remove", "org.example.\(name)") }
      #expect(try home.tree == before, "\(order)")
      cases += 1
    }
    #expect(cases == 6)
  }

  @Test func `of a list that was edited since only what is ours is taken out`() throws {
    let home = try Home()
    try home.write(Array("[Default Applications]\na/b=c.desktop\n".utf8), at: .plain)
    try home.deeplink("plugin", "add", "--yes", Self.demo)
    let text = try String(contentsOfFile: home.list, encoding: .utf8)
    try ("# first\n" + text + "text/plain=new.desktop\n[Mine]\nk=v\n").write(
      toFile: home.list, atomically: true, encoding: .utf8)
    try home.deeplink("plugin", "remove", Self.scheme)
    #expect(
      try String(contentsOfFile: home.list, encoding: .utf8)
        == "# first\n[Default Applications]\na/b=c.desktop\ntext/plain=new.desktop\n[Mine]\nk=v\n")
  }

  @Test func `where the list cannot be written nothing is changed`() throws {
    let home = try Home()
    try home.write(Array("# mine\n".utf8), at: .plain)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o555], ofItemAtPath: home.world.configHome.path)
    let before = try home.tree
    // Root writes everywhere; without its capabilities it is as any other.
    let wrapper = getuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []
    let done = try home.world.run(
      wrapper + [Repository.program("deeplink"), "plugin", "add", "--yes", Self.demo])
    #expect(done.status == 1)
    #expect(done.errors.contains("mimeapps.list' cannot be changed: Permission denied"))
    #expect(try home.tree == before)
    func write(_ mode: Int) throws {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: home.world.configHome.path)
    }
    // Nor when it goes.
    try write(0o755)
    try home.deeplink("plugin", "add", "--yes", Self.demo)
    try write(0o555)
    let added = try home.tree
    for command in ["remove", "disable"] {
      let kept = try home.world.run(
        wrapper + [Repository.program("deeplink"), "plugin", command, Self.scheme])
      #expect(kept.status == 1)
      #expect(try home.tree == added && home.opener == Self.ours)
    }
    #expect(
      try home.world.run([Repository.program("deeplink"), "plugin", "list"]).output
        .contains("\tenabled\t"))
    try write(0o755)
    try home.deeplink("plugin", "remove", Self.scheme)
  }
}
