/// A text with `{name}` in it, taken apart once when the manifest is read.
///
/// `{{` and `}}` are braces. What is put in is never looked at again: a value that reads `{url}`
/// stays that text. A command is a list of templates, one for each argument, so a value can not add
/// one either.
public struct Template: Sendable, Hashable {
  public enum Piece: Sendable, Hashable {
    case text(String)
    case name(String)
  }

  public struct Invalid: Error, Sendable, Hashable {
    public var reason: String
    public var hint: String?
  }

  /// Neighbouring texts are one piece, and no text is empty.
  public let pieces: [Piece]

  public init(_ source: String) throws(Invalid) {
    var pieces: [Piece] = []
    var text = ""
    var rest = Substring(source)
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        text.append(character)
        rest.removeFirst()
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw Invalid(reason: "a '{' without its '}'", hint: "'{{' stands for a brace")
        }
        let name = String(rest[..<end])
        guard !name.isEmpty, !name.contains("{") else {
          throw Invalid(reason: "'{\(name)}' names nothing", hint: "'{{' stands for a brace")
        }
        if !text.isEmpty { pieces.append(.text(text)) }
        text = ""
        pieces.append(.name(name))
        rest = rest[rest.index(after: end)...]
      case "}": throw Invalid(reason: "a '}' without its '{'", hint: "'}}' stands for a brace")
      default: text.append(character)
      }
    }
    if !text.isEmpty { pieces.append(.text(text)) }
    self.pieces = pieces
  }

  public var names: [String] {
    pieces.compactMap { if case .name(let name) = $0 { name } else { nil } }
  }

  /// The text of a template without names; nil where it has one.
  public var literal: String? {
    switch pieces.count {
    case 0: return ""
    case 1:
      if case .text(let text) = pieces[0] { return text }
      return nil
    default: return nil
    }
  }

  /// The name of a template that is nothing but one name.
  public var onlyName: String? {
    if pieces.count == 1, case .name(let name) = pieces[0] { name } else { nil }
  }

  /// The text with each name replaced by what `value` gives for it.
  public func text(_ value: (String) -> String) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .name(let name): value(name)
      }
    }.joined()
  }

  /// The words that stand for the delivery's own facts, where no parameter has the name.
  ///
  /// Parameters come first because `id`, `url` and `source` are among the most usual names of
  /// parameters: whoever writes `/item/:id` means that one by `{id}`.
  public static let facts = ["url", "rawURL", "id", "source", "delivery"]
}
