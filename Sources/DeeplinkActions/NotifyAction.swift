import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// A desktop notification (Desktop Notifications Specification 1.2).
public enum NotifyAction {
  @LoopActor public static func run(
    _ notify: Action.Notify, _ handover: Handover, icon: String?, on connection: Connection,
    completion: @escaping @LoopActor (HandoverResult) -> Void
  ) {
    let substitution = handover.substitution
    show(
      title: notify.title.text(substitution.text), body: notify.body?.text(substitution.text) ?? "",
      icon: icon, on: connection
    ) { result in
      switch result {
      case .success: completion(.handled([:]))
      case .failure(let error):
        completion(.failed(.error, "it could not be shown: \(error.sentence)"))
      }
    }
  }

  /// Shows text that comes from a link, or from a message about one, as text: no markup, no controls.
  @LoopActor public static func show(
    title: String, body: String, icon: String?, on connection: Connection,
    completion: @escaping @LoopActor (Result<[Value], BusError>) -> Void
  ) {
    connection.call(
      MethodCall(
        to: .wellKnown("org.freedesktop.Notifications"), path: "/org/freedesktop/Notifications",
        interface: "org.freedesktop.Notifications", member: "Notify",
        arguments: [
          .string("deeplinkd"), .uint32(0), .string(icon ?? ""),
          .string(JSONValue.visible(title)), .string(JSONValue.visible(body).markupEscaped),
          .strings([]), .options(["desktop-entry": .string("org.deeplinkd.Deeplinkd")]),
          .int32(-1),
        ]), completion: completion)
  }
}

extension String {
  /// As text in markup, where it could be taken for some.
  package var markupEscaped: String {
    reduce(into: "") { text, character in
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      default: text.append(character)
      }
    }
  }
}
