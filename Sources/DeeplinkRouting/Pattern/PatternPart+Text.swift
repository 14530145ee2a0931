/// The pattern string that parses into some parts: what a URLPattern shows of its components.
extension PatternPart {
  /// Implements "generate a pattern string" of the URLPattern Standard, section 2.3.
  static func patternString(_ parts: [PatternPart], _ options: PatternOptions) -> String {
    var result = ""
    for (index, part) in parts.enumerated() {
      let previous = index > 0 ? parts[index - 1] : nil
      let next = index + 1 < parts.count ? parts[index + 1] : nil
      if part.kind == .fixedText {
        let text = escape(part.value)
        result += part.modifier == .once ? text : "{\(text)}\(part.modifier.sign)"
        continue
      }
      let grouped = part.needsGrouping(after: previous, before: next, options)
      result += grouped ? "{" : ""
      result += escape(part.prefix)
      if part.isNamed { result += ":" + part.name }
      if part.kind == .fullWildcard {
        let startsGroup =
          previous == nil || previous?.kind == .fixedText || previous?.modifier != .once
        result += startsGroup || grouped || !part.prefix.isEmpty ? "*" : "(.*)"
      } else if startsLikeName(part.suffix) {
        result += "\\"
      }
      result += escape(part.suffix)
      result += grouped ? "}" : ""
      result += part.modifier.sign
    }
    return result
  }

  /// "Escape a pattern string" of the URLPattern Standard: the text as a pattern that matches it.
  static func escape(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if "+*?:{}()\\".unicodeScalars.contains(scalar) { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  /// Whether the braces are needed lest the neighbours change what this group means.
  private func needsGrouping(
    after previous: PatternPart?, before next: PatternPart?, _ options: PatternOptions
  ) -> Bool {
    if !suffix.isEmpty { return true }
    if !prefix.isEmpty, prefix != options.prefix.map({ String($0) }) { return true }
    if isNamed, kind == .segmentWildcard, modifier == .once, let next,
      next.prefix.isEmpty, next.suffix.isEmpty
    {
      let merges =
        next.kind == .fixedText
        ? PatternPart.startsLikeName(next.value) : !next.isNamed
      if merges { return true }
    }
    return prefix.isEmpty && previous?.kind == .fixedText && options.prefix != nil
      && previous?.value.unicodeScalars.last == options.prefix
  }

  private static func startsLikeName(_ text: String) -> Bool {
    text.unicodeScalars.first.map { PatternToken.isNameScalar($0, first: false) } ?? false
  }
}

extension PatternPart.Modifier {
  fileprivate var sign: String {
    switch self {
    case .once: ""
    case .optional: "?"
    case .zeroOrMore: "*"
    case .oneOrMore: "+"
    }
  }
}
