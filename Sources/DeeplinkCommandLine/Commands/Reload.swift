import DeeplinkBus
import DeeplinkContract
import DeeplinkRouting
import DeeplinkWire

extension Command {
  static let reload = Command(
    name: "reload",
    summary: "have the daemon read plugins and settings anew",
    details: [
      "The daemon notices changes by itself; this is for folders that tell of none, such as those on "
        + "some network file systems. A daemon that does not run reads them when it starts."
    ],
    options: [.json],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "done, or no daemon runs"),
      ExitStatus(status: 3, meaning: "there is no session bus, or the daemon does not answer"),
    ],
    run: { invocation throws(CommandError) in
      let isRunning = try Session.perform("waiting for the daemon") { connection throws(BusError) in
        try await DispatcherClient(connection).reload()
      }
      if invocation.wantsJSON {
        let answer: JSONValue = ["running": .boolean(isRunning)]
        invocation.output.line(answer.description)
      }
      return ExitCode.accepted
    })
}
