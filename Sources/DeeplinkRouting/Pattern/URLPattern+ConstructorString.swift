extension URLPattern {
  /// Takes a pattern in the form of a URL apart: "parse a constructor string" of the URLPattern
  /// Standard, section 1.6.
  struct ConstructorString {
    private enum State: Int {
      case start, `protocol`, authority, username, password, hostname, port, pathname, search
      case hash, done
    }

    private let text: [Unicode.Scalar]
    private let tokens: [PatternToken]
    private var result = Components()
    private var componentStart = 0
    private var index = 0
    private var increment = 1
    private var groupDepth = 0
    private var bracketDepth = 0
    private var isSpecial = false
    private var state = State.start

    static func parse(_ text: String) throws(PatternError) -> Components {
      let scalars = Array(text.unicodeScalars)
      var parser = try ConstructorString(
        text: scalars, tokens: PatternToken.tokenize(scalars, .lenient))
      try parser.run()
      if parser.result.hostname != nil && parser.result.port == nil { parser.result.port = "" }
      return parser.result
    }

    private init(text: [Unicode.Scalar], tokens: [PatternToken]) {
      self.text = text
      self.tokens = tokens
    }

    private mutating func run() throws(PatternError) {
      while index < tokens.count {
        increment = 1
        switch tokens[index].kind {
        case .end:
          guard state == .start || state == .authority else {
            change(to: .done, skip: 0)
            return
          }
          if state == .start { startRelative() } else { rewind(to: .hostname) }
        case .open: groupDepth += 1
        case .close where groupDepth > 0: groupDepth -= 1
        default: if groupDepth == 0 { try step() }
        }
        index += increment
      }
    }

    /// Begins again where no scheme was found: with the hash, the search or the pathname.
    private mutating func startRelative() {
      rewind(to: .start)
      if isLiteral("#") {
        change(to: .hash, skip: 1)
      } else if isSearchPrefix {
        change(to: .search, skip: 1)
      } else {
        change(to: .pathname, skip: 0)
      }
    }

    private mutating func step() throws(PatternError) {
      switch state {
      case .start:
        if isLiteral(":") { rewind(to: .protocol) }
      case .protocol:
        if isLiteral(":") { try endProtocol() }
      case .authority:
        if isLiteral("@") {
          rewind(to: .username)
        } else if isLiteral("/") || isSearchPrefix || isLiteral("#") {
          rewind(to: .hostname)
        }
      case .username:
        if isLiteral(":") {
          change(to: .password, skip: 1)
        } else if isLiteral("@") {
          change(to: .hostname, skip: 1)
        }
      case .password:
        if isLiteral("@") { change(to: .hostname, skip: 1) }
      case .hostname:
        if isLiteral("[") {
          bracketDepth += 1
        } else if isLiteral("]") {
          bracketDepth -= 1
        } else if isLiteral(":") && bracketDepth == 0 {
          change(to: .port, skip: 1)
        } else {
          endAuthority()
        }
      case .port: endAuthority()
      case .pathname: endPathname()
      case .search:
        if isLiteral("#") { change(to: .hash, skip: 1) }
      case .hash, .done: break
      }
    }

    private mutating func endProtocol() throws(PatternError) {
      isSpecial =
        try Component(componentText, .plain, PatternEncoding.scheme).matchesSpecialScheme
      if isLiteral("/", after: 1) && isLiteral("/", after: 2) {
        change(to: .authority, skip: 3)
      } else {
        change(to: isSpecial ? .authority : .pathname, skip: 1)
      }
    }

    private mutating func endAuthority() {
      if isLiteral("/") { change(to: .pathname, skip: 0) } else { endPathname() }
    }

    private mutating func endPathname() {
      if isSearchPrefix {
        change(to: .search, skip: 1)
      } else if isLiteral("#") {
        change(to: .hash, skip: 1)
      }
    }

    private mutating func change(to next: State, skip: Int) {
      switch state {
      case .protocol: result.protocol = componentText
      case .username: result.username = componentText
      case .password: result.password = componentText
      case .hostname: result.hostname = componentText
      case .port: result.port = componentText
      case .pathname: result.pathname = componentText
      case .search: result.search = componentText
      case .hash: result.hash = componentText
      case .start, .authority, .done: break
      }
      if state != .start && next != .done {
        // What was stepped over is empty, not anything.
        let (from, to) = (state.rawValue, next.rawValue)
        if from <= State.password.rawValue, to >= State.port.rawValue {
          result.hostname = result.hostname ?? ""
        }
        if from <= State.port.rawValue, to >= State.search.rawValue {
          result.pathname = result.pathname ?? (isSpecial ? "/" : "")
        }
        if from <= State.pathname.rawValue, next == .hash {
          result.search = result.search ?? ""
        }
      }
      state = next
      index += skip
      componentStart = index
      increment = 0
    }

    private mutating func rewind(to next: State) {
      index = componentStart
      increment = 0
      state = next
    }

    private func token(_ index: Int) -> PatternToken { tokens[min(index, tokens.count - 1)] }

    /// "Is a non-special pattern char".
    private func isLiteral(_ scalar: Unicode.Scalar, after offset: Int = 0) -> Bool {
      let token = token(index + offset)
      switch token.kind {
      case .char, .escapedChar, .invalidChar: return text[token.value.lowerBound] == scalar
      default: return false
      }
    }

    private var isSearchPrefix: Bool {
      if isLiteral("?") { return true }
      guard token(index).kind == .otherModifier, text[token(index).index] == "?" else {
        return false
      }
      if index == 0 { return true }
      switch token(index - 1).kind {
      case .name, .regexp, .close, .asterisk: return false
      default: return true
      }
    }

    private var componentText: String {
      var result = ""
      result.unicodeScalars.append(
        contentsOf: text[token(componentStart).index..<token(index).index])
      return result
    }
  }
}
