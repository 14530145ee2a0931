import DeeplinkBus
import DeeplinkContract

/// The options of `Open` and `Submit`: typed, and unknown ones ignored.
public struct LinkOptions: Hashable, Sendable {
  /// A token of the xdg-activation protocol, with which an app may come to the front.
  public var activationToken: String?
  /// The same for X11 (startup notification).
  public var startupID: String?
  public var parentWindow: String?
  /// How long `Open` waits for the outcome.
  public var timeout: Duration?
  /// Names the request: a second one of the same name attaches to the first's delivery.
  public var request: String?
  /// The session's variables that launches use.
  public var environment: [String: String] = [:]
  /// Whether a person waits at a terminal.
  public var isInteractive = false
  /// Whether the result is wanted by way of an x-callback-url.
  public var wantsCallback = false

  public init() {}

  /// Throws a sentence when a known option has another type than the contract gives it.
  public init(_ values: [String: Value]) throws(OptionError) {
    for (key, value) in values {
      switch key {
      case Contract.Option.activationToken.text: activationToken = try text(key, value)
      case Contract.Option.startupID.text: startupID = try text(key, value)
      case Contract.Option.parentWindow.text: parentWindow = try text(key, value)
      case Contract.Option.request.text: request = try text(key, value)
      case Contract.Option.timeout.text:
        guard let number = value.uint32 else { throw OptionError(key, "u", value) }
        timeout = .milliseconds(Int64(number))
      case Contract.Option.environment.text:
        guard let pairs = value.stringPairs else { throw OptionError(key, "a{ss}", value) }
        environment = pairs.filter { Self.environmentNames.contains($0.key) }
        // A longer one would make every program that is started with it fail (execve(2), E2BIG).
        guard environment.values.allSatisfy({ $0.utf8.count <= Self.maximumLength }) else {
          throw OptionError(tooLong: key)
        }
      case Contract.Option.interactive.text: isInteractive = try boolean(key, value)
      case Contract.Option.callback.text: wantsCallback = try boolean(key, value)
      default: break
      }
    }
  }

  /// The variables that a sender may set for what its link launches; others are ignored.
  public static let environmentNames: Set<String> = [
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "LANG",
  ]

  /// An option longer than this has no use, and would be kept with its delivery.
  static let maximumLength = 4096

  /// For a client's call.
  public var value: Value {
    var members: [String: Value] = [:]
    members[Contract.Option.activationToken.text] = activationToken.map { .string($0) }
    members[Contract.Option.startupID.text] = startupID.map { .string($0) }
    members[Contract.Option.parentWindow.text] = parentWindow.map { .string($0) }
    members[Contract.Option.request.text] = request.map { .string($0) }
    members[Contract.Option.timeout.text] = timeout.map {
      .uint32(UInt32(clamping: $0 / .milliseconds(1)))
    }
    if !environment.isEmpty {
      members[Contract.Option.environment.text] = .dictionary(
        key: "s", value: "s",
        environment.sorted { $0.key < $1.key }.map { .init(.string($0.key), .string($0.value)) })
    }
    if isInteractive { members[Contract.Option.interactive.text] = .boolean(true) }
    if wantsCallback { members[Contract.Option.callback.text] = .boolean(true) }
    return .options(members)
  }
}

extension Duration {
  /// How often `unit` goes into this, rounded down; 0 for negative ones.
  fileprivate static func / (duration: Duration, unit: Duration) -> Int64 {
    let nanoseconds = { (value: Duration) -> Int64 in
      value.components.seconds * 1_000_000_000 + value.components.attoseconds / 1_000_000_000
    }
    return max(0, nanoseconds(duration) / nanoseconds(unit))
  }
}

/// An option that the contract gives another type or length.
public struct OptionError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ key: String, _ expected: String, _ value: Value) {
    description = "option '\(key)' takes a value of type \(expected), not \(value.signature)"
  }

  init(tooLong key: String) {
    description = "option '\(key)' may have \(LinkOptions.maximumLength) bytes at most"
  }
}

private func text(_ key: String, _ value: Value) throws(OptionError) -> String? {
  guard let text = value.string else { throw OptionError(key, "s", value) }
  guard text.utf8.count <= LinkOptions.maximumLength else { throw OptionError(tooLong: key) }
  return text.isEmpty ? nil : text
}

private func boolean(_ key: String, _ value: Value) throws(OptionError) -> Bool {
  guard let boolean = value.boolean else { throw OptionError(key, "b", value) }
  return boolean
}
