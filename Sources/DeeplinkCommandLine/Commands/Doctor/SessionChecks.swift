import DeeplinkActions
import DeeplinkBus
import DeeplinkContract
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire
import Glibc

/// The doctor's look at the session: its bus, the daemon, and links that come through the real
/// openers.
struct SessionChecks {
  private let context: Context
  private static let journal = "its own messages say why: journalctl --user -t deeplinkd"

  init(_ context: Context) { self.context = context }

  func all(_ wanted: String?) -> [Check] {
    var checks = serviceFile()
    let names: [String]
    do throws(CommandError) {
      names = try Session.perform("asking the bus") { connection throws(BusError) in
        try await connection.names(activatable: true) + connection.names(activatable: false)
      }
    } catch {
      return checks + [noBus(error)]
    }
    let address = context.environment[Self.busVariable].map { " at \($0)" } ?? ""
    checks.append(.good("bus", "there is a session bus\(address)"))
    let notifies = names.contains("org.freedesktop.Notifications")
    checks.append(
      Check(
        name: "notifications", state: notifies ? .good : .warning,
        found: notifies ? "there is a service" : "no service: what goes wrong is shown nowhere",
        mend: notifies ? nil : "a desktop has one; elsewhere install one, such as dunst"))
    checks += targets(names, wanted) + PortalChecks(context).all(names, wanted)
    // Not the bus's list of names that it can start: it may be older than the file.
    let direct = pingByBus(isRunning: names.contains("\(Contract.busName)"))
    checks.append(direct)
    checks += DaemonChecks(context).all(wanted)
    guard direct.state == .good else { return checks }
    return checks + [ping(["gio", "open"]), ping(["xdg-open"])]
  }

  private static let busVariable = "DBUS_SESSION_BUS_ADDRESS"

  /// No bus, with the variable that may lead to one that is gone: shells that outlive a session, `ssh`
  /// and `sudo` have such.
  private func noBus(_ error: CommandError) -> Check {
    let address = context.environment[Self.busVariable]
    let usual = "\(context.directories.runtime ?? "/run/user/\(getuid())")/bus"
    let isElsewhere =
      unsafe access(usual, F_OK) == 0 && address != "unix:path=\(usual)"
    return .bad(
      "bus",
      error.sentence
        + (address.map { " (\(Self.busVariable)='\($0)')" } ?? " (\(Self.busVariable) is not set)"),
      mend: isElsewhere ? "export \(Self.busVariable)=unix:path=\(usual)" : error.hint)
  }

  /// Apps that the bus has to start, and cannot.
  private func targets(_ names: [String], _ wanted: String?) -> [Check] {
    let table = context.table(of: context.plugins())
    let plugins = table.plugins.filter { plugin in
      plugin.schemes.contains { wanted == nil || $0.text == wanted }
    }
    return plugins.flatMap { plugin in
      plugin.routes.compactMap { route -> Check? in
        guard case .handler(let handler) = route.action, handler.launch.isEmpty,
          !names.contains(handler.busName)
        else { return nil }
        return .bad(
          "target",
          "route '\(route.name)' of '\(plugin.id)' is for \(handler.busName), which does not run, "
            + "and which the bus cannot start",
          mend: "a service file in dbus-1/services, or \"launch\" in its manifest")
      }
    }
  }

  /// The service files of the XDG directories; the bus takes the first of a name.
  private func serviceFile() -> [Check] {
    let directories = context.directories
    let folders = (directories.runtime.map { [$0] } ?? []) + directories.allData
    let paths = folders.map { "\($0)/dbus-1/services/\(Contract.busName).service" }
    let files = paths.filter { unsafe access($0, F_OK) == 0 }
    guard let first = files.first else { return [] }
    func program(_ path: String) -> String {
      let bytes = (try? PersonFile(path).read()) ?? nil
      let lines = String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n")
      return lines.first { $0.hasPrefix("Exec=") }
        .map { String($0.dropFirst(5).prefix { $0 != " " }) } ?? ""
    }
    guard unsafe access(program(first), X_OK) == 0 else {
      let found = "\(first) starts '\(program(first))', which is not there"
      return [
        Check(name: "service-file", state: .bad, found: found, mend: "install deeplinkd again")
      ]
    }
    if let hidden = files.dropFirst().first(where: { program($0) != program(first) }) {
      return [
        Check(
          name: "service-file", state: .bad, found: "\(first) hides \(hidden)", mend: "rm \(first)")
      ]
    }
    return [Check(name: "service-file", state: .good, found: first)]
  }

  // MARK: Pings

  private static func nonce() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

