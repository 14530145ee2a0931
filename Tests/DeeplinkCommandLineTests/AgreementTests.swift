import DeeplinkTesting
import Foundation
import Testing

/// Who opens what: the desktop's own tools say what `deeplink schemes` says, after every change.
@Suite(
  .timeLimit(.minutes(3)),
  .enabled(
    if: Requirement.program(
      "update-desktop-database", "desktop-file-validate", "xdg-mime", "gio")
      && Requirement.file(URL(filePath: "/usr/lib/python3/dist-packages/gi/__init__.py"))))
struct AgreementTests {
  let world: World

  init() throws {
    world = try World(extra: ["XDG_DATA_DIRS": "/nonexistent", "XDG_CONFIG_DIRS": "/nonexistent"])
  }

  private func deeplink(_ arguments: String...) throws {
    let done = try world.run([Repository.program("deeplink")] + arguments)
    #expect(done.status == 0, "\(done.errors)")
  }

  /// What each tool says who opens a scheme, "" for nobody.
  private func openers(of scheme: String) throws -> [String: String] {
    let type = "x-scheme-handler/\(scheme)"
    let gio = try world.run(["gio", "mime", type], environment: ["LC_ALL": "C.UTF-8"])
    let line = gio.output.split(separator: "\n").first.map(String.init) ?? ""
    let python = try world.run([
      "/usr/bin/python3", "-c",
      "import sys; from gi.repository import Gio; "
        + "a = Gio.AppInfo.get_default_for_uri_scheme(sys.argv[1]); print(a.get_id() if a else '')",
      scheme,
    ])
    #expect(python.status == 0, "\(python.errors)")
    let cache = try? String(
      contentsOf: world.dataHome.appending(path: "applications/mimeinfo.cache"), encoding: .utf8)
    let cached = (cache ?? "").split(separator: "\n").first { $0.hasPrefix("\(type)=") }
    return [
      "xdg-mime": try world.run(["xdg-mime", "query", "default", type]).output.trimmed,
      "gio": line.hasPrefix("No default") ? "" : String(line.split(separator: " ").last ?? ""),
      "GLib": python.output.trimmed,
      "cache": cached.map { String($0.dropFirst(type.count + 1).split(separator: ";").first ?? "") }
        ?? "",
    ]
  }

  /// That all say `entry`, and so does `deeplink schemes` where a plugin has the scheme.
  private func expect(
    _ scheme: String, _ entry: String, cache: String? = nil, _ moment: Comment
  ) throws {
    var found = try openers(of: scheme)
    #expect(found.removeValue(forKey: "cache") == cache ?? entry, moment)
    #expect(Set(found.values) == [entry], "\(moment): \(found)")
    let rows = try world.run([Repository.program("deeplink"), "schemes", "--json", scheme])
    guard rows.status == 0 else { return }
    let row = try JSONSerialization.jsonObject(with: Data(rows.output.utf8)) as? [String: Any]
    #expect(row?["openedBy"] as? String ?? "" == entry, moment)
  }

  private func plugin(_ id: String, _ schemes: String...) throws -> String {
    let list = schemes.map { "\"\($0)\"" }.joined(separator: ", ")
    let file = try world.write(
      #"{"id": "\#(id)", "name": {"en": "Ünï; = [x] \\ \"q\"", "de": "Ä"}, "schemes": [\#(list)], "#
        + #""icon": "/a b/c.png", "#
        + #""routes": [{"name": "a", "match": "/a", "action": {"notify": {"title": "A"}}}]}"#,
      to: "source/\(id)/plugin.json")
    return file.deletingLastPathComponent().path
  }

  @Test func `all tools agree after every change`() throws {
    let first = try plugin("org.example.A", "org.example.a", "shared", "web+note")
    let second = try plugin("org.example.B", "shared", "other")
    let (a, b) = ("org.example.A.Deeplinks.desktop", "org.example.B.Deeplinks.desktop")
    try world.write(
      "[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true %u\n"
        + "MimeType=x-scheme-handler/other;\n",
      to: "home/.local/share/applications/other.desktop")
    let applications = world.dataHome.appending(path: "applications").path
    _ = try world.run(["update-desktop-database", applications])

    try deeplink("plugin", "add", "--yes", first)
    for scheme in ["org.example.a", "shared", "web+note"] { try expect(scheme, a, "added") }
    try deeplink("plugin", "add", "--yes", second)
    try expect("shared", a, "a second plugin claims it")
    try expect("other", "other.desktop", "another application has it")
    try deeplink("schemes", "--owner", "org.example.B", "shared")
    try expect("shared", b, "given to the second")
    try deeplink("plugin", "enable", "--make-default", "org.example.B")
    // The cache knows of both; the lists decide.
    try expect("other", b, cache: openers(of: "other")["cache"], "taken over")
    for entry in [a, b] {
      let done = try world.run(["desktop-file-validate", "\(applications)/\(entry)"])
      #expect(done.status == 0 && done.output == "", "\(done.output)")
    }
    let cache = URL(filePath: "\(applications)/mimeinfo.cache")
    let before = try Data(contentsOf: cache)
    _ = try world.run(["update-desktop-database", applications])
    #expect(try Data(contentsOf: cache) == before)

    try deeplink("plugin", "disable", "org.example.B")
    try expect("shared", a, "the second is off")
    try expect("other", "other.desktop", "given back")
    try deeplink("plugin", "enable", "org.example.B")
    try expect("shared", b, "the second is on")
    try deeplink("plugin", "remove", "org.example.A")
    try expect("org.example.a", "", "the first is gone")
    try expect("web+note", "", "the first is gone")
    try expect("shared", b, "the first is gone")
    try deeplink("plugin", "remove", "org.example.B")
    try expect("shared", "", "both are gone")
    try expect("other", "other.desktop", "both are gone")
  }
}
