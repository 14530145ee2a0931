import DeeplinkBus
import DeeplinkWire

extension DeeplinkApp {
  /// A link that an app was handed.
  ///
  /// Its parameters are decoded and checked as the manifest declares them, with defaults filled in:
  /// one that is required or has a default is always there.
  public struct Link: Sendable, Hashable {
    /// How the link met the app.
    public enum Delivery: String, Sendable, Hashable {
      /// It started the app.
      case launch
      /// It found the app running.
      case running
    }

    /// The delivery; a second attempt has the same.
    public let id: UInt64
    /// In canonical form, always valid by RFC 3986.
    public let url: String
    /// As it was received.
    public let rawURL: String
    /// The name of the manifest's route that matched.
    public let route: String
    public let parameters: [String: Value]
    public let delivery: Delivery
    /// Who sent it, as far as that could be verified.
    public let source: String?
    /// For the toolkit, so that the app may come to the front.
    public let activationToken: String?
    /// The same for X11 (startup notification).
    public let startupID: String?
    /// 1, or 2 where the route is idempotent and the app went away with the first in its hands.
    public let attempt: Int
    /// How often deeplinkd itself had sent this link on.
    public let hops: Int

    init(_ request: HandlerRequest) {
      let context = request.context
      id = request.id
      url = request.url
      rawURL = context["raw-url"]?.string ?? request.url
      route = request.route
      parameters = request.parameters.compactMapValues(Value.init)
      delivery = context["delivery"]?.string.flatMap(Delivery.init) ?? .running
      source = context["source"]?.string
      activationToken = context["activation-token"]?.string
      startupID = context["desktop-startup-id"]?.string
      attempt = Int(context["attempt"]?.uint32 ?? 1)
      hops = Int(context["hops"]?.uint32 ?? 0)
    }
  }
}

extension DeeplinkApp.Link {
  /// The text of a parameter; throws where it is missing or has another type.
  ///
  /// One that may be missing is asked for as `parameters["album"]?.string`.
  public func string(_ name: String) throws(DeeplinkApp.Failure) -> String {
    try value(name, "text", \.string)
  }

  public func integer(_ name: String) throws(DeeplinkApp.Failure) -> Int {
    try value(name, "a whole number", \.integer)
  }

  public func number(_ name: String) throws(DeeplinkApp.Failure) -> Double {
    try value(name, "a number", \.number)
  }

  public func boolean(_ name: String) throws(DeeplinkApp.Failure) -> Bool {
    try value(name, "true or false", \.boolean)
  }

  public func array(_ name: String) throws(DeeplinkApp.Failure) -> [DeeplinkApp.Value] {
    try value(name, "a list", \.array)
  }

  /// The texts of a list.
  public func strings(_ name: String) throws(DeeplinkApp.Failure) -> [String] {
    try value(name, "a list of texts") { value in
      value.array.flatMap { elements in
        let strings = elements.compactMap(\.string)
        return strings.count == elements.count ? strings : nil
      }
    }
  }

  private func value<T>(
    _ name: String, _ expected: String, _ read: (DeeplinkApp.Value) -> T?
  ) throws(DeeplinkApp.Failure) -> T {
    guard let value = parameters[name] else { throw .missingParameter(name, route: route) }
    guard let result = read(value) else {
      throw .wrongType(parameter: name, expected: expected, found: value.kind)
    }
    return result
  }
}
