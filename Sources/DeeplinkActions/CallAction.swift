import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// One D-Bus method; its values are the result.
public enum CallAction {
  @LoopActor public static func run(
    _ call: Action.Call, _ handover: Handover, on connection: Connection, limit: Duration,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    do throws(BusError) {
      let types = try SignatureType.all(of: Signature(call.signature))
      let values = call.values(handover.substitution)
      guard values.count == types.count else {
        throw .invalidValue("\(values.count) arguments for the signature '\(call.signature)'")
      }
      var arguments: [Value] = []
      for (value, type) in zip(values, types) { arguments.append(try type.value(of: value)) }
      let method = MethodCall(
        to: .wellKnown(try WellKnownName(call.busName)), path: try ObjectPath(call.path),
        interface: try InterfaceName(call.interface), member: try MemberName(call.member),
        arguments: arguments)
      connection.call(method, timeout: limit) { result in
        switch result {
        case .success(let values):
          let list = values.map { JSONValue(value: $0) ?? .null }
          completion(.handled(["values": .array(list)]))
        case .failure(.noReply): completion(.failed(.limit, "it did not answer in time"))
        case .failure(.disconnected): completion(.interrupted)
        case .failure(let error): completion(.failed(.error, error.sentence))
        }
      }
    } catch {
      completion(.failed(.error, error.sentence))
    }
  }
}
