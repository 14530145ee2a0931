import DeeplinkRouting
import Testing

/// The canonical form: what different clients make of one link has to become one link again.
@Suite struct CanonicalFormTests {
  private func canonical(_ text: String) throws -> String {
    try Link(admitting: Array(text.utf8)).canonical.href
  }

  /// What command lines, Chromium, Firefox, KDE and Qt deliver for one and the same link, as was
  /// measured with the real programs; what all of them deliver unchanged stands alone.
  static let deliveries: [[String]] = [
    [#"labtest://a/b?c=d&e=f%20g#h"#, #"labtest://a/b?c=d&e=f g#h"#],
    ["labtest:hello"],
    ["labtest:"],
    ["labtest://"],
    ["labtest://host"],
    ["labtest:///path"],
    ["LABTEST:Upper", "labtest:Upper"],
    ["labtest://HoSt/Path", "labtest://host/Path"],
    ["labtest://h/a/../b/./c", "labtest://h/b/c"],
    ["labtest:a/../b"],
    ["labtest://user:pw@host:123/p"],
    ["labtest://[::1]:8/p"],
    ["labtest:hello world", "labtest:hello%20world"],
    [#"labtest://h/hello world?q=a b#f g"#, #"labtest://h/hello%20world?q=a%20b#f%20g"#],
    ["labtest:a+b"],
    [#"labtest:a"b"#, "labtest:a%22b"],
    ["labtest:a'b"],
    [
      #"labtest://h/a"b'c?d"e'f#g"h'i"#, #"labtest://h/a%22b'c?d%22e%27f#g%22h'i"#,
      #"labtest://h/a%22b'c?d%22e'f#g%22h'i"#,
    ],
    [#"labtest:a\b"#, "labtest:a%5Cb"],
    [#"labtest://h/a\b"#, "labtest://h/a%5Cb"],
    ["labtest:a|b", "labtest:a%7Cb"],
    ["labtest://h/a^b{c}d", "labtest://h/a%5Eb%7Bc%7Dd"],
    ["labtest:<a>", "labtest:%3Ca%3E"],
    ["labtest:`id`", "labtest:%60id%60"],
    ["labtest:$(id);a&b $HOME *", "labtest:$(id);a&b%20$HOME%20*"],
    ["labtest:/*?[a]"],
    ["labtest:%u%f%i%c%k%%", "labtest:%25u%25f%25i%25c%25k%25%25"],
    ["labtest:%zz%", "labtest:%25zz%25"],
    ["labtest:a%00b"],
    ["labtest:a%0Ab"],
    ["labtest:a%2525%25b"],
    ["labtest://h/a%2Fb%3Fc%23d%26e%3Df%3Bg"],
    ["labtest://h/%22%27%60%24%5C"],
    ["labtest:%41%7e%2D", "labtest:A~-"],
    ["labtest://h/%c3%a9%2f", "labtest://h/é%2F", "labtest://h/%C3%A9%2F"],
    ["labtest://h/%C3%A9%E2%82%AC", "labtest://h/é€"],
    ["labtest://h/%FF%C3%28"],
    ["labtest:café€😀", "labtest:caf%C3%A9%E2%82%AC%F0%9F%98%80"],
    [#"labtest://h/café?q=€#😀"#, #"labtest://h/caf%C3%A9?q=%E2%82%AC#%F0%9F%98%80"#],
    [#"labtest:a\#u{202E}gpj.exe"#, "labtest:a%E2%80%AEgpj.exe"],
    ["labtest:--help"],
    ["labtest:labtest://x"],
    ["labtest://x/javascript:alert(1)"],
    [#"labtest:a#b#c"#, #"labtest:a#b%23c"#],
  ]

  @Test func `what every client delivers for a link has one canonical form`() throws {
    #expect(Self.deliveries.count == 44)
    for link in Self.deliveries {
      let forms = try Set(link.map(canonical))
      #expect(forms.count == 1, "\(link)")
    }
  }

  /// Links with raw controls: refused as they are, and what clients make of them differs.
  static let controls: [[String]] = [
    [#"labtest:a\#u{A}b"#, "labtest:ab", "labtest:a%0Ab"],
    [#"labtest://h/a\#u{D}\#u{A}b"#, "labtest://h/ab", "labtest://h/a%0D%0Ab"],
    [#"labtest:a\#u{9}b"#, "labtest:ab", "labtest:a%09b"],
    [#"labtest:a\#u{1}b"#, "labtest:a%01b"],
    [#"labtest:a\#u{1B}[31mb"#, "labtest:a%1B[31mb"],
    [#"labtest:a\#u{7F}b"#, "labtest:a%7Fb"],
  ]

  @Test func `raw controls are refused, and what clients make of them is admitted`() throws {
    #expect(Self.controls.count == 6)
    for link in Self.controls {
      #expect(throws: Refusal.self) { try canonical(link[0]) }
      for delivered in link.dropFirst() { _ = try canonical(delivered) }
    }
  }

  @Test func `what no canonical form can undo stays different`() throws {
    // KDE and Qt apply IDNA to the hosts of all schemes.
    #expect(try canonical("labtest://münchen/p") == "labtest://m%C3%BCnchen/p")
    #expect(try canonical("labtest://xn--mnchen-3ya/p") == "labtest://xn--mnchen-3ya/p")
    // KDE reads hosts as IPv4 addresses.
    #expect(try canonical("labtest://1.2.3/p") == "labtest://1.2.3/p")
    #expect(try canonical("labtest://1.2.0.3/p") == "labtest://1.2.0.3/p")
    // Browsers drop spaces at the end, Qt escapes them.
    #expect(try canonical("labtest:end  ") == "labtest:end")
    #expect(try canonical("labtest:end%20%20") == "labtest:end%20%20")
  }

  @Test(arguments: [
    // a lone % before anything else
    ("s:%", "s:%25"), ("s:%4", "s:%254"), ("s:%zz%41", "s:%25zzA"), ("s:%%41", "s:%25A"),
    ("s:%4%31", "s:%2541"),
    // characters outside the set
    ("s:a b", "s:a%20b"), ("s:[x]", "s:%5Bx%5D"), ("s:a|b^c`d{e}\\", "s:a%7Cb%5Ec%60d%7Be%7D%5C"),
    ("s:é", "s:%C3%A9"), ("s:a#b#c", "s:a#b%23c"), ("s://h/?[]#[]", "s://h/?%5B%5D#%5B%5D"),
    ("s:-_.~!*'();/?:@&=+$,", "s:-_.~!*'();/?:@&=+$,"),
    // escapes
    ("s:%41%2d%7E%27%2F", "s:A-~'%2F"), ("s:%c3%a9", "s:%C3%A9"), ("s:%2525", "s:%2525"),
    ("s://h/%2e%2E/a", "s://h/a"), ("s:%2e%2e/a", "s:../a"),
    // the host
    ("S://HoSt/Path", "s://host/Path"), ("s://H%4fSt%c3%9c/", "s://host%C3%9C/"),
    ("s://[2001:DB8::1]:08/", "s://[2001:db8::1]:8/"), ("s://%/", "s://%25/"),
    ("s://a\"b/", "s://a%22b/"), ("http://a\"b/", "http://a%22b/"),
    // credentials
    ("s://%55:%50@h", "s://U:P@h"), ("s://a:b:c@h", "s://a:b%3Ac@h"), ("s://:@h", "s://h"),
    ("s://:p%20@h/", "s://:p%20@h/"),
    // what keeps its place
    ("s:", "s:"), ("s://", "s://"), ("s:///", "s:///"), ("s:?", "s:?"), ("s:#", "s:#"),
    ("s://h?#", "s://h?#"), ("s:/.//h", "s:/.//h"), ("s:/a/..//h", "s:/.//h"),
    ("http://h/?a'b", "http://h/?a'b"),
  ])
  func `the canonical form`(link: String, expected: String) throws {
    #expect(try canonical(link) == expected)
  }

  @Test func `the canonical record has the components of its href`() throws {
    let link = try Link(
      admitting: Array("s://%55ser:p%77@HOST:80/%41 b?c d&%65#f%67|".utf8))
    let url = link.canonical
    #expect(url.href == "s://User:pw@host:80/A%20b?c%20d&e#fg%7C")
    #expect(url.scheme == "s" && url.username == "User" && url.password == "pw")
    #expect(url.host == "host" && url.port == 80 && url.path == "/A%20b")
    #expect(url.query == "c%20d&e" && url.fragment == "fg%7C")
    #expect(link.url.host == "HOST" && link.url.path == "/%41%20b")
  }

  @Test(
    arguments: [
      (" s:a\n", [.surroundingSpace]), ("S:a", [.schemeCapitals]),
      ("s://HOST", [.hostCapitals]), ("s://h:/", [.emptyPort]),
      ("s://h/a/../b", [.dotSegments]), ("s://h/%2e/b", [.dotSegments]), ("s:%", [.lonePercent]),
      ("s:a b", [.rawCharacters]), ("s:é", [.rawCharacters]), ("s:%41", [.escapes]),
      ("s:%c3%a9", [.escapes]), ("s:%C3%A9", []), ("s://h:80/a?b=c#d", []), ("s:a/../b", []),
      (
        "S://H:/../%%41",
        [.schemeCapitals, .hostCapitals, .emptyPort, .dotSegments, .lonePercent, .escapes]
      ),
    ] as [(String, [Remark])])
  func `an odd link is admitted with remarks`(link: String, remarks: [Remark]) throws {
    #expect(try Link(admitting: Array(link.utf8)).remarks == remarks)
  }

  @Test func `the received bytes are kept`() throws {
    let bytes = Array(" S://H/%41 \n".utf8)
    let link = try Link(admitting: bytes)
    #expect(link.received == bytes)
    #expect(link.scheme == "s")
  }
}
