import CDeeplinkLinux
import Foundation

/// A sealed place for one test: a home, the XDG folders and a session bus of its own.
///
/// The environment is handed to child processes and never set in the test process. Everything is
/// gone when the world is.
public final class World: Sendable {
  public let root: URL
  /// The address of the private session bus.
  public let busAddress: String
  private let busProcess: Int32
  private let lifeline: Int32
  private let guardian: RunningProcess
  private let extra: [String: String]

  /// Where the bus finds its service files.
  public var services: URL { root.appending(path: "services") }
  public var home: URL { root.appending(path: "home") }
  public var dataHome: URL { home.appending(path: ".local/share") }
  public var configHome: URL { home.appending(path: ".config") }
  public var stateHome: URL { home.appending(path: ".local/state") }
  public var runtime: URL { root.appending(path: "run") }

  /// - Parameters:
  ///   - extra: Variables of the environment, of the bus's too.
  ///   - installedServices: Whether the bus starts the machine's own services as well, such as
  ///     portals.
  public init(extra: [String: String] = [:], installedServices: Bool = false) throws {
    self.extra = extra
    root = FileManager.default.temporaryDirectory.appending(path: "deeplink-\(UUID().uuidString)")
    let root = root
    let home = root.appending(path: "home")
    for folder in [
      home.appending(path: ".local/share"), home.appending(path: ".config"),
      home.appending(path: ".local/state"), root.appending(path: "services"),
    ] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    try FileManager.default.createDirectory(
      at: root.appending(path: "run"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let configuration = root.appending(path: "bus.conf")
    try """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>session</type>
      <listen>unix:path=\(root.path)/run/bus</listen>
      <servicedir>\(root.path)/services</servicedir>
      \(installedServices ? "<standard_session_servicedirs/>" : "")
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
      <limit name="service_start_timeout">20000</limit>
      <limit name="max_pending_service_starts">10000</limit>
      <limit name="max_match_rules_per_connection">50000</limit>
      <limit name="max_replies_per_connection">50000</limit>
      <limit name="max_incoming_bytes">1000000000</limit>
      <limit name="max_outgoing_bytes">1000000000</limit>
    </busconfig>
    """.write(to: configuration, atomically: true, encoding: .utf8)
    let busAddress = "unix:path=\(root.path)/run/bus"
    self.busAddress = busAddress
    // It goes to the background once it listens, so its end as a child is the event to wait for.
    let started = try DeeplinkTesting.run(
      [
        "dbus-daemon", "--config-file=\(configuration.path)", "--fork", "--print-pid=1",
        "--nopidfile", "--nosyslog",
      ],
      environment: Self.environment(root: root, bus: busAddress, extra: extra))
    guard started.status == 0, let pid = Int32(started.output.trimmed) else {
      throw TestingError("dbus-daemon did not start: \(started.errors)")
    }
    busProcess = pid
    // A test run that is killed must not leave its buses behind: each keeps an inotify instance.
    var ends: [Int32] = [-1, -1]
    guard deeplink_pipe(&ends) == 0 else { throw TestingError("no pipe") }
    defer { close(ends[0]) }
    lifeline = ends[1]
    guardian = try RunningProcess(
      ["/bin/sh", "-c", "read -r _; kill \(pid)"], environment: [:], inputDescriptor: ends[0])
  }

  deinit {
    kill(busProcess, SIGTERM)
    close(lifeline)
    try? FileManager.default.removeItem(at: root)
  }

  /// Ends the session bus at once, as a crash would.
  public func killBus() { kill(busProcess, SIGKILL) }

  /// For child processes; nothing of the person's own desktop is in it.
  public var environment: [String: String] {
    Self.environment(root: root, bus: busAddress, extra: extra)
  }

  private static func environment(
    root: URL, bus: String, extra: [String: String]
  ) -> [String: String] {
    let home = root.appending(path: "home").path
    let own = [
      "HOME": home, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
      "LANG": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": bus,
      "XDG_RUNTIME_DIR": root.appending(path: "run").path,
      "XDG_DATA_HOME": "\(home)/.local/share", "XDG_CONFIG_HOME": "\(home)/.config",
      "XDG_STATE_HOME": "\(home)/.local/state", "XDG_CACHE_HOME": "\(home)/.cache",
      "XDG_DATA_DIRS": "/usr/local/share:/usr/share", "XDG_CONFIG_DIRS": "/etc/xdg",
    ]
    return own.merging(extra) { $1 }
  }

  /// Writes a file below the world's root, with its folders.
  @discardableResult public func write(
    _ text: String, to path: String, executable: Bool = false
  ) throws -> URL {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
    if executable {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }
    return file
  }

  /// Runs a program in this world and waits for its end.
  public func run(
    _ arguments: [String], environment changes: [String: String?] = [:], input: Data? = nil,
    limit: Duration = .seconds(30)
  ) throws -> Finished {
    var environment = environment
    for (name, value) in changes { environment[name] = value }
    return try DeeplinkTesting.run(
      arguments, environment: environment, input: input, limit: limit)
  }

  /// Starts a program in this world that goes on by itself.
  public func start(
    _ arguments: [String], environment changes: [String: String?] = [:], takesLines: Bool = false
  ) throws -> RunningProcess {
    var environment = environment
    for (name, value) in changes { environment[name] = value }
    return try RunningProcess(arguments, environment: environment, takesLines: takesLines)
  }
}

public struct TestingError: Error, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

extension String {
  public var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
