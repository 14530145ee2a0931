/// The scheme of a URL, in lower case (RFC 3986, section 3.1).
///
/// ✅ `com.example.photos`, `myapp`, `web+notes` ❌ `2day`, `my app`, `myapp:`
public struct Scheme: Hashable, Sendable {
  public let text: String

  /// The scheme in lower case, nil where the text is none.
  public init?(_ text: String) {
    let bytes = text.utf8
    guard let first = bytes.first, first.isASCIILetter,
      bytes.allSatisfy({ ByteSet.scheme.contains($0) })
    else { return nil }
    self.init(lowerCase: text.lowercased())
  }

  /// A scheme that a parser has already checked.
  init(lowerCase text: String) { self.text = text }

  /// The schemes with an authority and a path of their own kind (URL Standard, section 4.2).
  public var isSpecial: Bool { SchemeKind(text.utf8) != .other }
}

extension Scheme: ExpressibleByStringLiteral {
  public init(stringLiteral value: StaticString) {
    guard let scheme = Scheme("\(value)") else { preconditionFailure("no scheme: \(value)") }
    self = scheme
  }
}

extension Scheme: CustomStringConvertible {
  public var description: String { text }
}

extension Scheme: Comparable {
  public static func < (a: Scheme, b: Scheme) -> Bool { a.text < b.text }
}

/// How the URL Standard's parser treats a scheme.
enum SchemeKind: Hashable {
  case file
  case special(defaultPort: UInt16)
  case other

  /// Takes the scheme's bytes in lower case.
  init(_ scheme: some Collection<UInt8>) {
    guard (2...5).contains(scheme.count) else {
      self = .other
      return
    }
    let code = scheme.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    self =
      switch code {
      case 0x68_74_74_70: .special(defaultPort: 80)  // http
      case 0x68_74_74_70_73: .special(defaultPort: 443)  // https
      case 0x77_73: .special(defaultPort: 80)  // ws
      case 0x77_73_73: .special(defaultPort: 443)  // wss
      case 0x66_74_70: .special(defaultPort: 21)  // ftp
      case 0x66_69_6C_65: .file  // file
      default: .other
      }
  }

  var isSpecial: Bool { self != .other }
}
