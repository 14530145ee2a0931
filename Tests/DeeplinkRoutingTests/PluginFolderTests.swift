import DeeplinkRouting
import Foundation
import Testing

/// Manifests on the disk, in data directories of each test's own.
@Suite struct PluginFolderTests {
  /// Data directories that are removed with the test.
  final class Disk {
    let root = FileManager.default.temporaryDirectory.appending(
      path: "plugins-\(UUID().uuidString)")
    let user = getuid()

    func data(_ name: String) -> String { root.appending(path: name).path }

    func folder(_ data: String, _ id: String) -> String {
      "\(self.data(data))/deeplinkd/plugins/\(id)"
    }

    @discardableResult
    func write(_ data: String, _ id: String, _ text: String? = nil) throws -> String {
      let folder = folder(data, id)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      chmod(folder, 0o755)
      let manifest =
        text ?? Manifest.plugin(["id": .string(id), "name": .string(data)]).description
      try Data(manifest.utf8).write(to: URL(filePath: "\(folder)/plugin.json"))
      chmod("\(folder)/plugin.json", 0o644)
      return folder
    }

    func catalog() -> PluginCatalog {
      PluginCatalog(dataDirectories: [data("home"), data("system")], user: user)
    }

    deinit { try? FileManager.default.removeItem(at: root) }
  }

  @Test func `the first data directory wins by id`() throws {
    let disk = Disk()
    try disk.write("home", "com.example.A")
    try disk.write("system", "com.example.A")
    try disk.write("system", "com.example.B")
    var catalog = disk.catalog()
    catalog.reload()
    #expect(catalog.plugins.map(\.id.text) == ["com.example.A", "com.example.B"])
    #expect(catalog.plugins.map(\.name.standard) == ["home", "system"])
    #expect(
      catalog.plugins.map(\.folder) == [
        disk.folder("home", "com.example.A"), disk.folder("system", "com.example.B"),
      ])
    catalog.reload(disabled: [try PluginID("com.example.A")])
    #expect(catalog.plugins.map(\.id.text) == ["com.example.B"])
    catalog.reload()
    #expect(catalog.plugins.count == 2)
  }

  @Test func `the last good manifest serves on, and a removed plugin is gone`() throws {
    let disk = Disk()
    try disk.write("home", "com.example.A")
    try disk.write("system", "com.example.A")
    var catalog = disk.catalog()
    catalog.reload()
    try disk.write("home", "com.example.A", "{ id: 3 }")
    catalog.reload()
    #expect(catalog.plugins.map(\.name.standard) == ["home"])
    #expect(catalog.diagnostics.filter { $0.severity == .error }.isEmpty == false)
    #expect(catalog.diagnostics.last?.reason == "the manifest as it was before the error serves on")
    catalog.reload()
    #expect(catalog.plugins.map(\.name.standard) == ["home"])
    try FileManager.default.removeItem(atPath: disk.folder("home", "com.example.A"))
    catalog.reload()
    #expect(catalog.plugins.map(\.name.standard) == ["system"])
    #expect(catalog.diagnostics.isEmpty)
  }

  @Test func `a manifest that was never right is not replaced by one behind it`() throws {
    let disk = Disk()
    try disk.write("home", "com.example.A", "{")
    try disk.write("system", "com.example.A")
    var catalog = disk.catalog()
    catalog.reload()
    #expect(catalog.plugins.isEmpty)
    #expect(
      catalog.diagnostics.map(\.file) == ["\(disk.folder("home", "com.example.A"))/plugin.json"])
  }

  @Test func `plugins keep the order in which they were first seen`() throws {
    let disk = Disk()
    try disk.write("home", "com.example.B")
    var catalog = disk.catalog()
    catalog.reload()
    try disk.write("home", "com.example.A")
    catalog.reload()
    #expect(catalog.plugins.map(\.id.text) == ["com.example.B", "com.example.A"])
  }

  /// What is wrong with a folder, and what is said about it.
  enum Fault: String, CaseIterable, Sendable {
    case missing, directory, pipe, writableFile, writableFolder, groupWritable, long, otherName

    var reason: String {
      switch self {
      case .missing: "can not be opened: No such file or directory"
      case .directory, .pipe: "is no regular file"
      case .writableFile, .groupWritable: "the manifest can be written by others"
      case .writableFolder: "the folder can be written by others"
      case .long: "is longer than 1048576 bytes"
      case .otherName: "the plugin 'com.example.Other' lies in a folder named 'com.example.A'"
      }
    }
  }

  @Test(arguments: Fault.allCases)
  func `a folder that can not be trusted is not loaded`(_ fault: Fault) throws {
    let disk = Disk()
    let folder = try disk.write("home", "com.example.A")
    let manifest = "\(folder)/plugin.json"
    switch fault {
    case .missing: unlink(manifest)
    case .directory:
      unlink(manifest)
      mkdir(manifest, 0o755)
    case .pipe:
      unlink(manifest)
      mkfifo(manifest, 0o644)
    case .writableFile: chmod(manifest, 0o646)
    case .groupWritable: chmod(manifest, 0o664)
    case .writableFolder: chmod(folder, 0o777)
    case .long:
      try disk.write(
        "home", "com.example.A",
        String(repeating: " ", count: 1 << 20) + Manifest.plugin().description)
    case .otherName:
      try disk.write(
        "home", "com.example.A", Manifest.plugin(["id": "com.example.Other"]).description)
    }
    let (plugin, diagnostics) = PluginFolder(path: folder).read(
      user: disk.user, expecting: try PluginID("com.example.A"))
    #expect(plugin == nil)
    #expect(diagnostics.map(\.reason) == [fault.reason])
  }

  @Test func `a manifest of another user is not loaded`() throws {
    let disk = Disk()
    let folder = try disk.write("home", "com.example.A")
    if disk.user == 0 {
      #expect(chown("\(folder)/plugin.json", 12_345, 12_345) == 0)
      #expect(
        PluginFolder(path: folder).read(user: 1_000).diagnostics.first?.reason
          == "the manifest belongs to another user (uid 12345)")
      #expect(PluginFolder(path: folder).read(user: 12_345).plugin != nil)
    } else {
      #expect(
        PluginFolder(path: folder).read(user: disk.user + 1).diagnostics.first?.reason
          == "the folder belongs to another user (uid \(disk.user))")
    }
  }

  @Test func `a symbolic link is followed, and what it leads to is examined`() throws {
    let disk = Disk()
    let folder = try disk.write("home", "com.example.A")
    let elsewhere = "\(disk.data("elsewhere")).json"
    try FileManager.default.moveItem(atPath: "\(folder)/plugin.json", toPath: elsewhere)
    symlink(elsewhere, "\(folder)/plugin.json")
    #expect(PluginFolder(path: folder).read(user: disk.user).plugin != nil)
    chmod(elsewhere, 0o666)
    #expect(PluginFolder(path: folder).read(user: disk.user).plugin == nil)
  }

  @Test
  func `a folder that is named like no plugin is not used, and told of where it has a manifest`()
    throws
  {
    let disk = Disk()
    let folder = try disk.write("home", "notes", "{")
    try FileManager.default.createDirectory(
      atPath: "\(folder)/../empty", withIntermediateDirectories: false)
    try disk.write("home", ".com.example.Hidden", "{")
    var catalog = disk.catalog()
    catalog.reload()
    #expect(catalog.plugins.isEmpty)
    #expect(catalog.diagnostics.map(\.file) == ["\(folder)/plugin.json"])
    #expect(catalog.diagnostics[0].reason == "its folder is not named like a plugin, ignoring it")
  }
}
