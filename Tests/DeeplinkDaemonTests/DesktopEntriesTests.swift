import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkDaemon
@testable import DeeplinkDesktop

/// Desktop entries of actions, which each link asks for.
@Suite struct DesktopEntriesTests {
  let folder = FileManager.default.temporaryDirectory.appending(path: "entries-\(UUID())")

  init() throws {
    EventLoop.shared.startThread()
    try FileManager.default.createDirectory(
      at: folder.appending(path: "applications"), withIntermediateDirectories: true)
  }

  private var file: URL { folder.appending(path: "applications/org.example.App.desktop") }

  private func entry(_ name: String, _ more: String = "") -> Data {
    Data("[Desktop Entry]\nName=\(name)\n\(more)".utf8)
  }

  private func setTime(_ seconds: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: file.path)
  }

  /// In place, as a rename would show by itself.
  private func overwrite(_ data: Data) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: data)
    try handle.close()
  }

  @Test @LoopActor func `an entry is read once, and again when its file was changed`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let entries = DesktopEntries(dataDirectories: [folder.path])
    #expect(entries.entry("org.example.App") == nil)
    try entry("One").write(to: file)
    try setTime(1000)
    #expect(entries.entry("org.example.App")?.0.name == "One")
    #expect(entries.entry("org.example.App")?.path == file.path)
    // Nothing that is looked at tells of this change, so that only a reading could.
    try overwrite(entry("Two"))
    try setTime(1000)
    #expect(entries.entry("org.example.App")?.0.name == "One")
    try setTime(1001)
    #expect(entries.entry("org.example.App")?.0.name == "Two")
    try overwrite(entry("Two", "Hidden=true\n"))
    #expect(entries.entry("org.example.App") == nil)
    try overwrite(entry("Three"))
    #expect(entries.entry("org.example.App")?.0.name == "Three")
    try FileManager.default.removeItem(at: file)
    #expect(entries.entry("org.example.App") == nil)
  }
}
