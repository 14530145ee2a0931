/// A `mimeapps.list` (MIME Applications Associations specification 1.0.1), edited one key at a time.
///
/// Every byte that is not part of an edited key stays: comments, groups of others, line ends, a
/// missing last one, bytes that are no UTF-8. What is read is what GLib reads (GKeyFile): blanks
/// around names do not count, and of a key that stands twice the last counts. xdg-mime takes the
/// first, so an edit changes both.
public struct MIMEApplications: Hashable, Sendable {
  public enum Group: String, Hashable, Sendable, CaseIterable {
    case defaults = "Default Applications"
    case added = "Added Associations"
    case removed = "Removed Associations"
  }

  /// With their ends.
  var lines: [[UInt8]]

  public init(_ bytes: [UInt8] = []) {
    lines = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(Array(rest[...end]))
      rest = rest[(end + 1)...]
    }
    if !rest.isEmpty { lines.append(Array(rest)) }
  }

  public var bytes: [UInt8] { lines.flatMap(\.self) }

  /// The desktop entries of a type in a group, with their suffix; empty where it has no such key.
  public func entries(of type: String, in group: Group) -> [String] {
    guard let index = indices(of: type, in: group).last,
      case .key(_, let value) = Self.content(of: lines[index])
    else { return [] }
    return value.split(separator: ";").map(String.init)
  }

  /// The types that a group has a key for.
  public func types(in group: Group) -> Set<String> {
    Set(
      members(of: group.rawValue).compactMap {
        if case .key(let name, _) = Self.content(of: lines[$0]) { name } else { nil }
      })
  }

  // MARK: Lines

  private enum Content: Equatable {
    case group(String)
    case key(String, value: String)
    case other
  }

  private static func content(of line: [UInt8]) -> Content {
    let text = String(decoding: line, as: UTF8.self).trimmed
    if text.hasPrefix("#") { return .other }
    if text.hasPrefix("["), text.hasSuffix("]") {
      return .group(String(text.dropFirst().dropLast()))
    }
    guard let equals = text.unicodeScalars.firstIndex(of: "=") else { return .other }
    return .key(
      String(text[..<equals]).trimmed,
      value: String(text[text.unicodeScalars.index(after: equals)...]).trimmed)
  }

  /// The indices of a group's lines, wherever it stands; it may stand several times.
  private func members(of group: String) -> [Int] {
    var isInside = false
    return lines.indices.filter { index in
      guard case .group(let name) = Self.content(of: lines[index]) else { return isInside }
      isInside = name == group
      return false
    }
  }

  func indices(of type: String, in group: Group) -> [Int] {
    members(of: group.rawValue).filter {
      if case .key(type, _) = Self.content(of: lines[$0]) { true } else { false }
    }
  }

  /// Where a new key of a group goes: behind its last line that is not blank, where it stands first.
  func end(of group: Group) -> Int? {
    guard var index = lines.firstIndex(where: { Self.content(of: $0) == .group(group.rawValue) })
    else { return nil }
    var end = index + 1
    index = end
    while index < lines.count {
      if case .group = Self.content(of: lines[index]) { break }
      index += 1
      if !lines[index - 1].allSatisfy(\.isBlank) { end = index }
    }
    return end
  }

  /// Where the header of a group stands that has no line of its own.
  func emptyGroup(_ group: Group) -> Int? {
    lines.indices.last { index in
      guard Self.content(of: lines[index]) == .group(group.rawValue) else { return false }
      guard index + 1 < lines.count else { return true }
      if case .group = Self.content(of: lines[index + 1]) { return true }
      return false
    }
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}

extension String {
  /// Without blanks and line ends around it: by scalars, since CR LF is one character.
  fileprivate var trimmed: String {
    var scalars = Substring(self).unicodeScalars
    func isBlank(_ scalar: Unicode.Scalar?) -> Bool {
      scalar.map { $0 == " " || (0x09...0x0D).contains($0.value) } ?? false
    }
    while isBlank(scalars.first) { scalars.removeFirst() }
    while isBlank(scalars.last) { scalars.removeLast() }
    return String(scalars)
  }
}
