import DeeplinkLoop
import Foundation

/// A world with deeplinkd installed: the bus can start the daemon, and plugins are there.
public final class Desktop: Sendable {
  public let world: World

  /// The daemon's bus name.
  public static let busName = "org.deeplinkd.Deeplinkd"

  public init(extra: [String: String] = [:], installedServices: Bool = false) throws {
    // Tests on the loop's actor need its thread before they begin.
    EventLoop.shared.startThread()
    world = try World(extra: extra, installedServices: installedServices)
    try world.write(
      """
      [D-BUS Service]
      Name=org.deeplinkd.Deeplinkd
      Exec=\(Repository.program("deeplinkd"))
      """, to: "services/org.deeplinkd.Deeplinkd.service")
    // The daemon is started by the bus, and has the bus's environment.
    let bus = try world.run([
      "dbus-update-activation-environment", "--all",
    ])
    guard bus.status == 0 else { throw TestingError(bus.errors) }
  }

  /// Copies a plugin of the repository.
  public func addPlugin(_ folder: URL) throws {
    let plugins = world.dataHome.appending(path: "deeplinkd/plugins")
    try FileManager.default.createDirectory(at: plugins, withIntermediateDirectories: true)
    let copy = plugins.appending(path: folder.lastPathComponent).path
    // Owned by whoever runs the tests, and writable by nobody else, or it would not be loaded.
    for command in [["cp", "-R", folder.path, copy], ["chmod", "-R", "go-w", copy]] {
      let done = try world.run(command)
      guard done.status == 0 else { throw TestingError(done.errors) }
    }
  }

  /// Writes a plugin, with a worker beside its manifest that records what it receives.
  public func addPlugin(id: String, manifest: String, files: [String: String] = [:]) throws {
    let folder = "home/.local/share/deeplinkd/plugins/\(id)"
    try world.write(manifest, to: "\(folder)/plugin.json")
    for (name, text) in files {
      try world.write(text, to: "\(folder)/\(name)", executable: text.hasPrefix("#!"))
    }
  }

  /// The folder that a plugin's programs have as their home.
  public func home(of plugin: String) -> URL {
    world.stateHome.appending(path: "deeplinkd/homes/\(plugin)")
  }

  /// Installs a plugin as a person does: copied, and registered with the desktop.
  public func register(_ folder: URL) throws {
    let done = try world.run([
      Repository.program("deeplink"), "plugin", "add", "--yes", folder.path,
    ])
    guard done.status == 0 else { throw TestingError(done.errors) }
  }

  /// The process that owns the daemon's name; nil where none does.
  ///
  /// Asking does not start the daemon.
  public func daemonProcess() throws -> pid_t? {
    let done = try world.run([
      "gdbus", "call", "--session", "-d", "org.freedesktop.DBus", "-o", "/org/freedesktop/DBus",
      "-m", "org.freedesktop.DBus.GetConnectionUnixProcessID", Self.busName,
    ])
    // "(uint32 4711,)"
    return done.status == 0 ? pid_t(done.output.filter(\.isNumber).dropFirst(2)) : nil
  }

  public func open(_ arguments: String..., environment: [String: String?] = [:]) throws -> Finished
  {
    try world.run([Repository.program("deeplink-open")] + arguments, environment: environment)
  }

  /// Has the bus start a daemon that ends at its first call to open a link; the next one is the real one.
  public func letFirstDaemonDie() throws {
    let stand = try world.write(
      """
      #!/usr/bin/python3
      import os
      mark = os.path.expanduser("~/died-once")
      if os.path.exists(mark):
          os.execv("\(Repository.program("deeplinkd"))", ["deeplinkd"])
      open(mark, "w").close()
      import dbus.service, dbus.mainloop.glib
      from gi.repository import GLib
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      bus = dbus.SessionBus()
      def end(_, message):
          # deeplink-open says Submit where it does not wait, all others Open.
          if message.get_member() in ("Open", "Submit"): os._exit(1)
      bus.add_message_filter(end)
      dbus.service.BusName("org.deeplinkd.Deeplinkd", bus)
      GLib.MainLoop().run()
      """, to: "dies-once", executable: true)
    try world.write(
      "[D-BUS Service]\nName=org.deeplinkd.Deeplinkd\nExec=\(stand.path)\n",
      to: "services/org.deeplinkd.Deeplinkd.service")
    try world.reloadBus()
  }

  /// Makes an entry of ours the handler of schemes, without a plugin of theirs having been added.
  public func registerHandler(schemes: [String], id: String = "com.example.demo") throws {
    let applications = "home/.local/share/applications"
    let types = schemes.map { "x-scheme-handler/\($0);" }.joined()
    try world.write(
      """
      [Desktop Entry]
      Type=Application
      Name=Test
      Exec=\(Repository.program("deeplink-open")) -- %u
      NoDisplay=true
      MimeType=\(types)

      """, to: "\(applications)/\(id).Deeplinks.desktop")
    let done = try world.run([
      "update-desktop-database", world.root.appending(path: applications).path,
    ])
    guard done.status == 0 else { throw TestingError(done.errors) }
  }
}

extension World {
  /// Has the bus read its service files anew.
  public func reloadBus() throws {
    let done = try run([
      "dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
      "org.freedesktop.DBus.ReloadConfig",
    ])
    guard done.status == 0 else { throw TestingError(done.errors) }
  }
}
