import Foundation
import Testing

@testable import DeeplinkRouting

/// One object of `urlpatterntestdata.json`.
struct WPTPatternCase {
  let index: Int
  let fields: [String: Any]

  static let file = "urlpatterntestdata.json"

  static func load() throws -> [WPTPatternCase] {
    let text = String(decoding: try WebPlatformTestData.data(file), as: UTF8.self)
    let data = Data(withoutLoneSurrogates(text).utf8)
    let list = try #require(try JSONSerialization.jsonObject(with: data) as? [Any])
    return list.compactMap { $0 as? [String: Any] }.enumerated()
      .map { WPTPatternCase(index: $0, fields: $1) }
  }

  /// What Web IDL's conversion to USVString does to an unpaired `\uD83D`, done in the JSON.
  private static func withoutLoneSurrogates(_ json: String) -> String {
    var units = json.components(separatedBy: "\\u")
    for index in units.indices.dropFirst() {
      guard let code = UInt32(units[index].prefix(4), radix: 16) else { continue }
      let isHigh = (0xD800...0xDBFF).contains(code)
      let next = index + 1 < units.count ? UInt32(units[index + 1].prefix(4), radix: 16) : nil
      let isPair = units[index].count == 4 && next.map { (0xDC00...0xDFFF).contains($0) } ?? false
      let previous = UInt32(units[index - 1].prefix(4), radix: 16)
      let isSecond =
        units[index - 1].count == 4 && previous.map { (0xD800...0xDBFF).contains($0) } ?? false
      let isLow = (0xDC00...0xDFFF).contains(code)
      if isHigh && !isPair || isLow && !isSecond {
        units[index] = "FFFD" + units[index].dropFirst(4)
      }
    }
    return units.joined(separator: "\\u")
  }

  /// Whether an unescaped parenthesis stands in the pattern; a base URL is no pattern.
  var hasRegexpGroup: Bool {
    let first = (fields["pattern"] as? [Any])?.first
    let texts =
      (first as? String).map { [$0] }
      ?? (first as? [String: Any])?.filter { $0.key != "baseURL" }.values
      .compactMap { $0 as? String } ?? []
    return texts.contains { text in
      text.replacingOccurrences(of: "\\\\", with: "").replacingOccurrences(of: "\\(", with: "")
        .contains("(")
    }
  }

  /// The pattern that the constructor's arguments make.
  func pattern() throws -> URLPattern {
    var arguments = fields["pattern"] as? [Any] ?? []
    var ignoreCase = false
    if let options = arguments.last as? [String: Any], let value = options["ignoreCase"] as? Bool {
      // `[{"ignoreCase": true}]` is the constructor's first argument, a pattern of nothing.
      ignoreCase = arguments.count > 1 && value
      if arguments.count > 1 { arguments.removeLast() }
    }
    switch arguments.first {
    case let text as String:
      let base = arguments.count > 1 ? arguments[1] as? String : nil
      return try URLPattern(text, baseURL: base, ignoreCase: ignoreCase)
    case let fields as [String: Any]:
      return try URLPattern(components(fields), ignoreCase: ignoreCase)
    default: return try URLPattern(URLPattern.Components())
    }
  }

  private static let names = [
    "protocol", "username", "password", "hostname", "port", "pathname", "search", "hash",
  ]

  private func components(_ fields: [String: Any]) -> URLPattern.Components {
    var result = URLPattern.Components()
    result.protocol = fields["protocol"] as? String
    result.username = fields["username"] as? String
    result.password = fields["password"] as? String
    result.hostname = fields["hostname"] as? String
    result.port = fields["port"] as? String
    result.pathname = fields["pathname"] as? String
    result.search = fields["search"] as? String
    result.hash = fields["hash"] as? String
    result.baseURL = fields["baseURL"] as? String
    return result
  }

