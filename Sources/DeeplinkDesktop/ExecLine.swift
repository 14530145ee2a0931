/// The value of the key `Exec` (Desktop Entry specification, "The Exec key").
public struct ExecLine: Hashable, Sendable {
  /// A word of the line, which becomes one argument, or `%i`, which becomes two or none.
  private enum Part: Hashable, Sendable {
    case word([Piece])
    /// `%i`: `--icon` and the icon's name.
    case icon
  }

  private enum Piece: Hashable, Sendable {
    case text(String)
    /// `%u` or `%U`: the URL.
    case url
    /// `%c`: the name.
    case name
    /// `%k`: where the entry is.
    case location
  }

  private let parts: [Part]

  /// Why a line cannot be used, as a sentence's end: "its Exec has an open quote".
  public struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
  }

  /// - Parameter text: The value with the escapes of strings undone.
  public init(_ text: String) throws(Invalid) {
    var parts: [Part] = []
    for (word, isQuoted) in try Self.words(text) {
      if word == "%i", !isQuoted {
        parts.append(.icon)
      } else {
        let pieces = isQuoted ? [.text(word)] : Self.pieces(of: word)
        if !pieces.isEmpty { parts.append(.word(pieces)) }
      }
    }
    self.parts = parts
    guard case .word(let first) = parts.first, case .text = first.first else {
      throw Invalid("its Exec names no program")
    }
  }

  /// Whether the program is given the URL at all.
  public var takesURL: Bool {
    parts.contains { if case .word(let pieces) = $0 { pieces.contains(.url) } else { false } }
  }

  /// The program and its arguments for one URL.
  public func arguments(
    url: String, icon: String?, name: String, location: String
  ) -> [String] {
    parts.flatMap { part -> [String] in
      switch part {
      case .icon: icon.map { $0.isEmpty ? [] : ["--icon", $0] } ?? []
      case .word(let pieces):
        [
          pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .url: url
            case .name: name
            case .location: location
            }
          }.joined()
        ]
      }
    }
  }

  /// Splits at blanks outside of double quotes; within them a backslash keeps `"`, `` ` ``, `$`, `\`.
  private static func words(_ text: String) throws(Invalid) -> [(String, isQuoted: Bool)] {
    var words: [(String, isQuoted: Bool)] = []
    var word = ""
    var (inWord, inQuotes, isQuoted, isEscaped) = (false, false, false, false)
    for character in text {
      if isEscaped {
        if !#""`$\"#.contains(character) { word.append("\\") }
        word.append(character)
        isEscaped = false
      } else if character == "\\", inQuotes {
        isEscaped = true
      } else if character == "\"" {
        inQuotes.toggle()
        (inWord, isQuoted) = (true, true)
      } else if !inQuotes, character == " " || character == "\t" || character == "\n" {
        if inWord { words.append((word, isQuoted)) }
        (word, inWord, isQuoted) = ("", false, false)
      } else {
        word.append(character)
        inWord = true
      }
    }
    guard !inQuotes else { throw Invalid("its Exec has an open quote") }
    if inWord { words.append((word, isQuoted)) }
    return words
  }

  /// Field codes of a word that was not quoted; codes of files, which a link is not, and those that
  /// the specification has given up are nothing.
  ///
  /// A word of such codes alone is no argument.
  private static func pieces(of word: String) -> [Piece] {
    guard word.contains("%") else { return [.text(word)] }
    var pieces: [Piece] = []
    var text = ""
    var isCode = false
    for character in word {
      guard isCode else {
        if character == "%" { isCode = true } else { text.append(character) }
        continue
      }
      isCode = false
      let piece: Piece? =
        switch character {
        case "u", "U": .url
        case "c": .name
        case "k": .location
        default: nil
        }
      if character == "%" { text.append("%") }
      guard let piece else { continue }
      if !text.isEmpty { pieces.append(.text(text)) }
      text = ""
      pieces.append(piece)
    }
    return text.isEmpty ? pieces : pieces + [.text(text)]
  }
}
