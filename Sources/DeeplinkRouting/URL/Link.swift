/// One URL as it was received, with its bytes, its parsed form and its canonical form.
///
/// The only way to make one is the gate of bytes: whoever holds a `Link` holds a URL that is
/// valid UTF-8, without controls inside, absolute and parsed.
public struct Link: Hashable, Sendable {
  /// The bytes as they came, spaces and controls around the URL included.
  public let received: [UInt8]
  /// What the URL Standard's parser makes of them.
  public let url: ParsedURL
  /// The form in which links are matched, compared and handed on; see `ParsedURL.canonical`.
  public let canonical: ParsedURL
  private let remarkSet: RemarkSet

  /// Admits the bytes of a link, as far as that needs nothing but the bytes.
  ///
  /// - Parameter maximumLength: in bytes as received.
  /// - Throws: the first refusal of `empty`, `too-long`, `not-utf8`, `control-character`,
  ///   `not-absolute` and `malformed` that holds.
  public init(admitting bytes: [UInt8], maximumLength: Int = 65_536) throws(Refusal) {
    let trimmed = URLParser.trimmedRange(of: bytes)
    guard !trimmed.isEmpty else { throw Refusal(.empty, "the link is empty") }
    guard bytes.count <= maximumLength else {
      throw Refusal(
        .tooLong, "the link has \(bytes.count) bytes, and \(maximumLength) are allowed")
    }
    guard bytes.isValidUTF8, !bytes[trimmed].elementsEqual("[Invalid UTF-8]".utf8) else {
      throw Refusal(
        .notUTF8, "the link is not valid UTF-8",
        hint: "other bytes have to be percent-encoded")
    }
    guard !bytes.hasControls || !Array(bytes[trimmed]).hasControls else {
      throw Refusal(
        .controlCharacter, "the link holds a raw control character",
        hint: "tabs, line ends and the like have to be percent-encoded")
    }
    var parser = URLParser(bytes)
    do throws(URLParseError) {
      url = try parser.parse()
    } catch .missingScheme {
      throw Refusal(
        .notAbsolute, "the link has no scheme",
        hint: "a link begins with a scheme and a colon, as in 'myapp:'")
    } catch {
      throw Refusal(.malformed, "the link is no valid URL: \(error)")
    }
    var remarks = parser.remarks
    canonical = url.canonical(noting: &remarks)
    remarkSet = remarks
    received = bytes
  }

  public var scheme: Scheme { Scheme(lowerCase: canonical.scheme) }

  /// What was odd about the link, in the order of a URL's parts.
  public var remarks: [Remark] { remarkSet.remarks }
}