  /// What differs from the case's expectations, as `urlpattern.js` of the suite compares them.
  func failure() -> String? {
    let pattern: URLPattern
    do {
      pattern = try self.pattern()
    } catch {
      return fields["expected_obj"] as? String == "error" ? nil : "refused: \(error)"
    }
    if fields["expected_obj"] as? String == "error" { return "accepted" }
    for name in Self.names {
      if let expected = expectedPattern(of: name), pattern[name] != expected {
        return "\(name) is '\(pattern[name])', not '\(expected)'"
      }
    }
    let inputs = fields["inputs"] as? [Any] ?? []
    let result: URLPattern.Result?
    let base = inputs.count > 1 ? inputs[1] as? String : nil
    switch inputs.first {
    case let url as String: result = pattern.exec(url, baseURL: base)
    case let fields as [String: Any]:
      result = pattern.exec(components(fields))
    default: result = pattern.exec(URLPattern.Components())
    }
    guard let expected = fields["expected_match"] as? [String: Any] else {
      return result == nil ? nil : "matched"
    }
    guard let result else { return "did not match" }
    for name in Self.names {
      let want = expected[name] as? [String: Any] ?? defaultResult(of: name)
      let groups = (want["groups"] as? [String: Any] ?? [:]).mapValues { $0 as? String }
      if result[name].input != want["input"] as? String {
        return "\(name)'s input is '\(result[name].input)', not '\(want["input"] ?? "")'"
      }
      if result[name].groups != groups {
        return "\(name)'s groups are \(result[name].groups), not \(groups)"
      }
    }
    return nil
  }

  /// The case's path alone, with the values of its named groups, if it is about nothing else.
  var path: (pattern: String, input: String, expected: [String: String]?)? {
    guard !hasRegexpGroup, fields["expected_obj"] as? String != "error",
      let patterns = fields["pattern"] as? [[String: Any]], patterns.count == 1,
      let inputs = fields["inputs"] as? [[String: Any]], inputs.count == 1,
      patterns[0].count == 1, let pattern = patterns[0]["pathname"] as? String,
      inputs[0].count == 1, let input = inputs[0]["pathname"] as? String
    else { return nil }
    guard let match = fields["expected_match"] as? [String: Any] else {
      return (pattern, input, nil)
    }
    let groups = (match["pathname"] as? [String: Any])?["groups"] as? [String: Any] ?? [:]
    let named = groups.filter { $0.key.first?.isNumber == false }
    return (pattern, input, named.compactMapValues { $0 as? String })
  }

  private var exactlyEmpty: [String] { fields["exactly_empty_components"] as? [String] ?? [] }

  private func defaultResult(of name: String) -> [String: Any] {
    ["input": "", "groups": exactlyEmpty.contains(name) ? [:] : ["0": ""]]
  }

  /// What a component's pattern is to be, where the case says so or it was given as it is.
  private func expectedPattern(of name: String) -> String? {
    if let object = fields["expected_obj"] as? [String: Any], let value = object[name] as? String {
      return value
    }
    if exactlyEmpty.contains(name) { return "" }
    guard let first = (fields["pattern"] as? [Any])?.first as? [String: Any] else {
      return (fields["pattern"] as? [Any])?.isEmpty == true ? "*" : nil
    }
    if let value = first[name] as? String { return value }
    return first["baseURL"] == nil ? "*" : nil
  }
}

extension URLPattern {
  fileprivate subscript(name: String) -> String {
    switch name {
    case "protocol": self.protocol
    case "username": username
    case "password": password
    case "hostname": hostname
    case "port": port
    case "pathname": pathname
    case "search": search
    default: hash
    }
  }
}

extension URLPattern.Result {
  fileprivate subscript(name: String) -> URLPattern.ComponentResult {
    switch name {
    case "protocol": self.protocol
    case "username": username
    case "password": password
    case "hostname": hostname
    case "port": port
    case "pathname": pathname
    case "search": search
    default: hash
    }
  }
}
