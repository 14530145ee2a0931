/// A JSON value whose strings are templates: one argument of a D-Bus call.
public indirect enum ValueTemplate: Sendable, Hashable {
  case literal(JSONValue)
  case text(Template)
  case array([ValueTemplate])
  case object([String: ValueTemplate])

  /// Reads a value, and reports each string that is no template.
  init(_ value: JSONValue, at path: String, in diagnostics: Diagnostics) {
    switch value {
    case .null, .boolean, .integer, .number: self = .literal(value)
    case .string(let text):
      do throws(Template.Invalid) {
        let template = try Template(text)
        self = template.literal.map { .literal(.string($0)) } ?? .text(template)
      } catch {
        diagnostics.error(path, error.reason, hint: error.hint)
        self = .literal(value)
      }
    case .array(let elements):
      self = .array(
        elements.enumerated().map { ValueTemplate($1, at: "\(path)[\($0)]", in: diagnostics) })
    case .object(let members):
      var templates: [String: ValueTemplate] = [:]
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        templates[key] = ValueTemplate(value, at: ObjectReader.path(path, key), in: diagnostics)
      }
      self = .object(templates)
    }
  }

  var names: [String] {
    switch self {
    case .literal: []
    case .text(let template): template.names
    case .array(let elements): elements.flatMap(\.names)
    case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.names)
    }
  }

  /// The value with each name replaced.
  ///
  /// A string that is nothing but a name keeps the type of what
  /// it stands for; `typed` gives it, or nil where there is no value.
  public func value(typed: (String) -> JSONValue?, text: (String) -> String) -> JSONValue {
    switch self {
    case .literal(let value): value
    case .text(let template):
      if let name = template.onlyName {
        typed(name) ?? .string(text(name))
      } else {
        .string(template.text(text))
      }
    case .array(let elements): .array(elements.map { $0.value(typed: typed, text: text) })
    case .object(let members):
      .object(members.mapValues { $0.value(typed: typed, text: text) })
    }
  }
}
