import DeeplinkRouting
import Testing

/// One mistake in a manifest, with the place and reason that the loader gives.
struct InvalidManifest: Sendable, CustomTestStringConvertible {
  var id: String
  var document: JSONValue
  var path: String
  var reason: String
  /// Whether `data/plugin.schema.json` can see it too.
  var isSeenBySchema: Bool

  var testDescription: String { id }

  private init(
    _ id: String, _ document: JSONValue, at path: String, _ reason: String, schema: Bool = true
  ) {
    self.id = id
    self.document = document
    self.path = path
    self.reason = reason
    isSeenBySchema = schema
  }

  static let all: [InvalidManifest] =
    plugins + routes + parameters + actions + commands

  private static let long = JSONValue.string(String(repeating: "x", count: 2_000))

  private static let plugins: [InvalidManifest] = [
    InvalidManifest("no object", [], at: "$", "expected an object, found an array"),
    InvalidManifest("no id", Manifest.plugin(["id": nil]), at: "$", "'id' is missing"),
    InvalidManifest("no name", Manifest.plugin(["name": nil]), at: "$", "'name' is missing"),
    InvalidManifest(
      "no schemes", Manifest.plugin(["schemes": nil]), at: "$", "'schemes' is missing"),
    InvalidManifest("no routes", Manifest.plugin(["routes": nil]), at: "$", "'routes' is missing"),
    InvalidManifest("unknown key", Manifest.plugin(["icn": "x"]), at: "$.icn", "unknown key"),
    InvalidManifest(
      "strange key", Manifest.plugin(["a b": 1]), at: #"$["a b"]"#, "unknown key 'a b'"),
    InvalidManifest(
      "id type", Manifest.plugin(["id": 3]), at: "$.id", "expected a string, found a number"),
    InvalidManifest("id one element", Manifest.plugin(["id": "Photos"]), at: "$.id", "no identity"),
    InvalidManifest("id digit", Manifest.plugin(["id": "com.7even.A"]), at: "$.id", "no identity"),
    InvalidManifest("id hyphen", Manifest.plugin(["id": "-x.y"]), at: "$.id", "no identity"),
    InvalidManifest("id slash", Manifest.plugin(["id": "com.a/../b"]), at: "$.id", "no identity"),
    InvalidManifest(
      "id empty element", Manifest.plugin(["id": "com..a"]), at: "$.id", "no identity"),
    InvalidManifest("name empty", Manifest.plugin(["name": " "]), at: "$.name", "is empty"),
    InvalidManifest(
      "name newline", Manifest.plugin(["name": "a\nExec=x"]), at: "$.name", "control character"),
    InvalidManifest("name long", Manifest.plugin(["name": long]), at: "$.name", "longer than 200"),
    InvalidManifest(
      "name list", Manifest.plugin(["name": ["a"]]), at: "$.name", "an object of languages"),
    InvalidManifest(
      "name no language", Manifest.plugin(["name": [:]]), at: "$.name", "has no language"),
    InvalidManifest(
      "name locale", Manifest.plugin(["name": ["english": "a"]]), at: "$.name.english", "no locale"),
    InvalidManifest(
      "name text", Manifest.plugin(["name": ["de": 3]]), at: "$.name.de", "expected a string"),
    InvalidManifest(
      "icon path", Manifest.plugin(["icon": "a/b.png"]), at: "$.icon", "name of an icon"),
    InvalidManifest(
      "scheme none", Manifest.plugin(["schemes": []]), at: "$.schemes", "names no scheme"),
    InvalidManifest(
      "scheme type", Manifest.plugin(["schemes": "a"]), at: "$.schemes", "a list of strings"),
    InvalidManifest(
      "scheme element", Manifest.plugin(["schemes": [1]]), at: "$.schemes[0]", "expected a string"),
    InvalidManifest(
      "scheme colon", Manifest.plugin(["schemes": ["a.b://"]]), at: "$.schemes[0]", "no scheme"),
    InvalidManifest(
      "scheme digit", Manifest.plugin(["schemes": ["2day"]]), at: "$.schemes[0]", "no scheme"),
    InvalidManifest(
      "scheme capitals", Manifest.plugin(["schemes": ["A.b"]]), at: "$.schemes[0]", "lower case"),
    InvalidManifest(
      "scheme twice", Manifest.plugin(["schemes": ["a.b", "a.b"]]), at: "$.schemes[1]", "twice"),
    InvalidManifest(
      "scheme https", Manifest.plugin(["schemes": ["https"]]), at: "$.schemes[0]",
      "associatedDomains"),
    InvalidManifest(
      "scheme javascript", Manifest.plugin(["schemes": ["javascript"]]), at: "$.schemes[0]",
      "can not be claimed"),
    InvalidManifest(
      "scheme of the daemon", Manifest.plugin(["schemes": ["org.deeplinkd"]]), at: "$.schemes[0]",
      "the daemon's own"),
    InvalidManifest(
      "routes type", Manifest.plugin(["routes": [:]]), at: "$.routes", "a list of routes"),
    InvalidManifest("routes none", Manifest.plugin(["routes": []]), at: "$.routes", "has no route"),
    InvalidManifest(
      "credentials", Manifest.plugin(["allowsCredentials": "yes"]), at: "$.allowsCredentials",
      "true or false"),
    InvalidManifest(
      "shared", Manifest.plugin(["sharedWith": ["x"]]), at: "$.sharedWith[0]", "no identity"),
    InvalidManifest(
      "domain prefix",
      Manifest.plugin(["associatedDomains": ["example.com"], "appIDs": ["A.b"]]),
      at: "$.associatedDomains[0]", "no associated domain"),
    InvalidManifest(
      "domain mode",
      Manifest.plugin(["associatedDomains": ["applinks:a.com?mode=x"], "appIDs": ["A.b"]]),
      at: "$.associatedDomains[0]", "no associated domain"),
    InvalidManifest(
      "domain alone", Manifest.plugin(["associatedDomains": ["applinks:a.com"]]),
      at: "$.associatedDomains", "means nothing without 'appIDs'"),
    InvalidManifest(
      "route name twice",
      Manifest.plugin(["routes": [Manifest.route(), Manifest.route(["match": "/b"])]]),
      at: "$.routes[1].name", "the name of $.routes[0]", schema: false),
    InvalidManifest(
      "same route twice",
      Manifest.plugin([
        "routes": [
          Manifest.route(),
          Manifest.route(["name": "b", "match": "/a/:y", "action": ["notify": ["title": "t"]]]),
        ]
      ]),
      at: "$.routes[1].match", "takes the same links as $.routes[0]", schema: false),
    InvalidManifest(
      "65 routes share a form",
      Manifest.plugin([
        "routes": .array(
          (0...64).map {
            Manifest.route([
              "name": .string("r\($0)"), "parameters": ["x": ["enum": [.string("v\($0)")]]],
            ])
          })
      ]),
      at: "$.routes[64].match", "more than 64 routes have the same form", schema: false),
  ]

  private static let routes: [InvalidManifest] = [
    InvalidManifest(
      "route type", Manifest.plugin(["routes": ["x"]]), at: "$.routes[0]",
      "expected an object, found a string"),
    InvalidManifest(
      "route name", Manifest.with(route: ["name": nil]), at: "$.routes[0]", "'name' is missing"),
    InvalidManifest(
      "route name slash", Manifest.with(route: ["name": "a/b"]), at: "$.routes[0].name",
      "no name of a route"),
    InvalidManifest(
      "route match", Manifest.with(route: ["match": nil]), at: "$.routes[0]", "'match' is missing"),
    InvalidManifest(
      "match type", Manifest.with(route: ["match": 3]), at: "$.routes[0].match",
      "expected a pattern"),
    InvalidManifest(
      "match none", Manifest.with(route: ["match": []]), at: "$.routes[0].match", "has no pattern"),
    InvalidManifest(
      "match element", Manifest.with(route: ["match": ["/a/:x", 1]]), at: "$.routes[0].match[1]",
      "expected a pattern"),
    InvalidManifest(
      "match regexp", Manifest.with(route: ["match": "/a/:x(\\d+)"]), at: "$.routes[0].match",
      "no regular expression", schema: false),
    InvalidManifest(
      "match fragment", Manifest.with(route: ["match": "/a/:x#b"]), at: "$.routes[0].match",
      "fragment",
      schema: false),
    InvalidManifest(
      "match name twice", Manifest.with(route: ["match": "/:x/:x"]), at: "$.routes[0].match",
      "used twice",
      schema: false),
    InvalidManifest(
      "match forms", Manifest.with(route: ["match": "/:x{/a}?{/b}?{/c}?{/d}?{/e}?{/f}?"]),
      at: "$.routes[0].match", "more than 32 forms", schema: false),
    InvalidManifest(
      "fragment pattern", Manifest.with(route: ["fragment": "(x)"]), at: "$.routes[0].fragment",
      "no regular expression", schema: false),
    InvalidManifest(
      "fragment name", Manifest.with(route: ["fragment": ":x"]), at: "$.routes[0].fragment",
      "a name of the pattern already", schema: false),
    InvalidManifest(
      "route action", Manifest.with(route: ["action": nil]), at: "$.routes[0]",
      "'action' is missing"),
    InvalidManifest(
      "effect", Manifest.with(route: ["effect": "viev"]), at: "$.routes[0].effect",
      "none of its words"),
    InvalidManifest(
      "confirm", Manifest.with(route: ["confirm": "never"]), at: "$.routes[0].confirm",
      "none of its words"),
    InvalidManifest(
      "additional", Manifest.with(route: ["additionalParameters": "keep"]),
      at: "$.routes[0].additionalParameters", "none of its words"),
    InvalidManifest(
      "timeout", Manifest.with(route: ["timeout": 0]), at: "$.routes[0].timeout", "more than 0"),
    InvalidManifest(
      "timeout text", Manifest.with(route: ["timeout": "30s"]), at: "$.routes[0].timeout",
      "a number of seconds"),
    InvalidManifest(
      "callback hosts", Manifest.with(route: ["callbackHosts": ["a.com"]]),
      at: "$.routes[0].callbackHosts", "means nothing without"),
    InvalidManifest(
      "callback host", Manifest.with(route: ["callback": true, "callbackHosts": ["https://a"]]),
      at: "$.routes[0].callbackHosts[0]", "no host"),
    InvalidManifest(
      "sources", Manifest.with(route: ["sources": []]), at: "$.routes[0].sources", "names no source"
    ),
    InvalidManifest(
      "preset", Manifest.with(route: ["preset": "oauth"]), at: "$.routes[0].preset",
      "none of its words"),
    InvalidManifest(
      "title brace", Manifest.with(route: ["title": "{x"]), at: "$.routes[0].title",
      "without its '}'"),
    InvalidManifest(
      "title name", Manifest.with(route: ["title": "{y}"]), at: "$.routes[0].title",
      "no parameter of the route", schema: false),
  ]

  private static let parameters: [InvalidManifest] = {
    let place = "$.routes[0].parameters.p"
    return [
      InvalidManifest(
        "parameters type", Manifest.with(route: ["parameters": []]), at: "$.routes[0].parameters",
        "expected an object"),
      InvalidManifest(
        "parameter type", Manifest.with(parameter: "string"), at: place, "expected an object"),
      InvalidManifest(
        "parameter name", Manifest.with(route: ["parameters": ["a{b": [:]]]),
        at: #"$.routes[0].parameters["a{b"]"#, "braces"),
      InvalidManifest(
        "type word", Manifest.with(parameter: ["type": "int"]), at: "\(place).type",
        "'int' is no type"),
      InvalidManifest(
        "type list", Manifest.with(parameter: ["type": ["string", "integer"]]), at: "\(place).type",
        "one type"),
      InvalidManifest(
        "type null", Manifest.with(parameter: ["type": "null"]), at: "\(place).type", "one type"),
      InvalidManifest(
        "unknown word", Manifest.with(parameter: ["requierd": true]), at: "\(place).requierd",
        "unknown key"),
      InvalidManifest(
        "items of a string", Manifest.with(parameter: ["items": [:]]), at: "\(place).items",
        "only an array"),
      InvalidManifest(
        "array of arrays", Manifest.with(parameter: ["type": "array", "items": ["type": "array"]]),
        at: "\(place).items.type", "no type of an element"),
      InvalidManifest(
        "format word", Manifest.with(parameter: ["format": "url"]), at: "\(place).format",
        "none of its words"),
      InvalidManifest(
        "format of a number", Manifest.with(parameter: ["type": "integer", "format": "uuid"]),
        at: "\(place).format", "for strings"),
      InvalidManifest(
        "schemes without uri", Manifest.with(parameter: ["schemes": ["https"]]),
        at: "\(place).schemes",
        "belongs to"),
      InvalidManifest(
        "minimum of a string", Manifest.with(parameter: ["minimum": 1]), at: "\(place).minimum",
        "for numbers"),
      InvalidManifest(
        "minimum above maximum",
        Manifest.with(parameter: ["type": "integer", "minimum": 2, "maximum": 1]),
        at: "\(place).minimum", "more than maximum", schema: false),
      InvalidManifest(
        "lengths", Manifest.with(parameter: ["minLength": 2, "maxLength": 1]),
        at: "\(place).minLength",
        "more than maxLength", schema: false),
      InvalidManifest(
        "length negative", Manifest.with(parameter: ["maxLength": -1]), at: "\(place).maxLength",
        "must be from 0"),
      InvalidManifest(
        "pattern", Manifest.with(parameter: ["pattern": "(a"]), at: "\(place).pattern", "missing )",
        schema: false),
      InvalidManifest(
        "pattern backreference", Manifest.with(parameter: ["pattern": "(a)\\1"]),
        at: "\(place).pattern",
        "invalid escape sequence", schema: false),
      InvalidManifest(
        "pattern long", Manifest.with(parameter: ["pattern": long]), at: "\(place).pattern",
        "longer"),
      InvalidManifest(
        "pattern huge", Manifest.with(parameter: ["pattern": "((a{1000}){100}){10}"]),
        at: "\(place).pattern", "invalid repetition size", schema: false),
      InvalidManifest(
        "enum empty", Manifest.with(parameter: ["enum": []]), at: "\(place).enum", "at least one"),
      InvalidManifest(
        "enum type", Manifest.with(parameter: ["type": "integer", "enum": [1, "2"]]),
        at: "\(place).enum[1]", "which the type is not", schema: false),
      InvalidManifest(
        "default type", Manifest.with(parameter: ["type": "integer", "default": "1"]),
        at: "\(place).default", "which the type is not", schema: false),
      InvalidManifest(
        "default range", Manifest.with(parameter: ["type": "integer", "minimum": 1, "default": 0]),
        at: "\(place).default", "must be at least 1", schema: false),
      InvalidManifest(
        "default enum", Manifest.with(parameter: ["enum": ["a"], "default": "b"]),
        at: "\(place).default", "none of the values", schema: false),
      InvalidManifest(
        "from", Manifest.with(parameter: ["from": "path"]), at: "\(place).from", "none of its words"
      ),
      InvalidManifest(
        "captured from the fragment",
        Manifest.with(route: ["parameters": ["x": ["from": "fragment"]]]),
        at: "$.routes[0].parameters.x.from", "captured by a pattern", schema: false),
      InvalidManifest(
        "spanning name",
        Manifest.with(route: ["match": "/a/:x*", "parameters": ["x": ["type": "string"]]]),
        at: "$.routes[0].parameters.x", "must be 'array'", schema: false),
    ]
  }()

  private static let actions: [InvalidManifest] = {
    let place = "$.routes[0].action"
    func call(_ members: [String: JSONValue]) -> JSONValue {
      let base: [String: JSONValue] = [
        "busName": "com.example.A", "path": "/a", "interface": "com.example.A", "member": "Do",
      ]
      return Manifest.with(action: ["call": .object(base.merging(members) { $1 })])
    }
    return [
      InvalidManifest("action type", Manifest.with(action: "x"), at: place, "expected an object"),
      InvalidManifest("action none", Manifest.with(action: [:]), at: place, "exactly one kind"),
      InvalidManifest(
        "action two", Manifest.with(action: ["open": ["url": "a:b"], "notify": ["title": "t"]]),
        at: place,
        "exactly one kind"),
      InvalidManifest(
        "action unknown", Manifest.with(action: ["shell": ["run": "x"]]), at: "\(place).shell",
        "unknown key"),
      InvalidManifest(
        "entry", Manifest.with(action: ["application": ["desktopEntry": "../x"]]),
        at: "\(place).application.desktopEntry", "no desktop file id"),
      InvalidManifest(
        "bus name", Manifest.with(action: ["handler": ["busName": "photos"]]),
        at: "\(place).handler.busName", "no D-Bus name"),
      InvalidManifest(
        "bus name unique", Manifest.with(action: ["handler": ["busName": ":1.5"]]),
        at: "\(place).handler.busName", "no D-Bus name"),
      InvalidManifest(
        "launch parameter",
        Manifest.with(action: ["handler": ["busName": "a.b", "launch": ["p", "{x}"]]]),
        at: "\(place).handler.launch[1]", "started once for many links", schema: false),
      InvalidManifest(
        "concurrency", Manifest.with(action: ["handler": ["busName": "a.b", "concurrency": 0]]),
        at: "\(place).handler.concurrency", "from 1"),
      InvalidManifest(
        "worker without run", Manifest.with(action: ["worker": [:]]), at: "\(place).worker",
        "'run' is missing"),
      InvalidManifest(
        "call path", call(["path": "a/b"]), at: "\(place).call.path", "no object path"),
      InvalidManifest(
        "call interface", call(["interface": "A"]), at: "\(place).call.interface",
        "no interface name"),
      InvalidManifest(
        "call member", call(["member": "Do.It"]), at: "\(place).call.member", "no method name"),
      InvalidManifest(
        "call signature", call(["signature": "z"]), at: "\(place).call.signature",
        "no D-Bus signature"),
      InvalidManifest(
        "call signature braces", call(["signature": "a{vs}", "arguments": [[:]]]),
        at: "\(place).call.signature", "no D-Bus signature", schema: false),
      InvalidManifest(
        "call arguments", call(["signature": "ss", "arguments": ["{x}"]]),
        at: "\(place).call.arguments", "has 1 values", schema: false),
      InvalidManifest(
        "call name", call(["signature": "as", "arguments": [["{y}"]]]),
        at: "\(place).call.arguments[0]", "no parameter", schema: false),
      InvalidManifest(
        "open scheme", Manifest.with(action: ["open": ["url": "{x}"]]), at: "\(place).open.url",
        "scheme must be written out"),
      InvalidManifest(
        "open javascript", Manifest.with(action: ["open": ["url": "JavaScript:{x}"]]),
        at: "\(place).open.url", "never opened"),
      InvalidManifest(
        "open host", Manifest.with(action: ["open": ["url": "https://example.com{x}"]]),
        at: "\(place).open.url", "host must be written out", schema: false),
      InvalidManifest(
        "open without host", Manifest.with(action: ["open": ["url": "https:/{x}"]]),
        at: "\(place).open.url", "needs a host", schema: false),
      InvalidManifest(
        "notify title", Manifest.with(action: ["notify": ["body": "x"]]), at: "\(place).notify",
        "'title' is missing"),
    ]
  }()

  private static let commands: [InvalidManifest] = {
    let place = "$.routes[0].action.command"
    func command(_ run: JSONValue, _ parameters: JSONValue = [:]) -> JSONValue {
      Manifest.with(action: ["command": ["run": run]], parameters)
    }
    func row(
      _ id: String, _ run: JSONValue, _ parameters: JSONValue = [:], at index: Int,
      _ reason: String
    ) -> InvalidManifest {
      InvalidManifest(
        id, command(run, parameters), at: "\(place).run[\(index)]", reason, schema: false)
    }
    return [
      InvalidManifest("run text", command("ls {x}"), at: "\(place).run", "a list of strings"),
      InvalidManifest("run nothing", command([]), at: "\(place).run", "names no program"),
      row("program from the link", ["{x}"], at: 0, "the program must be written out"),
      row("program half from the link", ["/usr/bin/{x}"], at: 0, "the program must be written out"),
      row("option", ["p", "{x}"], at: 1, "begins with a parameter"),
      row(
        "option after nothing", ["p", "{n}{x}"], ["n": ["type": "boolean"]], at: 1, "begins with"),
      row("option by absence", ["p", "{n}-f"], ["n": ["type": "boolean"]], at: 1, "begins with"),
      row("negative number", ["p", "{n}"], ["n": ["type": "integer"]], at: 1, "begins with"),
      row("unknown name", ["p", "--", "{y}"], at: 2, "no parameter of the route"),
      row("secret", ["p", "--", "{token}"], ["token": [:]], at: 2, "is sensitive"),
      row(
        "secret in the URL", ["p", "{url}"], ["pin": ["sensitive": true]], at: 1, "is sensitive"),
      row("secret in the raw URL", ["p", "u={rawURL}"], ["otp": [:]], at: 1, "is sensitive"),
      row("shell code", ["sh", "-c", "echo {x}"], at: 2, "code that an interpreter runs"),
      row(
        "shell code after --", ["/bin/bash", "-ec", "--", "{x}"], at: 3, "code that an interpreter"),
      row(
        "python code", ["env", "python3", "-c", "print('{x}')"], at: 3, "code that an interpreter"),
      InvalidManifest(
        "sandbox word", Manifest.with(action: ["command": ["run": ["p"], "sandbox": "full"]]),
        at: "\(place).sandbox", "no sandbox"),
      InvalidManifest(
        "sandbox path",
        Manifest.with(action: ["command": ["run": ["p"], "sandbox": ["read": ["a/../b"]]]]),
        at: "\(place).sandbox.read[0]", "no path"),
      InvalidManifest(
        "input", Manifest.with(action: ["command": ["run": ["p"], "input": "url"]]),
        at: "\(place).input", "none of its words"),
    ]
  }()
}

/// A manifest that both the loader and the schema accept.
struct ValidManifest: Sendable, CustomTestStringConvertible {
  var id: String
  var document: JSONValue
  var testDescription: String { id }

  init(_ id: String, _ document: JSONValue) {
    self.id = id
    self.document = document
  }

  static let all: [ValidManifest] = [
    ValidManifest("smallest", Manifest.plugin()),
    ValidManifest("schema key", Manifest.plugin(["$schema": "plugin.schema.json"])),
    ValidManifest(
      "languages", Manifest.plugin(["name": ["de": "Fotos", "pt_BR": "Fotos", "sr@latin": "F"]])),
    ValidManifest("icon name", Manifest.plugin(["icon": "com.example.Photos"])),
    ValidManifest("icon path", Manifest.plugin(["icon": "/usr/share/icons/a.png"])),
    ValidManifest(
      "shared", Manifest.plugin(["sharedWith": ["com.example.Other"], "allowsCredentials": true])),
    ValidManifest(
      "domains",
      Manifest.plugin([
        "associatedDomains": [
          "applinks:example.com", "applinks:*.example.org",
          "applinks:localhost:8443?mode=developer",
        ], "appIDs": ["ABCDE12345.com.example.Photos"],
      ])),
    ValidManifest(
      "route members",
      Manifest.with(route: [
        "title": "Show {x}", "effect": "change", "confirm": "always", "fragment": "s-:section",
        "formEncoded": true, "additionalParameters": "refuse", "timeout": 0.5, "idempotent": true,
        "callback": true, "callbackHosts": ["example.com"],
        "sources": ["flatpak:org.mozilla.firefox"],
      ])),
    ValidManifest("preset", Manifest.with(route: ["preset": "oauth-redirect"])),
    ValidManifest("several patterns", Manifest.with(route: ["match": [":x", "//album/:x"]])),
    ValidManifest("spanning name", Manifest.with(route: ["match": "/a/:x*"])),
    ValidManifest(
      "array",
      Manifest.with(parameter: ["type": "array", "items": ["type": "integer", "minimum": 1]])),
    ValidManifest("null", Manifest.with(parameter: ["type": ["string", "null"], "default": nil])),
    ValidManifest(
      "null number", Manifest.with(parameter: ["type": ["null", "integer"], "minimum": 0])),
    ValidManifest(
      "string words",
      Manifest.with(parameter: [
        "minLength": 1, "maxLength": 9, "pattern": "[a-z]+", "enum": ["a", "b"], "default": "a",
        "multiline": false, "sensitive": true, "from": "fragment",
      ])),
    ValidManifest(
      "uri", Manifest.with(parameter: ["format": "uri", "schemes": ["https"], "required": true])),
    ValidManifest(
      "number",
      Manifest.with(parameter: ["type": "number", "minimum": -0.5, "maximum": 3, "default": 1])),
    ValidManifest(
      "same form, other parameters",
      Manifest.plugin([
        "routes": [
          Manifest.route(["parameters": ["x": ["type": "integer"]]]),
          Manifest.route(["name": "b", "match": "/a/:y", "action": ["notify": ["title": "{y}"]]]),
        ]
      ])),
    ValidManifest(
      "application",
      Manifest.with(action: ["application": ["desktopEntry": "org.gnome.Maps.desktop"]])),
    ValidManifest(
      "handler",
      Manifest.with(action: [
        "handler": ["busName": "a.b-c", "launch": ["p", "{{}}"], "concurrency": 1]
      ])),
    ValidManifest(
      "worker",
      Manifest.with(action: [
        "worker": ["run": ["worker.py"], "idleTimeout": 10, "launchTimeout": 2, "sandbox": "none"]
      ])),
    ValidManifest("command --", Manifest.with(action: ["command": ["run": ["p", "--", "{x}"]]])),
    ValidManifest(
      "command typed",
      Manifest.with(
        action: ["command": ["run": ["p", "{n}", "{u}", "--x={x}", "{id}"], "timeLimit": 5]],
        ["n": ["type": "integer", "minimum": 0, "required": true], "u": ["format": "uuid"]])),
    ValidManifest(
      "command words",
      Manifest.with(action: ["command": ["run": ["p", "{w}"]]], ["w": ["enum": ["a", "b"]]])),
    ValidManifest(
      "shell with an argument",
      Manifest.with(action: ["command": ["run": ["sh", "-c", "echo \"$1\"", "sh", "--", "{x}"]]])),
    ValidManifest(
      "sandbox",
      Manifest.with(action: [
        "command": [
          "run": ["p"], "input": "context",
          "sandbox": [
            "network": true, "session": false, "read": ["~/Pictures", "/srv"], "write": ["~"],
          ],
        ]
      ])),
    ValidManifest(
      "call",
      Manifest.with(action: [
        "call": [
          "bus": "system", "busName": "a.b", "path": "/", "interface": "a.b", "member": "M",
          "signature": "sxa{sv}", "arguments": ["{x}", 3, ["k": "{x}"]],
        ]
      ])),
    ValidManifest(
      "open", Manifest.with(action: ["open": ["url": "https://example.com/{x}?q={x}#{x}"]])),
    ValidManifest("open opaque", Manifest.with(action: ["open": ["url": "mailto:{x}"]])),
    ValidManifest(
      "notify", Manifest.with(action: ["notify": ["title": "{{{x}}}", "body": "from {source}"]])),
  ]
}
