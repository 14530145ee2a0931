import Testing

@testable import DeeplinkRouting

@Suite struct JSONTests {
  struct Accepted: CustomTestStringConvertible, Sendable {
    var text: String
    var value: JSONValue
    var testDescription: String { text.debugDescription }
  }

  static let accepted: [Accepted] = [
    Accepted(text: "null", value: nil),
    Accepted(text: " true ", value: true),
    Accepted(text: "\u{FEFF}\u{A0}\u{2028}false", value: false),
    Accepted(text: "1", value: 1),
    Accepted(text: "1.0", value: 1.0),
    Accepted(text: "-9223372036854775808", value: .integer(.min)),
    Accepted(text: "9223372036854775808", value: 9223372036854775808.0),
    Accepted(text: "[.5, 5., +3, -0x1F, 1e3, 1.5E-2]", value: [0.5, 5.0, 3, -31, 1000.0, 0.015]),
    Accepted(text: #"'a"b'"#, value: "a\"b"),
    Accepted(text: #""\u00e9\ud83d\ude00\x41\v\0\/\q""#, value: "é😀A\u{B}\0/q"),
    Accepted(text: "'one \\\nline'", value: "one line"),
    Accepted(
      text: "{a: 1, // c\n 'b': [1, 2,], /* * / */ \"c\": {},}",
      value: ["a": 1, "b": [1, 2], "c": [:]]),
    Accepted(text: "{$schema: 'x', _1: 2}", value: ["$schema": "x", "_1": 2]),
  ]

  @Test(arguments: accepted)
  func `JSON5 is read`(_ row: Accepted) throws {
    #expect(try JSONValue(json5: row.text) == row.value)
  }

  struct Refused: CustomTestStringConvertible, Sendable {
    var text: String
    var reason: String
    var line = 1
    var column = 1
    var testDescription: String { text.debugDescription }
  }

  static let refused: [Refused] = [
    Refused(text: "", reason: "the document ends where a value should be"),
    Refused(text: "// x", reason: "the document ends where a value should be", column: 5),
    Refused(
      text: "{\"a\":1,\n \"b\" 2}", reason: "expected ':' after the key 'b'", line: 2, column: 6),
    Refused(text: "{a: 1, a: 2}", reason: "the key 'a' stands twice in one object", column: 8),
    Refused(text: "{a: 1 b: 2}", reason: "expected ',' or '}'", column: 7),
    Refused(text: "{1a: 1}", reason: "expected a key or '}'", column: 4),
    Refused(text: "[1, 2", reason: "expected ',' or ']'", column: 6),
    Refused(text: "[,]", reason: "expected a value", column: 2),
    Refused(text: "{} x", reason: "text after the end of the document", column: 4),
    Refused(text: "[NaN]", reason: "numbers must be finite", column: 2),
    Refused(text: "-Infinity", reason: "not a number that can be used"),
    Refused(text: "1e999", reason: "not a number that can be used"),
    Refused(text: "01", reason: "not a number that can be used"),
    Refused(text: "[1x]", reason: "not a number that can be used", column: 2),
    Refused(text: "0x", reason: "not a number that can be used"),
    Refused(text: "0x1FFFFFFFFFFFFFFFF", reason: "not a number that can be used"),
    Refused(text: ".", reason: "not a number that can be used"),
    Refused(text: "1e", reason: "not a number that can be used"),
    Refused(text: "\"a", reason: "a string that does not end"),
    Refused(text: "\"a\\", reason: "a string that does not end"),
    Refused(
      text: "\"a\nb\"", reason: "a raw control character in a string; write it as an escape",
      column: 3),
    Refused(text: #""\ud800""#, reason: "half of a surrogate pair", column: 8),
    Refused(text: #""\ud800\u0041""#, reason: "half of a surrogate pair", column: 14),
    Refused(text: #""\udc00""#, reason: "half of a surrogate pair", column: 8),
    Refused(text: #""\xg0""#, reason: "expected 2 hexadecimal digits", column: 4),
    Refused(text: #""\1""#, reason: "an escape of this kind does not exist", column: 4),
    Refused(text: "/* x", reason: "a comment that does not end"),
    Refused(text: "/", reason: "expected a value"),
    Refused(text: "truest", reason: "expected a value"),
    Refused(
      text: String(repeating: "[", count: 65), reason: "nested deeper than 64 levels", column: 65),
  ]

  @Test(arguments: refused)
  func `what is no JSON5 is refused with its place`(_ row: Refused) {
    #expect(throws: JSONError(reason: row.reason, line: row.line, column: row.column)) {
      try JSONValue(json5: row.text)
    }
  }

  @Test func `every row of the tables ran`() {
    #expect(Self.accepted.count == 13)
    #expect(Self.refused.count == 30)
  }

  @Test func `bytes that are not UTF-8 are refused, and so is a file that is too long`() {
    #expect(throws: JSONError.self) { try JSONValue(json5: [0x22, 0xC3, 0x28, 0x22]) }
    #expect(throws: JSONError(reason: "longer than 8 bytes", line: 1, column: 1)) {
      try JSONValue(json5: "[1, 2, 3]", limits: JSONLimits(bytes: 8))
    }
    #expect(throws: Never.self) {
      try JSONValue(
        json5: String(repeating: "[", count: 64) + String(repeating: "]", count: 64))
    }
  }

  @Test func `a value is written on one line, keys sorted, and reads back the same`() throws {
    let value: JSONValue = [
      "b": [1, 1.5, -2.0, true, nil], "a": "tab\t\"quote\" \\ \u{1}\u{7F}\u{9B}\u{2028}é😀", "": [:],
    ]
    let text = value.description
    #expect(
      text
        == #"{"":{},"a":"tab\t\"quote\" \\ \u0001\u007f\u009b\u2028é😀","b":[1,1.5,-2.0,true,null]}"#
    )
    #expect(try JSONValue(json5: text) == value)
    #expect(JSONValue.number(.nan).description == "null")
  }
}
