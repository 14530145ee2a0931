import DeeplinkBus
import DeeplinkContract
import DeeplinkLoop

/// What serves `org.freedesktop.Application` (Desktop Entry specification, "D-Bus Activation").
@LoopActor public protocol ApplicationService: AnyObject {
  /// Takes each of `urls` as a link of its own; `completion` runs once, when all are kept or
  /// refused. There is no value in which a refusal could be told.
  func open(
    urls: [String], _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor () -> Void)
}

extension Interface {
  /// `org.freedesktop.Application`, for those who call it; we register no entry that asks to.
  @LoopActor public static func application(_ service: any ApplicationService) -> Interface {
    let platformData = Argument("platform_data", "a{sv}")
    return Interface(
      .application,
      methods: [
        Method(MemberName(Contract.Application.activate), in: [platformData]) { $0.reply() },
        Method(
          MemberName(Contract.Application.open), in: [Argument("uris", "as"), platformData]
        ) { [unowned service] call in
          do throws(OptionError) {
            let urls = call.arguments[0].strings ?? []
            // Each becomes a delivery of its own: no desktop hands over more at once.
            guard urls.count <= 1024 else {
              return call.fail(.limitsExceeded, "\(urls.count) URIs are more than 1024")
            }
            service.open(
              urls: urls, try LinkOptions(call.arguments[1].options ?? [:]), from: call.sender
            ) { call.reply() }
          } catch {
            call.fail(.invalidArgs, error.description)
          }
        },
        Method(
          MemberName(Contract.Application.activateAction),
          in: [Argument("action_name", "s"), Argument("parameter", "av"), platformData]
        ) { call in
          call.fail(.invalidArgs, "there is no action '\(call.arguments[0].string ?? "")'")
        },
      ])
  }
}
