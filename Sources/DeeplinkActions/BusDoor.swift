import DeeplinkBus
import DeeplinkRouting
import DeeplinkWire

/// The interface that a link goes in by.
public enum BusDoor: Hashable, Sendable {
  /// What a result may take, in bytes: it is sent on to whoever waits for it.
  static let maximumResult = 1 << 20

  /// `org.deeplinkd.Handler1`: typed parameters in, a result out.
  case handler
  /// `org.freedesktop.Application`: the URL alone, and no result.
  case application

  func call(_ handover: Handover, to owner: UniqueName, at path: ObjectPath) -> MethodCall {
    switch self {
    case .handler:
      MethodCall(
        to: .unique(owner), path: path, interface: .handler, member: "Open",
        arguments: [
          .uint64(handover.id), .string(handover.link.canonical.href),
          .string(handover.route.name),
          .options(handover.parameters.compactMapValues { Value(json: $0.json) }),
          .options(handover.busContext),
        ], mayStartDestination: false)
    case .application:
      MethodCall(
        to: .unique(owner), path: path, interface: .application, member: "Open",
        arguments: [
          .strings([handover.link.canonical.href]), .options(handover.platformData),
        ], mayStartDestination: false)
    }
  }

  func result(_ values: [Value]) -> HandoverResult {
    guard values.reduce(0, { $0 + $1.size }) <= Self.maximumResult else {
      return .failed(.limit, "it answered with more than 1 MiB")
    }
    switch self {
    case .handler:
      guard values.signature == "ba{sv}", let isHandled = values[0].boolean,
        let result = values[1].options
      else {
        return .failed(.error, "it answered Open with values of type (\(values.signature))")
      }
      return isHandled ? .handled(result.compactMapValues(JSONValue.init(value:))) : .declined
    case .application: return .handled([:])
    }
  }
}

extension Handover {
  /// Tokens under the names of the Desktop Entry specification ("D-Bus Activation").
  fileprivate var platformData: [String: Value] {
    var data: [String: Value] = [:]
    data["activation-token"] = activationToken.map { .string($0) }
    data["desktop-startup-id"] = startupID.map { .string($0) }
    return data
  }

  fileprivate var busContext: [String: Value] {
    platformData.merging([
      "delivery": .string(mode.rawValue), "attempt": .uint32(UInt32(clamping: attempt)),
      "raw-url": .string(link.rawText),
      "source": .string(source), "hops": .uint32(UInt32(clamping: hops)),
    ]) { $1 }
  }
}
