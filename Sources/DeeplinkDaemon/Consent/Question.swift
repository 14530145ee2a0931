import DeeplinkRouting

/// What a person is asked before a link may cause something.
///
/// Everything of the link is in it, decoded and in full, but for secrets; nothing of it can look like
/// anything but what it is. Two that are equal are one question.
struct Question: Hashable, Sendable {
  let plugin: PluginID
  let route: String
  let source: Source
  /// The values themselves, so that two secrets of one length are two questions.
  let parameters: [String: ParameterValue]
  let icon: String?
  let title: String
  /// One fact a line, without markup; control characters and marks of direction are escaped.
  let lines: [String]
  let offersAlways: Bool
  /// Where a result would be sent; nil for a question about an action.
  let destination: String?

  /// Whether a link may cause its action.
  init(_ match: Match, _ link: Link, from source: Source, offersAlways: Bool) {
    plugin = match.plugin.id
    route = match.route.name
    self.source = source
    parameters = match.parameters
    icon = match.plugin.icon
    self.offersAlways = offersAlways
    destination = nil
    title = JSONValue.visible("\(match.plugin.name.standard): allow this link?")
    var lines: [String] = []
    if match.route.title != nil { lines.append(match.title) }
    lines.append(ShownAction(match, link).text)
    lines.append("from: \(source.text)")
    for (name, value) in match.redactedParameters().sorted(by: { $0.key < $1.key }) {
      lines.append("\(name): \(value)")
    }
    if offersAlways, source.speaksForOthers {
      lines.append("\(Answer.alwaysLabel) means: any program or web page")
    }
    self.lines = lines.map(JSONValue.visible)
  }

  /// Whether an action's result may be sent to where its link wants it.
  init(
    _ match: Match, sending members: [(String, String)], to destination: String, from source: Source
  ) {
    plugin = match.plugin.id
    route = match.route.name
    self.source = source
    parameters = Dictionary(
      members.map { ($0.0, ParameterValue.string($0.1)) }, uniquingKeysWith: { first, _ in first })
    icon = match.plugin.icon
    offersAlways = true
    self.destination = destination
    title = JSONValue.visible("\(match.plugin.name.standard): send what this link asks for?")
    let claim = match.callback?.source.map { ["for: \($0), as the link says"] } ?? []
    let sent = members.map { "\($0.0): \($0.1)" }
    lines = (["to: \(destination)"] + claim + ["from: \(source.text)"] + sent)
      .map(JSONValue.visible)
  }

  /// Whether a notification shows all of it.
  var isShort: Bool { title.count + lines.reduce(lines.count) { $0 + $1.count } <= 160 }

  var body: String { lines.joined(separator: "\n") }
}

/// What a person said to a question.
enum Answer: Hashable, Sendable {
  /// With the token by which what follows may come to the front.
  case once(token: String?)
  case always(token: String?)
  case no
  /// Nothing, until the limit.
  case silence
  /// There was no way to ask.
  case unavailable

  static let onceLabel = "Allow once"
  static let alwaysLabel = "Always"
  static let noLabel = "Deny"
}

/// An action in words: its kind, and what it runs with the link's values in their places.
private struct ShownAction {
  let match: Match
  let link: Link
  let shown: [String: JSONValue]
  let hidesURL: Bool

  init(_ match: Match, _ link: Link) {
    self.match = match
    self.link = link
    shown = match.redactedParameters()
    hidesURL = match.parameters.keys.contains { match.route.isSensitive($0) }
  }

  var text: String {
    switch match.route.action {
    case .application(let action): "opens \(action.desktopEntry)"
    case .handler(let action): "opens \(action.busName)"
    case .worker(let action): "hands it to: \(words(action.run))"
    case .command(let action): "runs: \(words(action.run.map { $0.text(value) }))"
    case .call(let action):
      "calls \(action.busName) \(action.interface).\(action.member)"
        + JSONValue.array(
          action.arguments.map { $0.value(typed: { shown[$0] }, text: value) }
        ).description
    case .open(let action): "opens \(action.url.template.text(value))"
    case .notify(let action): "shows the notification \(quoted(action.title.text(value)))"
    }
  }

  private func value(_ name: String) -> String {
    if match.route.parameter(name) != nil {
      guard let value = match.parameters[name] else { return "" }
      if match.route.isSensitive(name) { return shown[name]?.string ?? "secret" }
      return value.text(separator: "/")
    }
    switch name {
    case "url": return hidesURL ? "(the link)" : link.canonical.href
    case "rawURL": return hidesURL ? "(the link)" : link.rawText
    // Known only when it is handed over.
    default: return "{\(name)}"
    }
  }

  private func words(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// In quotes where it could be taken for more than one word.
  private func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || "-_./:=@%+,".utf8.contains(byte)
    }
    return isPlain && !word.isEmpty ? word : JSONValue.string(word).description
  }
}
