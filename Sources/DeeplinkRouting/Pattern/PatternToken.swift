/// One lexical piece of a pattern string (URLPattern Standard, section 2.1.1, "tokens").
struct PatternToken {
  enum Kind {
    case open, close, regexp, name, char, escapedChar, otherModifier, asterisk, end, invalidChar
  }

  let kind: Kind
  /// Where the token starts, and where its value lies, in the pattern's scalars.
  let index: Int
  let value: Range<Int>
}

/// How tokenizing treats what is no token: strict throws, lenient leaves an `invalidChar`.
enum TokenizePolicy {
  case strict, lenient
}

extension PatternToken {
  /// Splits a pattern string into tokens, the last of which is `end`.
  ///
  /// Implements "tokenize" of the URLPattern Standard, section 2.1.2, but for regular expressions:
  /// an opening parenthesis alone is the `regexp` token, since no pattern that has one is accepted.
  static func tokenize(
    _ text: [Unicode.Scalar], _ policy: TokenizePolicy
  ) throws(PatternError) -> [PatternToken] {
    var tokens: [PatternToken] = []
    tokens.reserveCapacity(text.count + 1)
    var index = 0

    func fail(_ reason: PatternError.Reason, _ value: Range<Int>) throws(PatternError) {
      if policy == .strict { throw PatternError(reason, at: index) }
      tokens.append(PatternToken(kind: .invalidChar, index: index, value: value))
    }

    while index < text.count {
      var next = index + 1
      let kind: Kind
      switch text[index] {
      case "*": kind = .asterisk
      case "+", "?": kind = .otherModifier
      case "{": kind = .open
      case "}": kind = .close
      case "(": kind = .regexp
      case "\\":
        if next == text.count {
          try fail(.loneBackslash, index..<next)
        } else {
          tokens.append(PatternToken(kind: .escapedChar, index: index, value: next..<next + 1))
          next += 1
        }
        index = next
        continue
      case ":":
        while next < text.count, isNameScalar(text[next], first: next == index + 1) { next += 1 }
        if next == index + 1 {
          try fail(.missingName, index..<next)
        } else {
          tokens.append(PatternToken(kind: .name, index: index, value: index + 1..<next))
        }
        index = next
        continue
      default: kind = .char
      }
      tokens.append(PatternToken(kind: kind, index: index, value: index..<next))
      index = next
    }
    tokens.append(PatternToken(kind: .end, index: index, value: index..<index))
    return tokens
  }

  /// Whether a scalar may stand in a name: ECMAScript's IdentifierStart or IdentifierPart.
  static func isNameScalar(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "$", "_": true
    case "0"..."9", "\u{200C}", "\u{200D}": !first
    default:
      !scalar.isASCII
        && (first ? scalar.properties.isIDStart : scalar.properties.isIDContinue)
    }
  }
}
