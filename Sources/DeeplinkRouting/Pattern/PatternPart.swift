/// One piece of a parsed pattern: fixed text, or a matching group with text around it
/// (URLPattern Standard, section 2.1.3, "parts").
struct PatternPart: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case fixedText
    /// As few characters as possible, at least one, none of them the delimiter.
    case segmentWildcard
    /// As many characters as possible.
    case fullWildcard
  }

  enum Modifier: Hashable, Sendable {
    case once, optional, zeroOrMore, oneOrMore
  }

  var kind: Kind
  /// The text of a `fixedText` part.
  var value = ""
  var modifier = Modifier.once
  /// The group's name, a number if the pattern gave none; empty for fixed text.
  var name = ""
  var prefix = ""
  var suffix = ""
  /// Where the part's group or text starts in the pattern, for messages.
  var offset = 0

  /// Whether the pattern itself named this group.
  var isNamed: Bool { name.unicodeScalars.first.map { !("0"..."9").contains($0) } ?? false }
}

/// What a component's delimiter is, and which character is an automatic prefix of a group
/// (URLPattern Standard, section 2.1.4, "options").
struct PatternOptions: Hashable, Sendable {
  var delimiter: UInt8?
  var prefix: Unicode.Scalar?
  var ignoreCase = false

  static let plain = PatternOptions()
  static let hostname = PatternOptions(delimiter: UInt8(ascii: "."))
  static let pathname = PatternOptions(delimiter: UInt8(ascii: "/"), prefix: "/")
}

/// Turns a pattern string into its parts: "parse a pattern string" of the URLPattern Standard.
struct PatternParser {
  /// Validates and encodes a piece of fixed text that starts at an offset of the pattern.
  typealias Encode = (_ text: String, _ offset: Int) throws(PatternError) -> String

  private let text: [Unicode.Scalar]
  private let tokens: [PatternToken]
  private let options: PatternOptions
  private let encode: Encode
  private var parts: [PatternPart] = []
  private var names: Set<String> = []
  private var pending = ""
  private var pendingOffset = 0
  private var index = 0
  private var nextNumber = 0

  static func parse(
    _ text: [Unicode.Scalar], _ options: PatternOptions, encode: @escaping Encode
  ) throws(PatternError) -> [PatternPart] {
    let tokens = try PatternToken.tokenize(text, .strict)
    var parser = PatternParser(text: text, tokens: tokens, options: options, encode: encode)
    try parser.run()
    return parser.parts
  }

  private init(
    text: [Unicode.Scalar], tokens: [PatternToken], options: PatternOptions,
    encode: @escaping Encode
  ) {
    self.text = text
    self.tokens = tokens
    self.options = options
    self.encode = encode
  }

  private mutating func run() throws(PatternError) {
    while index < tokens.count {
      let char = consume(.char)
      let name = consume(.name)
      let wildcard = name == nil ? consume(.asterisk) : nil
      if let group = name ?? wildcard {
        var prefix = char.map(string) ?? ""
        if let char, options.prefix != text[char.value.lowerBound] {
          append(prefix, at: char.index)
          prefix = ""
        }
        try flush()
        try add(
          prefix: prefix, group: group, suffix: "", modifier: consumeModifier(), at: group.index)
        continue
      }
      if let fixed = char ?? consume(.escapedChar) {
        append(string(fixed), at: fixed.index)
        continue
      }
      if let open = consume(.open) {
        try parseGroup(open)
        continue
      }
      try flush()
      guard consume(.end) != nil else { throw unexpected() }
    }
  }

  /// `{prefix :name suffix}modifier`, after the opening brace.
  private mutating func parseGroup(_ open: PatternToken) throws(PatternError) {
    let prefix = consumeText()
    let name = consume(.name)
    let wildcard = name == nil ? consume(.asterisk) : nil
    let suffix = consumeText()
    guard consume(.close) != nil else {
      let here = tokens[index]
      switch here.kind {
      case .end: throw PatternError(.unclosedGroup, at: open.index)
      case .open: throw PatternError(.nestedGroup, at: here.index)
      case .name, .asterisk: throw PatternError(.crowdedGroup, at: here.index)
      default: throw unexpected()
      }
    }
    try add(
      prefix: prefix, group: name ?? wildcard, suffix: suffix, modifier: consumeModifier(),
      at: open.index)
  }

  private mutating func add(
    prefix: String, group: PatternToken?, suffix: String, modifier: PatternPart.Modifier,
    at offset: Int
  ) throws(PatternError) {
    guard let group else {
      if modifier == .once { return append(prefix, at: offset) }
      try flush()
      if prefix.isEmpty { return }
      let value = try encode(prefix, offset)
      parts.append(
        PatternPart(kind: .fixedText, value: value, modifier: modifier, offset: offset))
      return
    }
    try flush()
    let name: String
    if group.kind == .name {
      name = string(group)
    } else {
      name = String(nextNumber)
      nextNumber += 1
    }
    guard names.insert(name).inserted else {
      throw PatternError(.duplicateName(name), at: group.index)
    }
    parts.append(
      PatternPart(
        kind: group.kind == .name ? .segmentWildcard : .fullWildcard, modifier: modifier,
        name: name, prefix: prefix.isEmpty ? "" : try encode(prefix, offset),
        suffix: suffix.isEmpty ? "" : try encode(suffix, offset), offset: offset))
  }

  private mutating func append(_ fixed: String, at offset: Int) {
    if pending.isEmpty { pendingOffset = offset }
    pending += fixed
  }

  private mutating func flush() throws(PatternError) {
    if pending.isEmpty { return }
    let value = try encode(pending, pendingOffset)
    parts.append(PatternPart(kind: .fixedText, value: value, offset: pendingOffset))
    pending = ""
  }

  private mutating func consume(_ kind: PatternToken.Kind) -> PatternToken? {
    guard tokens[index].kind == kind else { return nil }
    defer { index += 1 }
    return tokens[index]
  }

  private mutating func consumeText() -> String {
    var result = ""
    while let token = consume(.char) ?? consume(.escapedChar) { result += string(token) }
    return result
  }

  private mutating func consumeModifier() -> PatternPart.Modifier {
    if let token = consume(.otherModifier) {
      return text[token.value.lowerBound] == "?" ? .optional : .oneOrMore
    }
    return consume(.asterisk) == nil ? .once : .zeroOrMore
  }

  private func string(_ token: PatternToken) -> String {
    var result = ""
    result.unicodeScalars.append(contentsOf: text[token.value])
    return result
  }

  /// What is wrong with the token at hand, which nothing in the grammar takes.
  private func unexpected() -> PatternError {
    let here = tokens[index]
    return switch here.kind {
    case .regexp: PatternError(.regexpGroup, at: here.index)
    case .close: PatternError(.unopenedGroup, at: here.index)
    case .otherModifier:
      PatternError(.misplacedModifier(Character(text[here.index])), at: here.index)
    default: PatternError(.component(string(here)), at: here.index)
    }
  }
}
