import DeeplinkActions
import DeeplinkBus
import DeeplinkContract
import DeeplinkRouting
import DeeplinkWire
import Glibc

extension Option {
  static let timeout = Option(
    "timeout", value: "SECONDS", "wait at most so long for the outcome, 120 unless given")
}

extension Command {
  static let open = Command(
    name: "open",
    summary: "send a link and wait for what becomes of it",
    details: [
      "The link goes to the daemon, which the bus starts where it does not run. The command ends "
        + "when the app has taken the link, or could not. What is not known when the time is over "
        + "is 'pending': the link is still on its way."
    ],
    arguments: [Argument(name: "URL", help: "the link, with its scheme")],
    options: [.json, .timeout],
    examples: [
      Example(
        command: "deeplink open 'com.example.demo:greet?name=World'",
        meaning: "what a click on this link does")
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "delivered, or still pending"),
      ExitStatus(status: 1, meaning: "the link was refused, or wrong usage"),
      ExitStatus(status: 3, meaning: "the daemon cannot be reached or started"),
      ExitStatus(status: 4, meaning: "the link was accepted, and came to any other outcome"),
    ],
    run: { (invocation) throws(CommandError) in
      try send(invocation.arguments[0].bytes, invocation, wantsCallback: false)
    })

  static let call = Command(
    name: "call",
    summary: "send a link, wait, and print what the action returned",
    details: [
      "The result is printed as JSON, one object on a line.",
      "Where no plugin has the link's scheme, its default application is called by x-callback-url "
        + "1.0: the link gets the parameters x-success, x-error and x-cancel, and what the app "
        + "calls back with is the result.",
    ],
    arguments: [Argument(name: "URL", help: "the link, with its scheme")],
    options: [.json, .timeout],
    examples: [
      Example(
        command: "deeplink call 'com.example.demo:echo?text=hello'",
        meaning: "prints {\"exitStatus\":0,\"output\":\"hello\\n\"}")
    ],
    exitStatuses: open.exitStatuses,
    run: { (invocation) throws(CommandError) in
      try send(invocation.arguments[0].bytes, invocation, wantsCallback: true)
    })
}

/// Sends a link and prints its outcome, or, for a caller, what the action returned.
func send(
  _ bytes: [UInt8], _ invocation: Invocation, wantsCallback: Bool
) throws(CommandError) -> Int32 {
  let seconds = try invocation.number(.timeout, in: 1...86_400) ?? 120
  var options = LinkOptions(invocation.context.environment, seconds: seconds)
  options.wantsCallback = wantsCallback
  do throws(CommandError) {
    guard let url = String(validating: bytes, as: UTF8.self) else {
      throw .refused(
        Refusal(
          .notUTF8, "the link is not valid UTF-8", hint: "other bytes have to be percent-encoded"))
    }
    let reply = try Session.perform("waiting for the app") { connection throws(BusError) in
      let daemon = DispatcherClient(connection)
      let limit = Duration.seconds(seconds + Limit.call)
      do throws(BusError) { return try await daemon.open(url, options, timeout: limit) } catch {
        // The daemon ended before it answered. The request's name makes a second try harmless where
        // the first one arrived.
        guard error.remoteName == .noReply else { throw error }
        return try await daemon.open(url, options, timeout: limit)
      }
    }
    invocation.output.line(
      invocation.wantsJSON
        ? reply.json.description : wantsCallback ? reply.resultJSON.description : reply.text)
    switch reply.outcome {
    case nil, .delivered?: return ExitCode.accepted
    default: throw .outcome(reply)
    }
  } catch {
    if invocation.wantsJSON, case .refused(let refusal) = error {
      let answer: JSONValue = [
        "refusal": ["code": .string(refusal.code.rawValue), "message": .string(refusal.message)]
      ]
      invocation.output.line(answer.description)
    }
    throw error
  }
}

extension LinkOptions {
  /// What a person's own request carries: a name of its own, the terminal's session, its limit.
  fileprivate init(_ environment: [String: String], seconds: Int) {
    self.init()
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty || $0.utf8.count > 4096 ? nil : $0 }
    }
    activationToken = value("XDG_ACTIVATION_TOKEN")
    startupID = value("DESKTOP_STARTUP_ID")
    self.environment = environment.filter { Self.environmentNames.contains($0.key) }
    // A person, or a person's script, waits for it: whatever page floods the rest.
    isInteractive = true
    timeout = .seconds(seconds)
    // 128 random bits.
    request = (0..<2).map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

extension OpenReply {
  /// The object of `deeplink open --json`.
  fileprivate var json: JSONValue {
    [
      "id": .integer(Int64(clamping: id)),
      "outcome": .string(text),
      "result": resultJSON,
    ]
  }

  fileprivate var resultJSON: JSONValue { .object(result.compactMapValues(JSONValue.init(value:))) }

  fileprivate var text: String { outcome?.rawValue ?? Outcome.pending.description }
}
