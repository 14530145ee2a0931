/// Why the URL Standard's parser fails.
public enum URLParseError: Error, Hashable, Sendable, CaseIterable {
  case missingScheme
  case missingHost
  case forbiddenHostCharacter
  case invalidIPv4Address
  case invalidIPv6Address
  case invalidDomain
  case invalidPort
  case portOutOfRange
}

extension URLParseError: CustomStringConvertible {
  /// One sentence for people, in lower case; it quotes nothing of the URL.
  public var description: String {
    switch self {
    case .missingScheme: "the URL has no scheme"
    case .missingHost: "the URL has no host where one is needed"
    case .forbiddenHostCharacter: "the host has a character that no host may have"
    case .invalidIPv4Address: "the host ends in a number and is no IPv4 address"
    case .invalidIPv6Address: "the host begins with '[' and is no IPv6 address"
    case .invalidDomain: "the host is no domain name"
    case .invalidPort: "the port is not a number"
    case .portOutOfRange: "the port is greater than 65535"
    }
  }
}
