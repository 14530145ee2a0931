extension MIMEApplications {
  /// What an edit did to a file, and all that it takes to undo it.
  public struct Edit: Hashable, Sendable {
    public let type: String
    public let group: Group
    /// The entries that were set; empty: the key was taken out.
    public let entries: [String]
    /// The key's lines as they were, byte for byte.
    let former: [[UInt8]]
    /// Whether the group came with the edit.
    var addedGroup = false
    /// The file's last line, where the edit gave it the end that it did not have.
    var unterminated: [UInt8]?

    /// The entries that the key had before.
    public var formerEntries: [String] {
      var list = MIMEApplications()
      list.lines = [Array("[\(group.rawValue)]\n".utf8)] + former
      return list.entries(of: type, in: group)
    }
  }

  /// Sets a key, everywhere where it stands, or takes it out; nil where it has the value already.
  public mutating func set(_ entries: [String], of type: String, in group: Group) -> Edit? {
    let places = indices(of: type, in: group)
    let line = Self.line(type, entries)
    guard places.map({ lines[$0] }) != places.map({ _ in line }) || places.isEmpty,
      !(places.isEmpty && entries.isEmpty)
    else { return nil }
    var edit = Edit(
      type: type, group: group, entries: entries, former: places.map { lines[$0] })
    if entries.isEmpty {
      // An empty value keeps the place: a line that comes back goes where it was.
      for index in places { lines[index] = Self.line(type, []) }
    } else if places.isEmpty {
      if let last = lines.last, last.last != Self.newline {
        edit.unterminated = last
        lines[lines.count - 1].append(Self.newline)
      }
      if end(of: group) == nil {
        lines.append(Array("[\(group.rawValue)]\n".utf8))
        edit.addedGroup = true
      }
      lines.insert(line, at: end(of: group) ?? lines.count)
    } else {
      for index in places { lines[index] = line }
    }
    return edit
  }

  /// Takes an edit back: byte for byte where its key is as the edit left it, and else only what the
  /// edit brought is taken out of it.
  ///
  /// False where somebody else changed the key since. Of several edits the last is undone first.
  @discardableResult public mutating func undo(_ edit: Edit) -> Bool {
    let places = indices(of: edit.type, in: edit.group)
    let ours = Self.line(edit.type, edit.entries)
    let isAsLeft =
      places.count == max(edit.former.count, 1) && places.allSatisfy { lines[$0] == ours }
    if isAsLeft, edit.former.isEmpty {
      lines.remove(at: places[0])
    } else if isAsLeft {
      for (index, line) in zip(places, edit.former) { lines[index] = line }
    } else {
      let brought = Set(edit.entries).subtracting(edit.formerEntries)
      let current = entries(of: edit.type, in: edit.group)
      let left = current.filter { !brought.contains($0) }
      if left.isEmpty, !current.isEmpty {
        for index in places.reversed() { lines.remove(at: index) }
      } else if left != current {
        for index in places { lines[index] = Self.line(edit.type, left) }
      }
    }
    if edit.addedGroup, let header = emptyGroup(edit.group) { lines.remove(at: header) }
    if let last = edit.unterminated, lines.last == last + [Self.newline] {
      lines[lines.count - 1] = last
    }
    return isAsLeft
  }

  private static let newline = UInt8(ascii: "\n")

  private static func line(_ type: String, _ entries: [String]) -> [UInt8] {
    Array("\(type)=\(entries.map { "\($0);" }.joined())\n".utf8)
  }
}
