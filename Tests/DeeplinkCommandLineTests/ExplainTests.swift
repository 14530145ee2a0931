import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkCommandLine

/// `deeplink explain` through the built program, without any bus.
@Suite(.timeLimit(.minutes(2))) struct ExplainTests {
  let person: Person
  init() throws { person = try Person() }

  @Test func `people read one step after the other`() throws {
    let done = try person.deeplink("explain", "COM.example.demo:greet?name=W%C3%B6rld%20%26")
    #expect(done.status == 0)
    #expect(
      done.output == """
        bytes       44
        url         com.example.demo:greet?name=W%C3%B6rld%20%26
        canonical   com.example.demo:greet?name=W%C3%B6rld%20%26
        remark      the scheme had capitals and was lower-cased
        matches     com.example.demo/greet: 'greet' fits
        no match    com.example.demo/echo: its pattern 'echo' does not fit
        route       com.example.demo/greet
        title       Greet Wörld &
        parameter   name = "Wörld &"
        consent     not asked (effect: view)
        action      {"worker":{"run":["./demo-worker"]}}
        accepted    nothing was run

        """)
  }

  @Test func `programs read one object with every member`() throws {
    let done = try person.deeplink("explain", "--json", "com.example.photos://album/Trip?index=2")
    #expect(done.status == 0)
    let object = try #require(try JSONValue(json5: Array(done.output.utf8)).object)
    #expect(
      object.keys.sorted() == [
        "accepted", "action", "candidates", "canonical", "consent", "parameters", "refusal",
        "remarks", "route", "url",
      ])
    #expect(object["accepted"] == true)
    #expect(object["refusal"] == .null)
    #expect(object["canonical"] == "com.example.photos://album/Trip?index=2")
    #expect(object["route"] == "show-album")
    #expect(object["parameters"] == ["album": "Trip", "index": 2])
    #expect(object["consent"] == "not asked")
    #expect(
      object["url"] == [
        "href": "com.example.photos://album/Trip?index=2", "scheme": "com.example.photos",
        "username": "", "password": "", "host": "album", "port": nil, "path": "/Trip",
        "query": "index=2", "fragment": nil,
      ])
    #expect(object["candidates"]?.array?.first?["matched"] == true)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let url: String
    let code: String
    let sentence: String
    var testDescription: String { "\(code): \(url.debugDescription)" }
  }

  @Test(arguments: [
    Refused(url: "", code: "empty", sentence: "the link is empty"),
    Refused(url: "words", code: "not-absolute", sentence: "the link has no scheme"),
    Refused(
      url: "com.example.demo:greet?name=a\nb", code: "control-character",
      sentence: "the link holds a raw control character"),
    Refused(
      url: "com.example.demo://[::1", code: "malformed", sentence: "the link is no valid URL"),
    Refused(
      url: "com.example.dmeo:greet", code: "scheme-not-registered",
      sentence: "no plugin opens 'com.example.dmeo' links"),
    Refused(
      url: "com.example.demo:farewell", code: "no-route", sentence: "no route takes the link"),
    Refused(
      url: "com.example.demo:echo", code: "parameter", sentence: "route 'echo': "),
    Refused(
      url: "com.example.photos:///import?from=http%3A%2F%2Fe.com", code: "no-route",
      sentence: "no route takes the link"),
    Refused(
      url: "com.example.photos:/import?from=http%3A%2F%2Fe.com", code: "parameter",
      sentence: "route 'import': "),
  ])
  func `a refusal has a code, a sentence and status 1`(_ refused: Refused) throws {
    let json = try person.deeplink("explain", "--json", "--", refused.url)
    #expect(json.status == 1)
    let object = try JSONValue(json5: Array(json.output.utf8))
    #expect(object["accepted"] == false)
    #expect(object["refusal"]?["code"]?.string == refused.code)
    #expect(object["refusal"]?["message"]?.string?.hasPrefix(refused.sentence) == true)
    let text = try person.deeplink("explain", "--", refused.url)
    #expect(text.status == 1)
    #expect(text.output.contains("\nrefused     \(refused.code): "))
  }

  @Test func `of several links one that is refused makes the status 1`() throws {
    let done = try person.deeplink(
      "explain", "--json", "com.example.demo:greet", "nobody:x", "com.example.demo:greet")
    #expect(done.status == 1)
    #expect(done.lines.map { $0.hasPrefix(#"{"accepted":true"#) } == [true, false, true])
  }

  @Test func `the person's settings and grants count`() throws {
    let link = "com.example.photos:/import?from=https%3A%2F%2Fe.com"
    func consent() throws -> JSONValue? {
      let done = try person.deeplink("explain", "--json", link)
      return try JSONValue(json5: Array(done.output.utf8))["consent"]
    }
    #expect(try consent() == "asked at first use")
    let photos = Repository.root.appending(path: "Tests/Manifests/com.example.Photos/plugin.json")
    let plugin = try Plugin.manifest(at: photos.path)
    var grants = Grants()
    grants.allowAll(plugin, time: 1)
    try grants.write(person.root.path + "/.local/state/deeplinkd/grants.json")
    #expect(try consent() == "asked at first use, always allowed for every source")
    try person.write(
      #"{"consent": {"com.example.Photos/import": "deny"}, "maximumLength": 300}"#,
      to: ".config/deeplinkd/settings.json")
    #expect(try consent() == "denied by the settings")
    let long = try person.deeplink("explain", link + String(repeating: "x", count: 300))
    #expect(long.output.contains("refused     too-long"))
  }

  @Test func `sensitive values are hidden, but not from the author of a manifest`() throws {
    let link = "com.example.photos:/oauth?code=topsecret&state=xyz"
    let hidden = try person.deeplink("explain", "--json", link)
    #expect(!hidden.output.contains("topsecret") && !hidden.output.contains("xyz"))
    #expect(hidden.output.contains(#""code":"secret, 9 characters""#))
    let text = try person.deeplink("explain", link)
    #expect(!text.output.contains("topsecret"))
    #expect(text.output.contains(#"parameter   code = "secret, 9 characters""#))
    let manifest = person.plugins.appending(path: "com.example.Photos/plugin.json").path
    let shown = try person.deeplink("explain", "--json", "--manifest", manifest, link)
    #expect(shown.output.contains(#""code":"topsecret""#))
  }

  @Test func `a manifest decides alone, without what is installed`() throws {
    let manifest = person.plugins.appending(path: "com.example.Photos/plugin.json").path
    #expect(
      try person.deeplink("explain", "--manifest", manifest, "com.example.demo:greet").status == 1)
    let nobody = try Person(plugins: [])
    #expect(
      try nobody.deeplink("explain", "--manifest", manifest, "com.example.photos:Trip").status == 0)
  }

  @Test func `a manifest with errors is told with every place, and nothing is explained`() throws {
    try person.write(#"{"id": "com.example.X", "name": 7, "routes": []}"#, to: "bad.json")
    let manifest = person.root.appending(path: "bad.json").path
    let done = try person.deeplink("explain", "--manifest", manifest, "x:y")
    #expect(done.status == 1)
    #expect(done.output == "")
    for place in ["$.name: ", "'schemes' is missing", "$.routes: "] {
      #expect(done.errors.contains(place))
    }
  }

  @Test func `installed plugins with errors are named on standard error`() throws {
    try person.write("{", to: "data/deeplinkd/plugins/com.example.Broken/plugin.json")
    let done = try person.deeplink("explain", "--json", "com.example.demo:greet")
    #expect(done.status == 0)
    #expect(done.lines.count == 1)
    #expect(done.errors.contains("'com.example.Broken'"))
    #expect(done.errors.contains("hint: `deeplink plugin check`"))
  }

  // MARK: Standard input

  @Test func `each line of any bytes has its answer, in order`() throws {
    let lines: [(bytes: [UInt8], code: String?)] = [
      (Array("com.example.demo:greet".utf8), nil),
      ([], "empty"),
      (Array("com.example.demo:greet?name=".utf8) + [0xFF, 0xFE], "not-utf8"),
      (Array("com.example.demo:greet".utf8) + [0x0D], nil),
      (Array("com.example.demo:gr\0eet".utf8), "control-character"),
      ([0], "empty"),
      (Array("com.example.demo:gr\reet".utf8), "control-character"),
      ([0xC0, 0x80], "not-utf8"),
      (Array("--json".utf8), "not-absolute"),
      (Array("com.example.demo:greet?name=\u{202E}\u{2028}".utf8), nil),
      (
        Array("com.example.demo:greet?name=".utf8) + Array(repeating: 0x61, count: 70_000),
        "too-long"
      ),
      (Array("com.example.demo:echo?text=x".utf8), nil),
    ]
    let input = Data(lines.map(\.bytes).joined(separator: [0x0A]))
    let done = try person.deeplink("explain", "--stdin", "--json", input: input)
    #expect(done.status == 1)
    #expect(done.errors == "")
    let answers = try done.lines.map { try JSONValue(json5: Array($0.utf8)) }
    #expect(answers.map { $0["refusal"]?["code"]?.string } == lines.map(\.code))
    let ended = try person.deeplink(
      "explain", "--stdin", "--json", input: input + Data([0x0A]))
    #expect(ended.output == done.output)
  }

  @Test func `no line has no answer and status 0, one empty line is an empty link`() throws {
    let none = try person.deeplink("explain", "--stdin", "--json", input: Data())
    #expect(none.status == 0 && none.output == "")
    let one = try person.deeplink("explain", "--stdin", "--json", input: Data([0x0A]))
    #expect(one.status == 1 && one.lines.count == 1)
  }

  @Test func `people get a step by step answer for each line, an empty line between them`() throws {
    let done = try person.deeplink(
      "explain", "--stdin", input: Data("com.example.demo:greet\nnobody:x\n".utf8))
    #expect(done.output.components(separatedBy: "\n\n").count == 2)
  }

  @Test func `thousands of lines are answered in the order of the questions`() throws {
    let count = 5_000
    let links = (0..<count).map { "com.example.demo:greet?name=\($0)\n" }.joined()
    let done = try person.deeplink("explain", "--stdin", "--json", input: Data(links.utf8))
    #expect(done.status == 0)
    #expect(done.lines.count == count)
    for (index, line) in done.lines.enumerated() {
      #expect(line.contains(#""parameters":{"name":"\#(index)"}"#))
    }
  }

  @Test func `an answer is there before the next question is asked`() throws {
    // A coprocess deadlocks where answers wait in a buffer.
    let done = try person.shell(
      """
      coproc deeplink explain --stdin --json
      for name in a b; do
        echo "com.example.demo:greet?name=$name" >&${COPROC[1]}
        read -r -t 20 answer <&${COPROC[0]} || exit 9
        [[ $answer == *'"name":"'$name'"'* ]] || exit 8
      done
      """)
    #expect(done.status == 0, "\(done.errors)")
  }

  @Test func `arguments that are not UTF-8 are looked at as bytes`() throws {
    let done = try person.shell(#"deeplink explain --json "$(printf 'com.example.demo:\377')""#)
    #expect(done.status == 1)
    #expect(done.output.contains("not-utf8"))
  }

  @Test func `what a link holds does not reach the terminal raw`() throws {
    let hostile = "\u{1B}[2J\u{202E}\u{9B}31m"
    for link in ["com.example.demo:greet?name=\(hostile)", "x\(hostile):y", hostile] {
      let done = try person.deeplink("explain", link)
      let controls = (done.output + done.errors).unicodeScalars.filter {
        $0 != "\n" && [.control, .format].contains($0.properties.generalCategory)
      }
      #expect(controls.isEmpty, "\(link.debugDescription)")
    }
  }
}
