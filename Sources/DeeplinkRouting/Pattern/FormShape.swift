/// What a form matches, names aside: two forms with equal shapes fit the same URLs.
public struct FormShape: Hashable, Sendable {
  /// What a shape is made of.
  enum Atom: Hashable, Sendable {
    case literal([UInt8])
    /// A name: characters of one segment.
    case name
    /// A name that repeats with this text between its segments.
    case names(separator: [UInt8])
    /// Fixed text, once or more.
    case repeated([UInt8])
    /// Any characters, or none.
    case wildcard
  }

  let kind: Form.Kind
  let host: [Atom]
  let port: [Atom]
  let path: [Atom]

  /// Whether an empty path and `/` are the paths: `//host`, and nothing after it.
  var takesEmptyOrRoot: Bool { kind == .authority && path.isEmpty }

  /// The atoms of parts that are not optional, with neighbouring literals joined.
  static func atoms(_ parts: [PatternPart]) -> [Atom] {
    var atoms: [Atom] = []
    func add(_ text: String) {
      if text.isEmpty { return }
      if case .literal(let bytes) = atoms.last {
        atoms[atoms.count - 1] = .literal(bytes + text.utf8)
      } else {
        atoms.append(.literal(Array(text.utf8)))
      }
    }
    for part in parts {
      let repeats = part.modifier == .oneOrMore || part.modifier == .zeroOrMore
      switch part.kind {
      case .fixedText where repeats:
        if !part.value.isEmpty { atoms.append(.repeated(Array(part.value.utf8))) }
      case .fixedText: add(part.value)
      case .fullWildcard, .segmentWildcard:
        add(part.prefix)
        let separator = part.suffix + part.prefix
        if part.kind == .fullWildcard {
          atoms.append(.wildcard)
        } else if repeats && !separator.isEmpty {
          atoms.append(.names(separator: Array(separator.utf8)))
        } else {
          atoms.append(.name)
        }
        add(part.suffix)
      }
    }
    return atoms
  }
}

/// How specific a form is: which of two that fit a URL is the better match.
///
/// Segments are ranked from the left: literal, literal with a name, name, `+`, `*`; a form that
/// goes on is more specific than one that ends. Then the longer literal text wins.
struct Specificity: Comparable, Hashable, Sendable {
  private enum Rank: UInt8 {
    case wildcard = 1
    case names, name, mixed, literal
  }

  private let ranks: [UInt8]
  private let literalLength: Int

  init(_ shape: FormShape) {
    var ranks: [UInt8] = []
    var length = 0
    func rank(_ atoms: [FormShape.Atom], delimiter: UInt8?, skipFirst: Bool = false) {
      var rank = Rank.literal
      var hasText = false
      var skip = skipFirst
      func end() {
        ranks.append((rank == .name && hasText ? .mixed : rank).rawValue)
        rank = .literal
        hasText = false
      }
      func weaken(to other: Rank) { rank = other.rawValue < rank.rawValue ? other : rank }
      func read(_ text: [UInt8], as textRank: Rank) {
        length += text.count
        for byte in text {
          if byte != delimiter {
            hasText = true
            weaken(to: textRank)
          } else if skip {
            skip = false
          } else {
            end()
          }
        }
        weaken(to: textRank)
      }
      for atom in atoms {
        switch atom {
        case .literal(let text): read(text, as: .literal)
        case .name: weaken(to: .name)
        case .names: weaken(to: .names)
        case .repeated(let text): read(text, as: .names)
        case .wildcard: weaken(to: .wildcard)
        }
      }
      end()
    }
    if shape.kind == .authority {
      rank(shape.host, delimiter: UInt8(ascii: "."))
      rank(shape.port, delimiter: nil)
    }
    // The slash that begins a path ends no segment.
    rank(shape.path, delimiter: UInt8(ascii: "/"), skipFirst: shape.kind != .opaque)
    self.ranks = ranks
    literalLength = length
  }

  static func < (left: Specificity, right: Specificity) -> Bool {
    if left.ranks != right.ranks { return left.ranks.lexicographicallyPrecedes(right.ranks) }
    return left.literalLength < right.literalLength
  }
}
