/// One thing that is wrong, or unwise, in a file that the project reads.
///
/// `check` prints all of a file's diagnostics, not the first: a manifest is mended in one go.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
  public enum Severity: String, Sendable, Hashable {
    /// The file is not used.
    case error
    /// The file is used, and its author should know.
    case warning
  }

  public var severity: Severity
  public var file: String
  /// The place inside the document, `$.routes[1].match`; `$` for the document itself.
  public var path: String
  /// A lower-case sentence that says what is wrong there.
  public var reason: String
  public var hint: String?

  public init(
    _ severity: Severity, file: String, path: String = "$", reason: String, hint: String? = nil
  ) {
    self.severity = severity
    self.file = file
    self.path = path
    self.reason = reason
    self.hint = hint
  }

  /// `FILE: $.routes[1].match: REASON`, and the hint on a line of its own.
  public var description: String {
    let place = path == "$" ? file : "\(file): \(path)"
    let sentence = "\(place): \(severity == .warning ? "warning: " : "")\(reason)"
    // A manifest that is only looked at is foreign text, and so is what is quoted of it.
    return ([sentence] + (hint.map { ["hint: \($0)"] } ?? [])).map(JSONValue.visible)
      .joined(separator: "\n")
  }

  public var json: JSONValue {
    [
      "severity": .string(severity.rawValue), "file": .string(file), "path": .string(path),
      "reason": .string(reason), "hint": JSONValue(hint),
    ]
  }
}

/// Collects what is found while one file is read.
package final class Diagnostics {
  private let file: String
  package private(set) var list: [Diagnostic] = []

  package init(file: String) { self.file = file }

  package var hasErrors: Bool { list.contains { $0.severity == .error } }

  package func error(_ path: String, _ reason: String, hint: String? = nil) {
    list.append(Diagnostic(.error, file: file, path: path, reason: reason, hint: hint))
  }

  package func warning(_ path: String, _ reason: String, hint: String? = nil) {
    list.append(Diagnostic(.warning, file: file, path: path, reason: reason, hint: hint))
  }
}
