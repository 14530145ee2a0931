import Testing

@testable import DeeplinkRouting

@Suite struct BusNamesTests {
  @Test(arguments: [
    ("a.b", true), ("org.example.App-1_x", true), ("a._7", true), ("a", false), ("a.", false),
    (".a.b", false), ("a..b", false), ("a.7b", false), (":1.5", false), ("a.b c", false),
    ("a.é", false), ("", false),
    (String(repeating: "a", count: 253) + ".b", true),
    (String(repeating: "a", count: 254) + ".b", false),
  ])
  func `well-known names`(_ text: String, _ isValid: Bool) {
    #expect(BusNames.isWellKnownName(text) == isValid)
  }

  @Test func `interfaces have no hyphen, and members no dot`() {
    #expect(BusNames.isInterface("a.b_c"))
    #expect(!BusNames.isInterface("a.b-c"))
    #expect(BusNames.isMember("Do_1"))
    #expect(
      !["", "1a", "a.b", "a-b", String(repeating: "a", count: 256)].contains(
        where: BusNames.isMember))
  }

  @Test(arguments: [
    ("/", true), ("/a", true), ("/a/b_1", true), ("", false), ("a", false), ("/a/", false),
    ("//", false), ("//a", false), ("/a-b", false), ("/é", false),
  ])
  func `object paths`(_ text: String, _ isValid: Bool) {
    #expect(BusNames.isObjectPath(text) == isValid)
  }

  @Test(
    arguments: [
      ("", []), ("s", ["s"]), ("sx", ["s", "x"]), ("a{sv}", ["a{sv}"]),
      ("(i(ss))as", ["(i(ss))", "as"]),
      ("aaav", ["aaav"]), ("a{s(iu)}v", ["a{s(iu)}", "v"]), ("z", nil), ("a", nil), ("()", nil),
      ("(s", nil), ("s)", nil), ("{sv}", nil), ("a{vs}", nil), ("a{s}", nil), ("a{sss}", nil),
      ("a{(s)s}", nil),
      (String(repeating: "a", count: 32) + "s", [String(repeating: "a", count: 32) + "s"]),
      (String(repeating: "a", count: 33) + "s", nil), (String(repeating: "(", count: 200), nil),
      (String(repeating: "s", count: 256), nil),
    ] as [(String, [String]?)])
  func signatures(_ text: String, _ types: [String]?) {
    #expect(BusNames.completeTypes(in: text) == types)
  }
}
