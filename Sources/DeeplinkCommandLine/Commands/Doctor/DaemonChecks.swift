import DeeplinkBus
import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkWire
import Glibc

/// The doctor's look at the daemon that runs: whether it is the one that is installed, and sees what
/// this program sees.
struct DaemonChecks {
  private let context: Context

  init(_ context: Context) { self.context = context }

  private struct Facts: Sendable {
    var process: UInt32?
    /// Nil: it does not answer.
    var status: DispatcherStatus?
  }

  func all(_ wanted: String?) -> [Check] {
    guard let facts = facts(), let process = facts.process else { return [] }
    let end = "kill \(process); the next link starts it anew"
    guard let status = facts.status else {
      return [
        .bad(
          "daemon", "process \(process) has the name and does not answer",
          mend: "kill -KILL \(process); the next link starts it anew")
      ]
    }
    var checks = [program(process, status, end)]
    let missing = context.table(of: context.plugins()).schemes.map(\.text)
      .filter { (wanted == nil || $0 == wanted) && !status.schemes.contains($0) }
    let differing = differing(process)
    let folders = differing.isEmpty ? "" : "; its \(differing.joined(separator: ", its "))"
    if !missing.isEmpty {
      checks.append(
        .bad(
          "daemon", "process \(process) does not know \(missing.joined(separator: ", "))\(folders)",
          mend: differing.isEmpty
            ? "deeplink reload"
            : "dbus-update-activation-environment --systemd --all; \(end)"))
    } else if !differing.isEmpty {
      checks.append(
        .warning(
          "daemon", "process \(process) looks elsewhere than this program\(folders)",
          mend: "dbus-update-activation-environment --systemd --all; \(end)"))
    }
    if !status.isDurable {
      checks.append(
        .warning(
          "durable",
          "accepted links do not outlive the daemon: it cannot write to \(ledger(process))",
          mend: "that folder has to be its user's alone: ls -ld \(ledger(process))"))
    }
    return checks
  }

  /// Nil where no daemon runs, or there is no bus.
  private func facts() -> Facts? {
    try? Session.perform("asking the daemon") { connection throws(BusError) in
      guard let owner = try await connection.owner(of: .deeplinkd) else {
        return Facts()
      }
      var facts = Facts(process: try await connection.credentials(of: owner).processID)
      facts.status = try? await DispatcherClient(connection).status(timeout: .seconds(5))
      return facts
    }
  }

  private func program(_ process: UInt32, _ status: DispatcherStatus, _ end: String) -> Check {
    let link = "/proc/\(process)/exe"
    let opener = (try? Registrar.opener()) ?? ""
    let installed = opener.lastIndex(of: "/").map { "\(opener[..<$0])/deeplinkd" } ?? ""
    let version = "version \(status.version)"
    // Not there: one that is on another machine's side of a container.
    guard let running = Self.target(link), PlaceChecks.facts(installed) != nil else {
      return .good("daemon", "\(version), process \(process)")
    }
    guard EntryChecks.isSameFile(link, installed) else {
      return .warning(
        "daemon",
        "process \(process) is '\(running)', \(version), not '\(installed)', version \(Contract.version)",
        mend: end)
    }
    return .good("daemon", "\(version), process \(process), '\(running)'")
  }

  /// The folders that the daemon has from its environment, where they are others than ours.
  private func differing(_ process: UInt32) -> [String] {
    guard let bytes = try? PersonFile("/proc/\(process)/environ").read(), !bytes.isEmpty else {
      return []
    }
    var variables: [String: String] = [:]
    for entry in bytes.split(separator: 0) {
      let halves = entry.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard halves.count == 2 else { continue }
      variables[String(decoding: halves[0], as: UTF8.self)] = String(
        decoding: halves[1], as: UTF8.self)
    }
    let (its, ours) = (BaseDirectories(environment: variables), context.directories)
    let pairs = [
      ("XDG_DATA_HOME", its.dataHome, ours.dataHome),
      ("XDG_CONFIG_HOME", its.configHome, ours.configHome),
      ("XDG_STATE_HOME", its.stateHome, ours.stateHome),
    ]
    return pairs.filter { $0.1 != $0.2 }.map { "\($0.0) is '\($0.1)'" }
  }

  private func ledger(_ process: UInt32) -> String {
    "'\(context.directories.runtime ?? "XDG_RUNTIME_DIR, which is not set")'"
  }

  private static func target(_ link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe $0.baseAddress.map { unsafe readlink(link, $0, Int(PATH_MAX)) } ?? -1
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}