  private static func url(_ nonce: String) -> String { "org.deeplinkd:ping?\(nonce)" }

  /// - Parameter isRunning: Then nothing has to be started, and it answers at once or not at all.
  private func pingByBus(isRunning: Bool) -> Check {
    let nonce = Self.nonce()
    do throws(CommandError) {
      let reply = try Session.perform("waiting for the daemon") { connection throws(BusError) in
        try await DispatcherClient(connection).open(
          Self.url(nonce), LinkOptions(), timeout: .seconds(isRunning ? 5 : Limit.call))
      }
      if reply.result["pong"]?.string == nonce {
        return Check(name: "ping by D-Bus", state: .good, found: "it arrived")
      }
      return Check(
        name: "ping by D-Bus", state: .bad, found: "the daemon did not answer it",
        mend: "is an older deeplinkd running? deeplink status")
    } catch .unreachable(_, isInstalled: false) {
      return Check(
        name: "service", state: .bad, found: "the bus knows no \(Contract.busName)",
        mend: "install deeplinkd again, then log in anew")
    } catch {
      return Check(
        name: "ping by D-Bus", state: .bad, found: error.sentence, mend: error.hint ?? Self.journal)
    }
  }

  private func ping(_ command: [String]) -> Check {
    let name = "ping by \(command.joined(separator: " "))"
    let program = ProgramLookup.path(
      of: command[0], in: "/nonexistent", searching: context.environment["PATH"] ?? "")
    let nonce = Self.nonce()
    // Without a display xdg-open looks for no handler at all; and no web browser is to start.
    let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { context.environment[$0] != nil }
    let environment = context.environment
      .merging(hasDisplay ? [:] : ["DISPLAY": ":none", "QT_QPA_PLATFORM": "offscreen"]) { $1 }
      .merging(["BROWSER": "false"]) { $1 }
    do throws(CommandError) {
      let result = try Session.perform(name) { connection throws(BusError) in
        let arrival = Arrival()
        try await DispatcherClient(connection).startFollowing { change in
          if change.facts["result"]?.options?["pong"]?.string == nonce { arrival.come() }
        }
        let tool = await Tool.finished(command + [Self.url(nonce)], environment: environment)
        // An opener may end before what it started has.
        if tool != nil { await arrival.wait(limit: .seconds(5)) }
        return (tool: tool, hasArrived: arrival.hasCome)
      }
      guard let tool = result.tool else {
        return Check(
          name: name, state: .warning, found: "\(command[0]) is not installed",
          mend: "many programs open links with it")
      }
      return Check(
        name: name, state: result.hasArrived ? .good : .bad,
        found: result.hasArrived
          ? "it arrived"
          : "it did not arrive by \(program ?? command[0]), with exit status \(tool.status) "
            + "\(tool.text.split(whereSeparator: \.isNewline).last ?? "")",
        mend: result.hasArrived ? nil : advice(program))
    } catch {
      return Check(name: name, state: .bad, found: error.sentence, mend: error.hint)
    }
  }

  /// What to look at where an opener does not bring a link.
  private func advice(_ program: String?) -> String {
    let checks = "the checks of the scheme org.deeplinkd say why"
    if program?.hasSuffix("/xdg-open") == true, context.environment["XDG_CURRENT_DESKTOP"] == "KDE",
      !["4", "5"].contains(context.environment["KDE_SESSION_VERSION"])
    {
      return "xdg-utils 1.1.3 opens nothing where KDE_SESSION_VERSION is not 4 or 5; 1.2 does"
    }
    guard let program, !program.hasPrefix("/usr/bin/") else { return checks }
    return "is '\(program)' what it is taken for? \(checks) otherwise"
  }

  /// Something that is waited for with a limit.
  @LoopActor private final class Arrival {
    private(set) var hasCome = false
    private var waiter: CheckedContinuation<Void, Never>?

    func come() {
      hasCome = true
      end()
    }

    private func end() {
      waiter?.resume()
      waiter = nil
    }

    func wait(limit: Duration) async {
      guard !hasCome else { return }
      let timer = EventLoop.shared.after(limit) { [weak self] in self?.end() }
      await withCheckedContinuation { waiter = $0 }
      timer.cancel()
    }
  }
}

extension Connection {
  /// The names that the bus knows: those with an owner, or those that it can start.
  fileprivate func names(activatable: Bool) async throws(BusError) -> [String] {
    try await call(
      MethodCall(
        to: .wellKnown("org.freedesktop.DBus"), path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus",
        member: activatable ? "ListActivatableNames" : "ListNames")
    ).first?.strings ?? []
  }
}
