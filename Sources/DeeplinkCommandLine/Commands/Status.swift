import DeeplinkActions
import DeeplinkBus
import DeeplinkContract
import DeeplinkRouting
import DeeplinkWire

extension Command {
  static let status = Command(
    name: "status",
    summary: "show whether the daemon runs, and what it has done",
    details: [
      "The daemon is not started for this: the first link starts it. It counts from its start.",
      "Also shown is whether sandboxes can be made here, without which workers and commands do not "
        + "start.",
    ],
    options: [.json],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "the daemon runs, or would be started by a link"),
      ExitStatus(status: 3, meaning: "there is no session bus, or the daemon does not answer"),
    ],
    run: { invocation throws(CommandError) in
      let status = try Session.perform("waiting for the daemon") { connection throws(BusError) in
        try await DispatcherClient(connection).status()
      }
      let sandbox = sandboxError(invocation.context.environment)
      let output = invocation.output
      guard !invocation.wantsJSON else {
        output.line(json(status, sandbox).description)
        return ExitCode.accepted
      }
      var facts = Facts()
      facts.add("daemon", status.map { "running, version \($0.version)" } ?? "not running")
      if let status {
        facts.add("schemes", status.schemes.joined(separator: " "))
        facts.add("pending", "\(status.pending)")
        facts.add("durable", status.isDurable ? "yes" : "no")
        for (name, count) in status.statistics.sorted(by: { $0.key < $1.key }) {
          facts.add(name, "\(count)")
        }
      }
      facts.add("sandboxes", sandbox?.description ?? "can be made")
      facts.write(to: output)
      return ExitCode.accepted
    })

  private static func json(_ status: DispatcherStatus?, _ sandbox: SandboxError?) -> JSONValue {
    let sandbox = JSONValue(sandbox?.description)
    guard let status else { return ["running": false, "sandbox": sandbox] }
    return [
      "sandbox": sandbox,
      "running": true, "version": .string(status.version),
      "schemes": .array(status.schemes.map { .string($0) }),
      "pending": .integer(Int64(status.pending)), "durable": .boolean(status.isDurable),
      "statistics": .object(status.statistics.mapValues { .integer(Int64(clamping: $0)) }),
    ]
  }
}
