/// The encoding callbacks of the WHATWG URLPattern standard, section 3.1: each component alone.
///
/// The standard runs the URL parser with a state override on a dummy `https` URL; these functions
/// are what is left of that. An empty component stays empty.
public enum URLComponentEncoder {
  /// Canonicalises a protocol, without its colon.
  public static func scheme(_ value: String) throws(URLParseError) -> String {
    value.isEmpty ? value : try ParsedURL.parse(value + "://dummy.invalid/").scheme
  }

  public static func username(_ value: String) -> String { encode(value.utf8, .userinfo) }
  public static func password(_ value: String) -> String { encode(value.utf8, .userinfo) }

  /// Canonicalises a hostname as that of a special scheme: domain, IPv4 or IPv6 address.
  public static func hostname(_ value: String) throws(URLParseError) -> String {
    if value.isEmpty { return value }
    var parser = parser(value)
    var end = 0
    var insideBrackets = false
    loop: while end < parser.end {
      switch parser.input[end] {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"): break loop
      case UInt8(ascii: ":") where !insideBrackets: throw .invalidPort
      case UInt8(ascii: "["): insideBrackets = true
      case UInt8(ascii: "]"): insideBrackets = false
      default: break
      }
      end += 1
    }
    guard end > 0 else { throw .missingHost }
    try parser.appendHost(0..<end, isOpaque: false)
    return text(parser)
  }

  /// Canonicalises the inside of a pattern's IPv6 address, which need not be a whole one.
  public static func ipv6Hostname(_ value: String) throws(URLParseError) -> String {
    var output: [UInt8] = []
    for byte in value.utf8 {
      guard byte.hexValue != nil || "[]:".utf8.contains(byte) else { throw .invalidIPv6Address }
      output.append(byte.asciiLowercased)
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Canonicalises a port; the default port of the scheme becomes empty.
  public static func port(_ value: String, scheme: String? = nil) throws(URLParseError) -> String {
    if value.isEmpty { return value }
    let parser = parser(value)
    let digits = parser.input[parser.position..<parser.end].prefix(while: \.isASCIIDigit)
    guard !digits.isEmpty else { throw .invalidPort }
    let port = try URLParser.port(ofDigits: digits)
    if let scheme, case .special(port) = SchemeKind(scheme.utf8) { return "" }
    return String(port)
  }

  /// Canonicalises a part of a pathname that is a list of segments.
  public static func pathname(_ value: String) -> String {
    if value.isEmpty { return value }
    // Parts of a path need not begin with a slash; what is put before them is taken away again.
    let isRooted = value.utf8.first == UInt8(ascii: "/")
    var parser = parser(isRooted ? value : "/-" + value)
    parser.parsePath(.special(defaultPort: 443), isAlone: true)
    return String(decoding: parser.output.dropFirst(isRooted ? 0 : 2), as: UTF8.self)
  }

  /// Canonicalises a part of an opaque pathname.
  public static func opaquePathname(_ value: String) -> String {
    if value.isEmpty { return value }
    var parser = parser(value)
    parser.parseOpaquePath()
    return text(parser)
  }

  public static func search(_ value: String) -> String {
    encode(parser(value).input, .specialQuery)
  }

  public static func hash(_ value: String) -> String { encode(parser(value).input, .fragment) }

  private static func parser(_ value: String) -> URLParser {
    URLParser(component: value.utf8.filter { !URLParser.isTabOrNewline($0) })
  }

  private static func text(_ parser: URLParser) -> String {
    String(decoding: parser.output, as: UTF8.self)
  }

  private static func encode(_ bytes: some Sequence<UInt8>, _ set: ByteSet) -> String {
    var output: [UInt8] = []
    PercentEncoding.encode(bytes, escaping: set, into: &output)
    return String(decoding: output, as: UTF8.self)
  }
}
