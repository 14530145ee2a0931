import DeeplinkBus

extension DeeplinkApp {
  /// What can go wrong, as facts; `description` is one sentence for people.
  public enum Failure: Error, Sendable, Hashable {
    /// Not a name in reverse DNS such as `com.example.Photos`.
    case invalidID(String)
    /// There is no session bus to be reached; its own words.
    case noSession(String)
    /// Another instance of the app takes its links. It is running: leave the work to it.
    case alreadyRunning(id: String)
    /// `stop()` was called, or the session has ended.
    case ended
    /// The link was turned away and nothing was done with it: deeplinkd's code and sentence.
    case refused(code: String, String)
    /// deeplinkd is not installed, cannot be started, or gave no answer; what is known.
    case unavailable(String)
    case missingParameter(String, route: String)
    case wrongType(parameter: String, expected: String, found: String)
  }
}

extension DeeplinkApp.Failure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidID(let id): "'\(id)' is no name of an app such as com.example.Photos"
    case .noSession(let words): "there is no session bus: \(words)"
    case .alreadyRunning(let id): "\(id) is already running"
    case .ended: "the connection to the session has ended"
    case .refused(_, let sentence): sentence
    case .unavailable(let words): "deeplinkd cannot be reached: \(words)"
    case .missingParameter(let name, let route):
      "the link to '\(route)' has no parameter '\(name)'"
    case .wrongType(let name, let expected, let found):
      "the parameter '\(name)' is \(found), not \(expected)"
    }
  }
}

extension DeeplinkApp.Failure {
  /// A failed call of the daemon, or of the bus itself.
  init(_ error: BusError) {
    switch error {
    case .cannotConnect(_, _, let message): self = .noSession(message)
    case .disconnected: self = .ended
    case .remote(let name, let message):
      let prefix = "org.deeplinkd.Error."
      self =
        name.text.hasPrefix(prefix)
        ? .refused(code: String(name.text.dropFirst(prefix.count)), message)
        : .unavailable(message)
    case .noReply(let limit): self = .unavailable("there was no answer in \(limit)")
    case .invalidName(let kind, let text): self = .unavailable("'\(text)' is no \(kind)")
    case .invalidValue(let what): self = .refused(code: "ControlCharacter", "\(what) is no link")
    case .unexpectedReply, .tooLarge: self = .unavailable("its answer cannot be read")
    case .outOfMemory: self = .unavailable("there is no memory left")
    }
  }
}
