/// The `format` words that a string parameter can have, checked on the decoded value.
///
/// The URL one needs the parser and is checked by `ValueRule`.
public enum ValueFormat: String, Sendable, Hashable, CaseIterable {
  case uuid
  case date
  case dateTime = "date-time"
  case uri
  case email
  case relativePath = "relative-path"

  func accepts(_ value: String) -> Bool {
    let bytes = Array(value.utf8)
    return switch self {
    case .uuid: Self.isUUID(bytes)
    case .date: Self.isDate(bytes[...])
    case .dateTime: Self.isDateTime(bytes)
    case .uri: (try? ParsedURL.parse(bytes)) != nil
    case .email: Self.isEmail(bytes)
    case .relativePath: Self.isRelativePath(bytes)
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// RFC 4122 section 3, in either case.
  private static func isUUID(_ bytes: [UInt8]) -> Bool {
    bytes.count == 36
      && bytes.indices.allSatisfy { index in
        [8, 13, 18, 23].contains(index)
          ? bytes[index] == UInt8(ascii: "-")
          : isDigit(bytes[index])
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(bytes[index] | 0x20)
      }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard !bytes.isEmpty, bytes.allSatisfy(isDigit) else { return nil }
    return bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// RFC 3339 `full-date`, with days that the month has.
  private static func isDate(_ bytes: ArraySlice<UInt8>) -> Bool {
    let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.map(\.count) == [4, 2, 2], let year = number(parts[0]),
      let month = number(parts[1]), let day = number(parts[2]), (1...12).contains(month)
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(day)
  }

  /// RFC 3339 `date-time`; a leap second is let pass at the end of any hour's last minute.
  private static func isDateTime(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 20, isDate(bytes[..<10]), bytes[10] | 0x20 == UInt8(ascii: "t") else {
      return false
    }
    func isTime(_ text: ArraySlice<UInt8>, limits: [Int]) -> Bool {
      let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      return parts.count == limits.count
        && zip(parts, limits).allSatisfy { part, limit in
          part.count == 2 && number(part).map { $0 <= limit } == true
        }
    }
    guard isTime(bytes[11..<19], limits: [23, 59, 60]) else { return false }
    var rest = bytes[19...]
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix(while: isDigit)
      guard !digits.isEmpty else { return false }
      rest = rest[digits.endIndex...]
    }
    if rest.count == 1, let zone = rest.first { return zone | 0x20 == UInt8(ascii: "z") }
    guard rest.count == 6, let sign = rest.first,
      [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign)
    else { return false }
    return isTime(rest.dropFirst(), limits: [23, 59])
  }

  /// The address of HTML's `<input type=email>` (a deliberate subset of RFC 5322).
  private static func isEmail(_ bytes: [UInt8]) -> Bool {
    guard let at = bytes.lastIndex(of: UInt8(ascii: "@")), at > 0, bytes.count <= 254 else {
      return false
    }
    let localWords = Array(".!#$%&'*+/=?^_`{|}~-".utf8)
    return bytes[..<at].allSatisfy { isAlphanumeric($0) || localWords.contains($0) }
      && bytes[(at + 1)...].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .allSatisfy { label in
          (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
            && label.last != UInt8(ascii: "-")
            && label.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
  }

  /// A path that stays below the folder it is resolved in, whatever that is.
  private static func isRelativePath(_ bytes: [UInt8]) -> Bool {
    !bytes.isEmpty && bytes.first != UInt8(ascii: "/")
      && !bytes.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
  }
}
