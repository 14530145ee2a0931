/// A link that is turned away at admission: a code for programs, a sentence for people.
///
/// The texts never hold anything of the link but its scheme and names of parameters, so that
/// they can be logged and shown.
public struct Refusal: Error, Hashable, Sendable {
  public let code: Code
  /// One plain sentence in lower case, without a full stop.
  public let message: String
  /// What can be done about it.
  public let hint: String?

  public init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// The reasons, in the order in which they are looked for.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    case empty
    case tooLong = "too-long"
    case notUTF8 = "not-utf8"
    case controlCharacter = "control-character"
    case notAbsolute = "not-absolute"
    case malformed
    case schemeNotRegistered = "scheme-not-registered"
    case rateLimited = "rate-limited"
    case loop
    case credentials
    case noRoute = "no-route"
    case parameter
    case queueFull = "queue-full"

    /// The last part of the D-Bus error's name: `TooLong` for `too-long`.
    public var errorName: String {
      rawValue.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
  }
}

extension Refusal: CustomStringConvertible {
  public var description: String { hint.map { "\(message) (\($0))" } ?? message }
}
