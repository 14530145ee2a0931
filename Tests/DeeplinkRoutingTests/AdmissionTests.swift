import DeeplinkRouting
import Testing

/// The part of the gate that needs the bytes alone.
@Suite struct AdmissionTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let code: Refusal.Code
    let bytes: [UInt8]
    var testDescription: String { "\(code.rawValue): \(String(decoding: bytes, as: UTF8.self))" }

    init(_ code: Refusal.Code, _ text: String) { self.init(code, Array(text.utf8)) }
    init(_ code: Refusal.Code, _ bytes: [UInt8]) { (self.code, self.bytes) = (code, bytes) }
  }

  static let refusals: [Case] = [
    Case(.empty, ""), Case(.empty, " "), Case(.empty, " \t\r\n"), Case(.empty, "\0\u{1F}"),
    Case(.tooLong, "s:" + String(repeating: "a", count: 65_535)),
    Case(.notUTF8, Array("s:a".utf8) + [0xFF]), Case(.notUTF8, Array("s:".utf8) + [0xC3]),
    Case(.notUTF8, Array("s:".utf8) + [0xED, 0xA0, 0x80]),
    Case(.notUTF8, Array("s:".utf8) + [0xC0, 0xAF]), Case(.notUTF8, [0xFF, 0x0A, 0xFF]),
    Case(.notUTF8, "[Invalid UTF-8]"),
    Case(.controlCharacter, "s:a\nb"), Case(.controlCharacter, "s:a\tb"),
    Case(.controlCharacter, "s:a\0b"), Case(.controlCharacter, "s:a\u{1B}[31mb"),
    Case(.controlCharacter, "s:a\u{7F}"), Case(.controlCharacter, "a\nb"),
    Case(.controlCharacter, "ht\ntp://h/"),
    Case(.notAbsolute, "a"), Case(.notAbsolute, "/path"), Case(.notAbsolute, "//host/path"),
    Case(.notAbsolute, ":a"), Case(.notAbsolute, "1s:a"), Case(.notAbsolute, "my app:a"),
    Case(.notAbsolute, "é:a"), Case(.notAbsolute, "?q"), Case(.notAbsolute, "s"),
    Case(.malformed, "s://h:x/"), Case(.malformed, "s://h:65536/"), Case(.malformed, "s://[::1"),
    Case(.malformed, "s://[1::2::3]/"), Case(.malformed, "s://a b/"), Case(.malformed, "s://u@/"),
    Case(.malformed, "http://"), Case(.malformed, "http://1.2.3.256/"),
    Case(.malformed, "http://a%00b/"), Case(.malformed, "s://:80/"),
  ]

  @Test(arguments: refusals)
  func `bytes that are no link are refused`(refusal: Case) throws {
    let error = try #require(throws: Refusal.self) { try Link(admitting: refusal.bytes) }
    #expect(error.code == refusal.code)
    #expect(!error.message.isEmpty && error.message.first?.isUppercase == false)
  }

  @Test func `the table has every refusal that bytes alone can give`() {
    #expect(Self.refusals.count == 37)
    #expect(
      Set(Self.refusals.map(\.code)) == [
        .empty, .tooLong, .notUTF8, .controlCharacter, .notAbsolute, .malformed,
      ])
  }

  @Test func `the length that is allowed is counted in bytes as received`() throws {
    #expect(try Link(admitting: Array("s:é ".utf8), maximumLength: 5).canonical.href == "s:%C3%A9")
    #expect(throws: Refusal.self) { try Link(admitting: Array("s:é  ".utf8), maximumLength: 5) }
  }

  @Test(arguments: [
    ("empty", "Empty"), ("too-long", "TooLong"), ("not-utf8", "NotUtf8"),
    ("control-character", "ControlCharacter"), ("not-absolute", "NotAbsolute"),
    ("malformed", "Malformed"), ("scheme-not-registered", "SchemeNotRegistered"),
    ("rate-limited", "RateLimited"), ("loop", "Loop"), ("credentials", "Credentials"),
    ("no-route", "NoRoute"), ("parameter", "Parameter"), ("queue-full", "QueueFull"),
  ])
  func `a code has the name of its error on the bus`(code: String, name: String) throws {
    #expect(Refusal.Code.allCases.count == 13)
    #expect(try #require(Refusal.Code(rawValue: code)).errorName == name)
  }

  @Test func `a refusal tells nothing of the link`() throws {
    for text in ["s://secret:x/", "s:/secret\n/", "secret", "http://secret%00/", "s://secret@/"] {
      let error = try #require(throws: Refusal.self) { try Link(admitting: Array(text.utf8)) }
      #expect(!error.description.contains("secret"))
    }
  }

  @Test func `a scheme is in lower case, and only what RFC 3986 allows`() {
    let mixed = "Com.Example+x-1"
    #expect(Scheme(mixed)?.text == "com.example+x-1")
    for text in ["", "1a", "+a", "a b", "a:", "é", "aé", "a_b"] { #expect(Scheme(text) == nil) }
  }
}
