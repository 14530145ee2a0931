/// The URL of an `open` action: its scheme, and its host where it has one, are the author's words.
///
/// Every value is percent-encoded for its place, so it ends neither path, query nor fragment. What
/// encoding can not prevent is refused when the values are known: a value that turns a segment into
/// `.` or `..`, or whose absence turns `app:/{x}/b` into `app://b`, a URL with another host.
public struct URLTemplate: Sendable, Hashable {
  public let template: Template
  public let scheme: Scheme
  private let hasAuthority: Bool

  /// Never sent out, whoever asks (DESIGN.md section 10, "Loops").
  public static let forbiddenSchemes: Set<Scheme> = [
    "file", "data", "javascript", "vbscript", "blob", "about", "view-source", "chrome",
  ]

  public init(_ source: String) throws(Template.Invalid) {
    let template = try Template(source)
    guard case .text(let start)? = template.pieces.first, let colon = start.firstIndex(of: ":"),
      let scheme = Scheme(String(start[..<colon]))
    else {
      throw Template.Invalid(
        reason: "the URL's scheme must be written out", hint: "such as https://example.com/{name}")
    }
    guard !Self.forbiddenSchemes.contains(scheme) else {
      throw Template.Invalid(reason: "'\(scheme)' URLs are never opened")
    }
    let rest = start[start.index(after: colon)...]
    let hasAuthority = rest.hasPrefix("//")
    if hasAuthority {
      let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
      let isEnded = authority.endIndex < rest.endIndex || template.pieces.count == 1
      guard isEnded, !authority.contains("\\"), !authority.contains("@") else {
        throw Template.Invalid(
          reason: "the URL's host must be written out, and end before the first parameter",
          hint: "such as https://example.com/{name}")
      }
    }
    if scheme == "http" || scheme == "https" {
      guard hasAuthority, rest.dropFirst(2).first.map({ !"/?#".contains($0) }) == true else {
        throw Template.Invalid(reason: "an \(scheme) URL needs a host after '//'")
      }
    }
    for case .text(let text) in template.pieces
    where text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) {
      throw Template.Invalid(reason: "a space, control character or backslash in the URL")
    }
    let literal = template.text { _ in "x" }
    guard !Self.hasDotSegment(literal) else {
      throw Template.Invalid(reason: "the URL has a '.' or '..' segment")
    }
    self.template = template
    self.scheme = scheme
    self.hasAuthority = hasAuthority
  }

  /// The URL; nil where the values would make it another one than the author wrote.
  ///
  /// - Parameter elements: What stands for a name: one text, or those of an array, which become
  ///   segments in the path and a list with commas elsewhere.
  public func url(_ elements: (String) -> [String]) -> String? {
    var result = ""
    var isInPath = true
    for piece in template.pieces {
      switch piece {
      case .text(let text):
        result += text
        if text.contains(where: { "?#".contains($0) }) { isInPath = false }
      case .name(let name):
        result += elements(name).map(PercentEncoding.encodeComponent).joined(
          separator: isInPath ? "/" : ",")
      }
    }
    let rest = result.dropFirst(scheme.text.utf8.count + 1)
    guard rest.hasPrefix("//") == hasAuthority, !Self.hasDotSegment(result) else { return nil }
    return result
  }

  /// The WHATWG standard counts `%2e` as a dot.
  private static func hasDotSegment(_ url: String) -> Bool {
    let path = url.prefix { !"?#".contains($0) }.drop { $0 != ":" }.dropFirst()
    return path.split(separator: "/").contains { segment in
      let dots = PercentEncoding.decode(segment.utf8)
      return dots == Array(".".utf8) || dots == Array("..".utf8)
    }
  }
}
