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
  /// Takes back a link of the sender's own that is not handed over yet.
  func cancel(_ id: UInt64, from sender: UniqueName?) throws(DispatcherError)

  func registerScene(
    _ path: ObjectPath, routes: [String], plugin: String, from sender: UniqueName?
  ) async throws(DispatcherError)
  func activateScene(_ path: ObjectPath, from sender: UniqueName?) throws(DispatcherError)
  func unregisterScene(_ path: ObjectPath, from sender: UniqueName?) throws(DispatcherError)

  // Not for sandboxed callers.
  func listPlugins(for sender: UniqueName?) async throws(DispatcherError) -> String
  func history(
    _ filter: [String: Value], for sender: UniqueName?
  ) async throws(DispatcherError) -> String
  /// From now on the sender is told of every delivery's states.
  func follow(from sender: UniqueName?) async throws(DispatcherError)
  func reload(from sender: UniqueName?) async throws(DispatcherError)

  var schemes: [String] { get }
  var pendingCount: UInt32 { get }
  var isDurable: Bool { get }
  var statistics: [String: UInt64] { get }
}

/// A refusal as it goes over the bus.
public struct DispatcherError: Error, Hashable, Sendable {
  /// In CamelCase: the last part of the error's name; or the whole of a standard error's name.
  public var code: String
  public var message: String

  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  public static func accessDenied(_ message: String) -> DispatcherError {
    DispatcherError(code: ErrorName.accessDenied.text, message: message)
  }

  public static func invalidArguments(_ message: String) -> DispatcherError {
    DispatcherError(code: ErrorName.invalidArgs.text, message: message)
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
          // Every part of a text is explained, so a very long one would hold up everybody's links.
          guard url.utf8.count <= 1 << 20 else {
            return call.fail(.limitsExceeded, "a text of more than 1 MiB is not explained")
          }
          call.reply(.string(service.explain(url)))
        },
        Method(
          MemberName(Contract.Dispatcher.canOpen), in: [Argument("url", "s")],
          out: [Argument("can_open", "b")]
        ) { [unowned service] call in
          call.reply(.boolean(service.canOpen(call.arguments[0].string ?? "")))
        },
        Method(MemberName(Contract.Dispatcher.cancel), in: [Argument("id", "t")]) {
          [unowned service] call in
          call.answer { () throws(DispatcherError) in
            try service.cancel(call.arguments[0].uint64 ?? 0, from: call.sender)
          }
        },
      ] + sceneMethods(service) + ownMethods(service),
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

extension Interface {
  @LoopActor private static func sceneMethods(_ service: any Dispatcher) -> [Method] {
    [
      Method(
        MemberName(Contract.Dispatcher.registerScene),
        in: [Argument("plugin", "s"), Argument("path", "o"), Argument("routes", "as")]
      ) { [unowned service] call in
        guard case .objectPath(let path) = call.arguments[1] else { return }
        let plugin = call.arguments[0].string ?? ""
        let routes = call.arguments[2].strings ?? []
        Task {
          await call.answer { () async throws(DispatcherError) in
            try await service.registerScene(
              path, routes: routes, plugin: plugin, from: call.sender)
          }
        }
      },
      Method(MemberName(Contract.Dispatcher.activateScene), in: [Argument("path", "o")]) {
        [unowned service] call in
        call.answer { () throws(DispatcherError) in
          guard case .objectPath(let path) = call.arguments[0] else { return }
          try service.activateScene(path, from: call.sender)
        }
      },
      Method(MemberName(Contract.Dispatcher.unregisterScene), in: [Argument("path", "o")]) {
        [unowned service] call in
        call.answer { () throws(DispatcherError) in
          guard case .objectPath(let path) = call.arguments[0] else { return }
          try service.unregisterScene(path, from: call.sender)
        }
      },
    ]
  }

  /// What is not for sandboxed callers.
  @LoopActor private static func ownMethods(_ service: any Dispatcher) -> [Method] {
    [
      Method(MemberName(Contract.Dispatcher.listPlugins), out: [Argument("json", "s")]) {
        [unowned service] call in
        Task {
          await call.answerText { () async throws(DispatcherError) in
            try await service.listPlugins(for: call.sender)
          }
        }
      },
      Method(
        MemberName(Contract.Dispatcher.history), in: [Argument("filter", "a{sv}")],
        out: [Argument("json", "s")]
      ) { [unowned service] call in
        let filter = call.arguments[0].options ?? [:]
        Task {
          await call.answerText { () async throws(DispatcherError) in
            try await service.history(filter, for: call.sender)
          }
        }
      },
      Method(MemberName(Contract.Dispatcher.follow)) { [unowned service] call in
        Task {
          await call.answer { () async throws(DispatcherError) in
            try await service.follow(from: call.sender)
          }
        }
      },
      Method(MemberName(Contract.Dispatcher.reload)) { [unowned service] call in
        Task {
          await call.answer { () async throws(DispatcherError) in
            try await service.reload(from: call.sender)
          }
        }
      },
    ]
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
    let name = error.code.contains(".") ? error.code : Contract.errorPrefix.text + error.code
    fail(ErrorName(unchecked: name), error.message)
  }

  func answer(_ body: () throws(DispatcherError) -> Void) {
    do throws(DispatcherError) {
      try body()
      reply()
    } catch {
      refuse(error)
    }
  }

  func answer(_ body: @LoopActor () async throws(DispatcherError) -> Void) async {
    do throws(DispatcherError) {
      try await body()
      reply()
    } catch {
      refuse(error)
    }
  }

  func answerText(_ body: @LoopActor () async throws(DispatcherError) -> String) async {
    do throws(DispatcherError) {
      reply(.string(try await body()))
    } catch {
      refuse(error)
    }
  }
}
