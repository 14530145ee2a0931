import DeeplinkDesktop
import DeeplinkTesting
import Foundation
import Testing

/// Every byte that is not ours stays.
@Suite struct MIMEApplicationsTests {
  static let nasty: [String] = [
    "", "\n", "\n\n", "# only a comment", "[Default Applications]", "[Default Applications]\n",
    "[Default Applications]\n\n\n[Added Associations]\nx-scheme-handler/a=b.desktop;\n",
    "[Default Applications]\nx-scheme-handler/a=old.desktop",
    "[Default Applications]\r\nx-scheme-handler/a=old.desktop\r\n\r\n# end\r\n",
    "  [Default Applications]  \n  x-scheme-handler/a =  old.desktop ;other.desktop\n",
    "[Default Applications]\nx-scheme-handler/a=1.desktop\nx-scheme-handler/a=2.desktop\n",
    "[Default Applications]\nx-scheme-handler/a=1.desktop\n[Other]\nx-scheme-handler/a=no.desktop\n"
      + "[Default Applications]\nx-scheme-handler/a=2.desktop",
    "junk before\nx-scheme-handler/a=outside.desktop\n[Unknown]\nk=v\n#[Default Applications]\n",
    "[Default Applications]\nx-scheme-handler/a=\n", "[Default Applications]\nx-scheme-handler/a\n",
    "[Removed Associations]\nx-scheme-handler/a=gone.desktop;\n[Default Applications]\n\n",
    "[Default Applications]\n# x-scheme-handler/a=comment.desktop\nx-scheme-handler/ä=\u{e4}.desktop",
  ]

  @Test func `edits that are undone leave every byte`() {
    var random = SystemRandomNumberGenerator()
    var cases = 0
    for text in Self.nasty {
      for bytes in [Array(text.utf8), Array(text.utf8) + [0xFF, 0xFE, 0x0A], [0xFF] + text.utf8] {
        for _ in 0..<60 {
          var list = MIMEApplications(bytes)
          #expect(list.bytes == bytes)
          var edits: [MIMEApplications.Edit] = []
          for _ in 0..<Int.random(in: 1...6, using: &random) {
            let type = "x-scheme-handler/" + (["a", "b", "ä"].randomElement(using: &random) ?? "a")
            let group = MIMEApplications.Group.allCases.randomElement(using: &random) ?? .defaults
            let entries = Array(
              ["x.desktop", "old.desktop", "y.desktop"].shuffled().prefix(Int.random(in: 0...3)))
            guard let edit = list.set(entries, of: type, in: group) else { continue }
            #expect(list.entries(of: type, in: group) == entries)
            edits.append(edit)
          }
          for edit in edits.reversed() {
            let isUndone = list.undo(edit)
            #expect(isUndone)
          }
          #expect(list.bytes == bytes, "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
          cases += 1
        }
      }
    }
    #expect(cases == Self.nasty.count * 180)
  }

  @Test func `of a key that somebody changed since only what is ours is taken out`() throws {
    let type = "x-scheme-handler/a"
    var list = MIMEApplications(Array("[Default Applications]\n\(type)=old.desktop\n".utf8))
    let edit = list.set(["ours.desktop"], of: type, in: .defaults)
    let change = list.set(["new.desktop", "ours.desktop"], of: type, in: .defaults)
    #expect(change?.formerEntries == ["ours.desktop"])
    let isUndone = list.undo(try #require(edit))
    #expect(!isUndone)
    #expect(list.entries(of: type, in: .defaults) == ["new.desktop"])
  }

  @Test func `a file that was not changed in between keeps other people's later lines`() throws {
    let type = "x-scheme-handler/a"
    var list = MIMEApplications(Array("# mine".utf8))
    let edit = list.set(["ours.desktop"], of: type, in: .defaults)
    list = MIMEApplications(list.bytes + Array("text/plain=editor.desktop\n".utf8))
    let isUndone = list.undo(try #require(edit))
    #expect(isUndone)
    #expect(
      String(decoding: list.bytes, as: UTF8.self)
        == "# mine\n[Default Applications]\ntext/plain=editor.desktop\n")
  }

  @Test func `a file is replaced behind its symbolic links, with its mode`() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "list-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    let files = FileManager.default
    try files.createDirectory(
      at: root.appending(path: "dotfiles"), withIntermediateDirectories: true)
    let real = root.appending(path: "dotfiles/list").path
    try files.createSymbolicLink(
      atPath: root.appending(path: "second").path, withDestinationPath: "dotfiles/list")
    try files.createSymbolicLink(
      atPath: root.appending(path: "first").path,
      withDestinationPath: root.appending(path: "second").path)
    let file = PersonFile(root.appending(path: "first").path)
    #expect(try file.read() == nil)
    try file.write([1, 2])
    #expect(try Data(contentsOf: URL(filePath: real)) == Data([1, 2]))
    try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: real)
    try file.write([3])
    #expect(try file.read() == [3])
    #expect(try files.attributesOfItem(atPath: real)[.posixPermissions] as? Int == 0o600)
    #expect(
      try files.contentsOfDirectory(atPath: root.path).sorted() == ["dotfiles", "first", "second"])
    #expect(try files.contentsOfDirectory(atPath: root.path + "/dotfiles") == ["list"])
    try file.write(nil)
    #expect(try file.read() == nil)
    #expect(try files.destinationOfSymbolicLink(atPath: file.path) == root.path + "/second")
  }
}
