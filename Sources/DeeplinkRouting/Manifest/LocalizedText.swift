/// A name for people, in one language or several: `"Photos"` or `{"en": "Photos", "de": "Fotos"}`.
public struct LocalizedText: Sendable, Hashable {
  /// The text for every language that has none of its own: a plain text, `en`, or the first.
  public let standard: String
  /// By locale as desktop entries write it: `de`, `pt_BR`, `sr@latin`.
  public let translations: [String: String]

  public init(_ standard: String, translations: [String: String] = [:]) {
    self.standard = standard
    self.translations = translations
  }

  static let maximumLength = 200

  init?(_ value: JSONValue, at path: String, in diagnostics: Diagnostics) {
    if let text = value.string {
      guard Self.check(text, at: path, in: diagnostics) else { return nil }
      self.init(text)
      return
    }
    guard let members = value.object else {
      diagnostics.error(
        path, "expected a string, or an object of languages, found \(value.kind)")
      return nil
    }
    var texts: [String: String] = [:]
    for (locale, value) in members.sorted(by: { $0.key < $1.key }) {
      let place = ObjectReader.path(path, locale)
      guard Self.isLocale(locale) else {
        diagnostics.error(place, "'\(locale)' is no locale", hint: "such as de, pt_BR or sr@latin")
        continue
      }
      guard let text = value.string else {
        diagnostics.error(place, "expected a string, found \(value.kind)")
        continue
      }
      if Self.check(text, at: place, in: diagnostics) { texts[locale] = text }
    }
    guard let standard = texts["en"] ?? texts.min(by: { $0.key < $1.key })?.value else {
      if members.isEmpty { diagnostics.error(path, "has no language") }
      return nil
    }
    self.init(standard, translations: texts)
  }

  /// The text goes into desktop entries and notifications, one line each.
  private static func check(_ text: String, at path: String, in diagnostics: Diagnostics) -> Bool {
    if text.allSatisfy(\.isWhitespace) {
      diagnostics.error(path, "is empty")
    } else if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      diagnostics.error(path, "holds a control character")
    } else if text.unicodeScalars.count > maximumLength {
      diagnostics.error(path, "is longer than \(maximumLength) characters")
    } else {
      return true
    }
    return false
  }

  /// `lang_COUNTRY@MODIFIER` of the Desktop Entry Specification, without an encoding.
  private static func isLocale(_ text: String) -> Bool {
    let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let parts = halves[0].split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    func isWord(_ word: Substring, _ lengths: ClosedRange<Int>) -> Bool {
      lengths.contains(word.utf8.count)
        && word.utf8.allSatisfy {
          (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }
    return isWord(parts[0], 2...3) && parts.dropFirst().allSatisfy { isWord($0, 2...3) }
      && halves.dropFirst().allSatisfy { isWord($0, 1...16) }
  }
}
