// libdbus ends the process when it is handed an invalid name, path or signature, in release builds
// too. A manifest's are therefore held against the rules when it is read (D-Bus Specification,
// "Valid Names", "Valid Object Paths", "Signature strings").

/// The rules for the strings that go into a D-Bus message header.
enum BusNames {
  static let maximumLength = 255

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isDotted(_ text: String, allowingHyphens: Bool) -> Bool {
    let elements = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return text.utf8.count <= maximumLength && elements.count >= 2
      && elements.allSatisfy { element in
        element.first.map(isDigit) == false
          && element.allSatisfy { byte in
            isLetter(byte) || isDigit(byte) || (allowingHyphens && byte == UInt8(ascii: "-"))
          }
      }
  }

  static func isWellKnownName(_ text: String) -> Bool { isDotted(text, allowingHyphens: true) }

  static func isInterface(_ text: String) -> Bool { isDotted(text, allowingHyphens: false) }

  static func isMember(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumLength && text.utf8.first.map(isDigit) == false
      && text.utf8.allSatisfy { isLetter($0) || isDigit($0) }
  }

  static func isObjectPath(_ text: String) -> Bool {
    guard text != "/" else { return true }
    let elements = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return elements.first?.isEmpty == true && elements.count >= 2
      && elements.dropFirst().allSatisfy { element in
        !element.isEmpty && element.allSatisfy { isLetter($0) || isDigit($0) }
      }
  }

  /// The complete types that a signature is made of; nil where it is none.
  static func completeTypes(in signature: String) -> [String]? {
    guard signature.utf8.count <= maximumLength else { return nil }
    var rest = Array(signature.utf8)[...]
    var types: [String] = []
    while !rest.isEmpty {
      let before = rest
      guard skipType(&rest, arrays: 0, structs: 0) else { return nil }
      types.append(String(decoding: before[..<rest.startIndex], as: UTF8.self))
    }
    return types
  }

  private static let basicTypes = Array("ybnqiuxtdsogh".utf8)

  private static func skipType(
    _ rest: inout ArraySlice<UInt8>, arrays: Int, structs: Int
  ) -> Bool {
    guard arrays <= 32, structs <= 32, let code = rest.popFirst() else { return false }
    switch code {
    case UInt8(ascii: "v"): return true
    case UInt8(ascii: "a"):
      guard rest.first == UInt8(ascii: "{") else {
        return skipType(&rest, arrays: arrays + 1, structs: structs)
      }
      rest.removeFirst()
      guard let key = rest.popFirst(), basicTypes.contains(key),
        skipType(&rest, arrays: arrays + 1, structs: structs + 1)
      else { return false }
      return rest.popFirst() == UInt8(ascii: "}")
    case UInt8(ascii: "("):
      repeat {
        guard skipType(&rest, arrays: arrays, structs: structs + 1) else { return false }
      } while rest.first != UInt8(ascii: ")")
      rest.removeFirst()
      return true
    default: return basicTypes.contains(code)
    }
  }
}
