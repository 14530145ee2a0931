import DeeplinkBus
import DeeplinkContract
import DeeplinkLoop

/// What serves `org.deeplinkd.Dispatcher1`: typed requests in, answers by value.
@LoopActor public protocol Dispatcher: AnyObject {
  /// Accepts or refuses; `completion` runs once, when the outcome is known or `timeout` passed.
  func open(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor (Result<OpenReply, DispatcherError>) -> Void)
  /// Accepts or refuses; `completion` runs once, when the link is kept.
  func submit(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor (Result<SubmitReply, DispatcherError>) -> Void)
  func explain(_ url: String) -> String
  func canOpen(_ url: String) -> Bool

  var schemes: [String] { get }
  var pendingCount: UInt32 { get }
  var isDurable: Bool { get }
  var statistics: [String: UInt64] { get }
}

/// A refusal as it goes over the bus.
public struct DispatcherError: Error, Hashable, Sendable {
  /// In CamelCase: the last part of the error's name.
  public var code: String
  public var message: String

  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }
}

public struct OpenReply: Hashable, Sendable {
  public var id: UInt64
  /// Nil: not known in time; it stands as `pending` in the reply.
  public var outcome: DeliveryState?
  public var result: [String: Value]

  public init(id: UInt64, outcome: DeliveryState?, result: [String: Value]) {
    self.id = id
    self.outcome = outcome
    self.result = result
  }
}

public struct SubmitReply: Hashable, Sendable {
  public var id: UInt64
  public var facts: [String: Value]

  public init(id: UInt64, facts: [String: Value]) {
    self.id = id
    self.facts = facts
  }
}

extension Interface {
  /// `org.deeplinkd.Dispatcher1`, answered by `service`.
  @LoopActor public static func dispatcher(_ service: any Dispatcher) -> Interface {
    let link = [Argument("url", "s"), Argument("options", "a{sv}")]
    return Interface(
      .dispatcher,
      methods: [
        Method(
          MemberName(Contract.Dispatcher.open), in: link,
          out: [Argument("id", "t"), Argument("outcome", "s"), Argument("result", "a{sv}")]
        ) { [unowned service] call in
          guard let (url, options) = call.linkAndOptions() else { return }
          service.open(url, options, from: call.sender) { result in
            switch result {
            case .success(let reply):
              call.reply(
                .uint64(reply.id),
                .string(reply.outcome?.rawValue ?? Outcome.pending.text), .options(reply.result))
            case .failure(let error): call.refuse(error)
            }
          }
        },
        Method(
          MemberName(Contract.Dispatcher.submit), in: link,
          out: [Argument("id", "t"), Argument("facts", "a{sv}")]
        ) { [unowned service] call in
          guard let (url, options) = call.linkAndOptions() else { return }
          service.submit(url, options, from: call.sender) { result in
            switch result {
            case .success(let reply): call.reply(.uint64(reply.id), .options(reply.facts))
            case .failure(let error): call.refuse(error)
            }
          }
        },
        Method(MemberName(Contract.Dispatcher.explain), in: link, out: [Argument("json", "s")]) {
          [unowned service] call in
          guard let (url, _) = call.linkAndOptions() else { return }
          call.reply(.string(service.explain(url)))
        },
        Method(
          MemberName(Contract.Dispatcher.canOpen), in: [Argument("url", "s")],
          out: [Argument("can_open", "b")]
        ) { [unowned service] call in
          call.reply(.boolean(service.canOpen(call.arguments[0].string ?? "")))
        },
      ],
      signals: [
        SignalDeclaration(
          MemberName(Contract.Dispatcher.deliveryChanged),
          [Argument("id", "t"), Argument("state", "s"), Argument("facts", "a{sv}")])
      ],
      properties: [
        Property("Version", "s", change: .never) { .string(Contract.version.text) },
        Property("Schemes", "as") { [unowned service] in .strings(service.schemes) },
        Property("Pending", "u") { [unowned service] in .uint32(service.pendingCount) },
        Property("Durable", "b") { [unowned service] in .boolean(service.isDurable) },
        Property("Statistics", "a{st}") { [unowned service] in
          .dictionary(
            key: "s", value: "t",
            service.statistics.sorted { $0.key < $1.key }.map {
              .init(.string($0.key), .uint64($0.value))
            })
        },
      ])
  }
}

extension Signal {
  /// `DeliveryChanged` of the daemon's object.
  public static func deliveryChanged(
    _ id: UInt64, _ state: DeliveryState, _ facts: [String: Value]
  ) -> Signal {
    Signal(
      path: .deeplinkd, interface: .dispatcher,
      member: MemberName(Contract.Dispatcher.deliveryChanged),
      arguments: [.uint64(id), .string(state.rawValue), .options(facts)])
  }
}

extension IncomingCall {
  /// The arguments `s url, a{sv} options`; nil, and answered, where an option has a wrong type.
  func linkAndOptions() -> (String, LinkOptions)? {
    do throws(OptionError) {
      return (arguments[0].string ?? "", try LinkOptions(arguments[1].options ?? [:]))
    } catch {
      fail(.invalidArgs, error.description)
      return nil
    }
  }

  func refuse(_ error: DispatcherError) {
    fail(ErrorName(unchecked: Contract.errorPrefix.text + error.code), error.message)
  }
}
