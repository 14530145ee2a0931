import DeeplinkBus
import DeeplinkContract
import DeeplinkLoop

/// A link as the daemon hands it to an app: the arguments of `org.deeplinkd.Handler1.Open`.
public struct HandlerRequest: Hashable, Sendable {
  public var id: UInt64
  public var url: String
  public var route: String
  public var parameters: [String: Value]
  public var context: [String: Value]
}

extension Interface {
  /// `org.deeplinkd.Handler1`, the app's side; `open` answers `b handled, a{sv} result`, now or later.
  @LoopActor public static func handler(
    _ open: @escaping @LoopActor (HandlerRequest, IncomingCall) -> Void
  ) -> Interface {
    Interface(
      .handler,
      methods: [
        Method(
          MemberName(Contract.Handler.open),
          in: [
            Argument("id", "t"), Argument("url", "s"), Argument("route", "s"),
            Argument("parameters", "a{sv}"), Argument("context", "a{sv}"),
          ],
          out: [Argument("handled", "b"), Argument("result", "a{sv}")]
        ) { call in
          open(
            HandlerRequest(
              id: call.arguments[0].uint64 ?? 0, url: call.arguments[1].string ?? "",
              route: call.arguments[2].string ?? "", parameters: call.arguments[3].options ?? [:],
              context: call.arguments[4].options ?? [:]), call)
        }
      ])
  }
}
