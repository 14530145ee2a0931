import DeeplinkBus
import DeeplinkLoop
import DeeplinkWire

/// Transient units of the session's systemd (org.freedesktop.systemd1(5)).
enum SystemdUnit {
  static let manager: WellKnownName = "org.freedesktop.systemd1"
  private static let path: ObjectPath = "/org/freedesktop/systemd1"
  private static let interface: InterfaceName = "org.freedesktop.systemd1.Manager"

  /// Starts the program in a unit; `ended` runs once, when the unit did not start or is over.
  @LoopActor static func start(
    _ description: ProcessDescription, id: String, _ environment: LaunchEnvironment,
    on connection: Connection, manager owner: UniqueName,
    ended: @escaping @LoopActor (ProgramLauncher.End) -> Void
  ) async {
    let name = unitName(id)
    let end = UnitEnd(name: name, ended)
    do throws(BusError) {
      // Without it systemd tells nobody. It refuses a connection that has subscribed already.
      _ = try? await connection.call(call("Subscribe"))
      let rule = MatchRule(
        sender: .unique(owner), path: unitPath(name), interface: "org.freedesktop.DBus.Properties",
        member: "PropertiesChanged")
      end.subscription = try await connection.subscribe(rule) { signal in
        if let changed = signal.arguments.dropFirst().first?.options { end.changed(changed) }
      }
      _ = try await connection.call(
        call(
          "StartTransientUnit", .string(name), .string("fail"),
          .array(
            of: "(sv)",
            properties(description, id: id, environment).map {
              .structure([.string($0.0), .variant($0.1)])
            }),
          .array(of: "(sa(sv))", [])))
    } catch {
      end.finish(isFailure: true, "its unit could not be started: \(error.sentence)")
    }
  }

  private static func call(_ member: MemberName, _ arguments: Value...) -> MethodCall {
    MethodCall(
      to: .wellKnown(manager), path: path, interface: interface, member: member,
      arguments: arguments)
  }

  private static func properties(
    _ description: ProcessDescription, id: String, _ environment: LaunchEnvironment
  ) -> [(String, Value)] {
    // The manager has an environment of its own; only what the link's sender brought is added.
    let own = LinkOptions.environmentNames.union(["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"])
    let variables = environment.all.filter { own.contains($0.key) }
    return [
      ("Description", .string("\(id), opened by a link")),
      ("Type", .string("exec")),
      ("CollectMode", .string("inactive-or-failed")),
      ("Slice", .string("app.slice")),
      ("WorkingDirectory", .string(description.folder)),
      (
        "Environment",
        .strings(variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
      ),
      (
        "ExecStart",
        .array(
          of: "(sasb)",
          [
            .structure([
              .string(description.arguments[0]), .strings(description.arguments.map(literal)),
              .boolean(false),
            ])
          ])
      ),
    ]
  }

  /// A word without variables for systemd to expand, which it does in the words of a call too
  /// (systemd.service(5), "Command Lines").
  private static func literal(_ word: String) -> String {
    word.split(separator: "$", omittingEmptySubsequences: false).joined(separator: "$$")
  }

  /// `app-deeplinkd-ID@RANDOM.service` (systemd.io, "Desktop Environment Integration").
  private static func unitName(_ id: String) -> String {
    let escaped = id.utf8.map { byte in
      isPlain(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        ? String(UnicodeScalar(byte)) : #"\x"# + hexadecimal(byte)
    }
    let random = String(UInt64.random(in: .min ... .max), radix: 16)
    return "app-deeplinkd-\(escaped.joined())@\(random).service"
  }

  /// Bytes other than letters and digits as `_XX` (sd_bus_path_encode(3)).
  private static func unitPath(_ name: String) -> ObjectPath {
    let escaped = name.utf8.map { isPlain($0) ? String(UnicodeScalar($0)) : "_" + hexadecimal($0) }
    return ObjectPath(unchecked: "/org/freedesktop/systemd1/unit/\(escaped.joined())")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16)
    return text.count == 1 ? "0\(text)" : text
  }
}

/// Follows a unit until it is over.
@LoopActor private final class UnitEnd {
  private let name: String
  private var ended: (@LoopActor (ProgramLauncher.End) -> Void)?
  private var code: Int32?
  private var status: Int32?
  var subscription: Subscription?

  init(name: String, _ ended: @escaping @LoopActor (ProgramLauncher.End) -> Void) {
    self.name = name
    self.ended = ended
  }

  func changed(_ properties: [String: Value]) {
    if case .int32(let code)? = properties["ExecMainCode"] { self.code = code }
    if case .int32(let status)? = properties["ExecMainStatus"] { self.status = status }
    switch properties["ActiveState"]?.string {
    case "failed":
      // waitid(2): CLD_EXITED is 1, what is above is a signal's doing.
      let end = status.map { code ?? 1 <= 1 ? ProcessEnd.exited($0) : .signalled($0) }
      finish(
        isFailure: true,
        "\(end?.description ?? "it failed"): its messages are in journalctl --user -u '\(name)'")
    case "inactive": finish(isFailure: false, "it ended")
    default: break
    }
  }

  func finish(isFailure: Bool, _ message: String) {
    ended?(ProgramLauncher.End(isFailure: isFailure, message: message))
    ended = nil
    subscription?.cancel()
    subscription = nil
  }
}
