extension Parameter {
  static let keys = [
    "type", "items", "format", "schemes", "enum", "minimum", "maximum", "minLength", "maxLength",
    "pattern", "default", "required", "sensitive", "multiline", "from",
  ]
  static let maximumNameLength = 100

  enum DeclaredPlace: String, CaseIterable { case query, fragment }

  /// A parameter as a manifest declares it; nil where that is no object.
  init?(name: String, _ value: JSONValue, at path: String, in diagnostics: Diagnostics) {
    guard let reader = ObjectReader(value, at: path, keys: Self.keys, in: diagnostics) else {
      return nil
    }
    if name.isEmpty || name.utf8.count > Self.maximumNameLength
      || name.unicodeScalars.contains(where: {
        $0.properties.generalCategory == .control || "{}".unicodeScalars.contains($0)
      })
    {
      diagnostics.error(
        path,
        "a parameter's name has 1 to \(Self.maximumNameLength) bytes, and neither braces "
          + "nor control characters")
    }
    let rule = ValueRule(reader, isItem: false)
    let sensitive = reader.boolean("sensitive")
    if sensitive == false, SensitiveNames.contains(name) {
      reader.warning(
        "sensitive", "'\(name)' is the name of a secret and stays sensitive",
        hint: "choose another name if it is none")
    }
    let isRequired = reader.boolean("required") ?? false
    var standard: ParameterValue?
    if let value = reader.members["default"] {
      if let typed = rule.typed(value, at: reader.path(of: "default"), in: diagnostics) {
        standard = typed
      }
      if isRequired {
        reader.warning("default", "a required parameter never takes its default")
      }
    }
    self.init(
      name: name, rule: rule,
      place: reader.word("from", DeclaredPlace.self) == .fragment ? .fragment : .query,
      isRequired: isRequired, isSensitive: sensitive ?? false, standard: standard)
  }
}

extension ValueRule {
  static let itemKeys = [
    "type", "format", "schemes", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern",
    "multiline",
  ]
  static let types = ["string", "integer", "number", "boolean", "array"]

  /// Reads the words that speak of the value; every word must fit the type.
  init(_ reader: ObjectReader, isItem: Bool) {
    self.init(.string)
    readType(reader, isItem: isItem)
    readStringWords(reader)
    readBounds(reader)
    if let members = reader.members["enum"] {
      let path = reader.path(of: "enum")
      if let elements = members.array, !elements.isEmpty {
        let plain = self
        allowed = elements.enumerated().compactMap { index, element in
          plain.typed(element, at: "\(path)[\(index)]", in: reader.diagnostics)
        }
      } else {
        reader.error("enum", "expected a list of at least one value")
      }
    }
  }

  private mutating func readType(_ reader: ObjectReader, isItem: Bool) {
    let path = reader.path(of: "type")
    var words: [String] = []
    switch reader.members["type"] {
    case nil: words = ["string"]
    case .string(let word)?: words = [word]
    case .array(let elements)?: words = elements.map { $0.string ?? $0.kind }
    case let other?:
      reader.diagnostics.error(path, "expected a type or a list of types, found \(other.kind)")
      return
    }
    let others = words.filter { $0 != "null" }
    allowsNull = others.count < words.count
    guard others.count == 1, words.count <= 2, let word = others.first else {
      reader.diagnostics.error(path, "expected one type, or one and \"null\"")
      return
    }
    switch word {
    case "string": kind = .string
    case "integer": kind = .integer
    case "number": kind = .number
    case "boolean": kind = .boolean
    case "array" where !isItem:
      var items = ValueRule(.string)
      if let value = reader.members["items"],
        let inner = ObjectReader(
          value, at: reader.path(of: "items"), keys: Self.itemKeys, in: reader.diagnostics)
      {
        items = ValueRule(inner, isItem: true)
        if items.allowsNull { inner.error("type", "an element can not be null") }
      }
      kind = .array(of: items)
    default:
      let known = isItem ? Self.types.filter { $0 != "array" } : Self.types
      reader.diagnostics.error(
        path, "'\(word)' is no type\(isItem ? " of an element" : "")",
        hint: Suggestion.hint(for: word, among: known))
    }
    if !isItem, reader.has("items"), !isArray {
      reader.error("items", "only an array has items")
    }
  }

  private mutating func readStringWords(_ reader: ObjectReader) {
    if kind != .string {
      for key in ["format", "schemes", "minLength", "maxLength", "pattern", "multiline"]
      where reader.has(key) {
        reader.error(
          key, "'\(key)' is for strings", hint: isArray ? "put it into \"items\"" : nil)
      }
      return
    }
    format = reader.word("format", ValueFormat.self)
    allowsLines = reader.boolean("multiline") ?? false
    let lengths: ClosedRange<Int64> = 0...65_536
    minLength = reader.integer("minLength", in: lengths).map(Int.init)
    maxLength = reader.integer("maxLength", in: lengths).map(Int.init)
    if let minLength, let maxLength, minLength > maxLength {
      reader.error("minLength", "is more than maxLength")
    }
    if let text = reader.string("pattern") {
      do throws(RegularExpression.Invalid) { pattern = try RegularExpression(text) } catch {
        reader.error("pattern", error.reason, hint: "the syntax is RE2's")
      }
    }
    readSchemes(reader)
  }

  private mutating func readSchemes(_ reader: ObjectReader) {
    if reader.has("schemes"), format != .uri {
      reader.error("schemes", "'schemes' belongs to \"format\": \"uri\"")
    }
    if let list = reader.strings("schemes") {
      if list.isEmpty { reader.error("schemes", "names no scheme") }
      schemes = list.map { $0.lowercased() }
    } else if format == .uri, !reader.has("schemes") {
      reader.warning(
        "format", "a URL of any scheme is let pass",
        hint: "name those that are meant: \"schemes\": [\"https\"]")
    }
  }

  private mutating func readBounds(_ reader: ObjectReader) {
    for (key, property) in [("minimum", \ValueRule.minimum), ("maximum", \ValueRule.maximum)] {
      guard let value = reader.members[key] else { continue }
      guard kind == .integer || kind == .number else {
        reader.error(key, "'\(key)' is for numbers")
        continue
      }
      switch value {
      case .integer(let bound): self[keyPath: property] = .integer(bound)
      case .number(let bound): self[keyPath: property] = .number(bound)
      default: reader.error(key, "expected a number, found \(value.kind)")
      }
    }
    if let minimum, let maximum, ParameterValue.isLess(maximum, minimum) {
      reader.error("minimum", "is more than maximum")
    }
  }

  /// A value that the manifest gives as JSON, held against the rule: a default, a word of an enum.
  func typed(
    _ value: JSONValue, at path: String, in diagnostics: Diagnostics
  ) -> ParameterValue? {
    if value == .null, allowsNull { return .null }
    let typed: ParameterValue?
    switch kind {
    case .string: typed = value.string.map(ParameterValue.string)
    case .integer: typed = value.integer.map(ParameterValue.integer)
    case .number: typed = value.number.map(ParameterValue.number)
    case .boolean: typed = value.boolean.map(ParameterValue.boolean)
    case .array(let items):
      typed = value.array.map { elements in
        .array(
          elements.enumerated().compactMap {
            items.typed($1, at: "\(path)[\($0)]", in: diagnostics)
          })
      }
    }
    guard let typed else {
      diagnostics.error(path, "is \(value.kind), which the type is not")
      return nil
    }
    do throws(Violation) {
      if case .string(let text) = typed { _ = try self.value(of: text) } else { try check(typed) }
      return typed
    } catch {
      diagnostics.error(path, error.text)
      return nil
    }
  }
}
