import DeeplinkRouting
import Testing

/// Components by themselves: the encoding callbacks of URLPattern, and percent-encoding.
@Suite struct URLComponentTests {
  @Test func `a component is encoded as the URL parser would`() throws {
    #expect(try URLComponentEncoder.scheme("HtTp") == "http")
    #expect(URLComponentEncoder.username("a:b/é") == "a%3Ab%2F%C3%A9")
    #expect(URLComponentEncoder.password("p@w") == "p%40w")
    #expect(try URLComponentEncoder.hostname("EXample.com") == "example.com")
    #expect(try URLComponentEncoder.hostname("0x7f.1") == "127.0.0.1")
    #expect(try URLComponentEncoder.hostname("[::0:1]") == "[::1]")
    #expect(try URLComponentEncoder.hostname("a.b/c") == "a.b")
    #expect(try URLComponentEncoder.hostname("fa\u{DF}.example") == "xn--fa-hia.example")
    #expect(try URLComponentEncoder.ipv6Hostname("[AB::") == "[ab::")
    #expect(try URLComponentEncoder.port("0080") == "80")
    #expect(try URLComponentEncoder.port("80x") == "80")
    #expect(try URLComponentEncoder.port("443", scheme: "https") == "")
    #expect(try URLComponentEncoder.port("443", scheme: "s") == "443")
    #expect(URLComponentEncoder.pathname("/a/../b c?#") == "/b%20c%3F%23")
    #expect(URLComponentEncoder.pathname("a\\b") == "a/b")
    #expect(URLComponentEncoder.pathname(".") == ".")
    #expect(URLComponentEncoder.opaquePathname("a b/../é") == "a b/../%C3%A9")
    #expect(URLComponentEncoder.search("a b'#") == "a%20b%27%23")
    #expect(URLComponentEncoder.hash("a b`#") == "a%20b%60#")
  }

  @Test func `an empty component stays empty`() throws {
    #expect(try URLComponentEncoder.scheme("") == "")
    #expect(try URLComponentEncoder.hostname("") == "")
    #expect(try URLComponentEncoder.port("") == "")
    #expect(URLComponentEncoder.pathname("") == "")
    #expect(URLComponentEncoder.opaquePathname("") == "")
  }

  @Test func `a component that is none fails`() {
    for text in ["1a", "a b", "é"] {
      #expect(throws: URLParseError.self) { try URLComponentEncoder.scheme(text) }
    }
    for text in ["a b", "a:80", "[::x]", "/a", "a%00", "1.2.3.256"] {
      #expect(throws: URLParseError.self) { try URLComponentEncoder.hostname(text) }
    }
    for text in ["x", "65536", "-1"] {
      #expect(throws: URLParseError.self) { try URLComponentEncoder.port(text) }
    }
    #expect(throws: URLParseError.self) { try URLComponentEncoder.ipv6Hostname("::g") }
  }

  @Test func `percent-encoding goes there and back`() {
    for text in ["", "a b", "100%", "é€\u{1F600}", "a&b=c/d?e#f", "%41"] {
      let encoded = PercentEncoding.encodeComponent(text)
      #expect(PercentEncoding.decodeStrict(encoded.utf8) == text)
    }
    #expect(PercentEncoding.encodeComponent("a b/c~%") == "a%20b%2Fc~%25")
    #expect(PercentEncoding.decode("%4%41%zz%C3".utf8) == Array("%4A%zz".utf8) + [0xC3])
    #expect(PercentEncoding.decodeStrict("%C3".utf8) == nil)
  }

  /// Label by label through libidn2; what it cannot do is refused.
  @Test func `hosts of special schemes become ASCII or are refused`() throws {
    let domains = [
      ("fa\u{DF}.ExAmPlE", "xn--fa-hia.example"), ("\u{2615}.example", "xn--53h.example"),
      ("b\u{FC}cher。de", "xn--bcher-kva.de"), ("a\u{AD}b", "ab"), ("\u{FF11}.2.3.4", "1.2.3.4"),
      ("XN--BCHER-KVA.de", "xn--bcher-kva.de"), ("\u{5D0}.a1", "xn--4db.a1"),
      ("-x-.\u{FC}", "-x-.xn--tda"), ("%C3%BC", "xn--tda"), ("xn--", "xn--"),
      ("-\u{FC}-", "xn-----xka"), ("ab--\u{FC}", "xn--ab---3ra"), ("{\u{FC};", "xn--{;-xka"),
      ("\u{FF21}!\u{FC}", "xn--a!-yka"), ("\u{E9}xn--", "xn--xn---9oa"),
    ]
    for (domain, expected) in domains {
      #expect(try ParsedURL.parse("https://\(domain)/").host == expected)
    }
    for domain in [
      "\u{FFFD}", "\u{AD}", "\u{FF05}00", "%FF", "a\u{5D0}", "\u{5D0}.-", "\u{300}a", "\u{202E}a",
      "\u{FC}.xn--pokxncvks", "a\u{FF0F}b", "\u{FF58}n--\u{FC}", "x\u{AD}n--\u{FC}", "xn--\u{FC}",
      "\u{FC}%25", "-\u{5D0}",
    ] {
      #expect(throws: URLParseError.self, "\(domain)") {
        try ParsedURL.parse("https://\(domain)/")
      }
    }
  }
}
