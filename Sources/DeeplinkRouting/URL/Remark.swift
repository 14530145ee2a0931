/// Something odd but legal about a link, which is delivered all the same.
public enum Remark: String, Hashable, Sendable, CaseIterable {
  case surroundingSpace = "surrounding-space"
  case schemeCapitals = "scheme-capitals"
  case hostCapitals = "host-capitals"
  case emptyPort = "empty-port"
  case dotSegments = "dot-segments"
  case lonePercent = "lone-percent"
  case rawCharacters = "raw-characters"
  case escapes
}

extension Remark: CustomStringConvertible {
  /// One sentence for people, in lower case; it quotes nothing of the link.
  public var description: String {
    switch self {
    case .surroundingSpace: "spaces or control characters around the link were removed"
    case .schemeCapitals: "the scheme had capitals and was lower-cased"
    case .hostCapitals: "the host had capitals and was lower-cased"
    case .emptyPort: "a colon without a port after it was removed from the host"
    case .dotSegments: "the path had '.' or '..' segments, which were resolved"
    case .lonePercent: "a '%' that begins no escape became '%25'"
    case .rawCharacters: "characters that a URL has to escape were escaped"
    case .escapes: "escapes were brought into the usual form"
    }
  }
}

/// A set of remarks in one byte: parsing notes them as it goes.
struct RemarkSet: Hashable, Sendable {
  private var bits: UInt8 = 0

  mutating func insert(_ remark: Remark) { bits |= Self.bit(remark) }
  func contains(_ remark: Remark) -> Bool { bits & Self.bit(remark) != 0 }

  /// In the order of declaration, which is the order of a URL's parts.
  var remarks: [Remark] { bits == 0 ? [] : Remark.allCases.filter(contains) }

  private static func bit(_ remark: Remark) -> UInt8 {
    switch remark {
    case .surroundingSpace: 1
    case .schemeCapitals: 2
    case .hostCapitals: 4
    case .emptyPort: 8
    case .dotSegments: 16
    case .lonePercent: 32
    case .rawCharacters: 64
    case .escapes: 128
    }
  }
}
