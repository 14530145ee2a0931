/// Reads the members of one JSON object and reports everything that is wrong with them.
///
/// Every reading function gives nil both for a member that is absent and for one that is wrong; the
/// wrong one has been reported by then, so that reading goes on and finds the next mistake.
package struct ObjectReader {
  package let members: [String: JSONValue]
  package let path: String
  package let diagnostics: Diagnostics

  /// Nil, and a diagnostic, where the value is no object.
  ///
  /// Keys that are not in `keys` are errors:
  /// a misspelt `"requierd"` must not pass as an optional parameter.
  package init?(_ value: JSONValue, at path: String, keys: [String], in diagnostics: Diagnostics) {
    guard let members = value.object else {
      diagnostics.error(path, "expected an object, found \(value.kind)")
      return nil
    }
    self.members = members
    self.path = path
    self.diagnostics = diagnostics
    // Editors use "$schema" to find the schema; it says nothing to us.
    let known = path == "$" ? keys + ["$schema"] : keys
    for key in members.keys.sorted() where !known.contains(key) {
      diagnostics.error(
        self.path(of: key), "unknown key '\(key)'", hint: Suggestion.hint(for: key, among: keys))
    }
  }

  /// `$.routes[1].match`, with brackets for a key that is no plain name.
  package func path(of key: String) -> String { ObjectReader.path(path, key) }

  package static func path(_ parent: String, _ key: String) -> String {
    let plain = key.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
    return plain && !key.isEmpty
      ? "\(parent).\(key)" : "\(parent)[\(JSONValue.string(key).description)]"
  }

  package func has(_ key: String) -> Bool { members[key] != nil }

  package func error(_ key: String, _ reason: String, hint: String? = nil) {
    diagnostics.error(path(of: key), reason, hint: hint)
  }

  package func warning(_ key: String, _ reason: String, hint: String? = nil) {
    diagnostics.warning(path(of: key), reason, hint: hint)
  }

  /// The member, or a diagnostic on the object that lacks it.
  package func required(_ key: String) -> JSONValue? {
    if let value = members[key] { return value }
    diagnostics.error(path, "'\(key)' is missing")
    return nil
  }

  package func string(_ key: String, required isRequired: Bool = false) -> String? {
    read(key, required: isRequired, as: "a string", \.string)
  }

  package func boolean(_ key: String) -> Bool? { read(key, as: "true or false", \.boolean) }

  package func integer(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let value = read(key, as: "a whole number", \.integer) else { return nil }
    guard range.contains(value) else {
      error(key, "must be from \(range.lowerBound) to \(range.upperBound), is \(value)")
      return nil
    }
    return value
  }

  /// A number of seconds, above 0 and at most a day.
  package func seconds(_ key: String) -> Duration? {
    guard let value = read(key, as: "a number of seconds", \.number) else { return nil }
    guard value > 0, value <= 86_400 else {
      error(key, "must be more than 0 and at most 86400 seconds")
      return nil
    }
    return .milliseconds(Int64((value * 1000).rounded(.up)))
  }

  /// The strings of a list, those that are strings; nil where there is no list.
  package func strings(_ key: String, required isRequired: Bool = false) -> [String]? {
    read(key, required: isRequired, as: "a list of strings", \.array)?.enumerated().compactMap {
      index, element in
      if let text = element.string { return text }
      diagnostics.error(
        "\(path(of: key))[\(index)]", "expected a string, found \(element.kind)")
      return nil
    }
  }

  /// One of the words of an enumeration.
  package func word<Word: RawRepresentable<String> & CaseIterable>(_ key: String, _: Word.Type)
    -> Word?
  {
    guard let text = string(key) else { return nil }
    if let word = Word(rawValue: text) { return word }
    let words = Word.allCases.map(\.rawValue)
    error(key, "'\(text)' is none of its words", hint: Suggestion.hint(for: text, among: words))
    return nil
  }

  private func read<Value>(
    _ key: String, required isRequired: Bool = false, as kind: String,
    _ convert: (JSONValue) -> Value?
  ) -> Value? {
    guard let value = isRequired ? required(key) : members[key] else { return nil }
    if let converted = convert(value) { return converted }
    error(key, "expected \(kind), found \(value.kind)")
    return nil
  }
}
