import DeeplinkTesting
import Foundation
import Testing

/// Faults as they come about on people's machines: what the doctor says is true, what it tells to do
/// mends it, and then a link arrives.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(
    if: Requirement.program(
      "update-desktop-database", "desktop-file-validate", "gio", "xdg-open", "bwrap", "setpriv")))
struct StrangeFaultsTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let id: String
    /// The check that finds it, and part of what it says.
    let check: String
    let found: String
    var isWarning = false
    /// Whether what it tells is a line for the shell that mends it.
    var isMended = true
    /// The environment that the fault is in.
    var environment: [String: String?] = [:]
    /// For files that cannot be read: a process without the rights of root.
    var isPowerless = false
    var make: @Sendable (Patient) throws -> Void = { _ in }
    var testDescription: String { id }
  }

  private static let scheme = Patient.scheme
  private static let entry = Patient.entry
  private static let list = Patient.list
  private static let plugin = Patient.plugin
  private static let state = "home/.local/state/deeplinkd"

  private static func key(_ line: String, _ found: String) -> Fault {
    Fault(id: "entry with \(line)", check: "keys", found: found) {
      try $0.shell("echo '\(line)' >> \($0.path(entry))")
    }
  }

  private static func sh(_ line: String) -> @Sendable (Patient) throws -> Void {
    { patient in
      let root = patient.world.root.path
      let done = try patient.shell("set -e; cd '\(root)'; \(line)")
      guard done.status == 0 else { throw TestingError(done.errors) }
    }
  }

  static let faults =
    [
      // mimeapps.list
      Fault(
        id: "list leads nowhere", check: "default", found: "is a symbolic link to nothing",
        make: sh("rm \(list); mkdir home/dot; ln -s ../dot/none \(list)")),
      Fault(
        id: "list is a folder", check: "list", found: "Is a directory",
        make: sh("rm \(list); mkdir \(list)")),
      Fault(
        id: "list leads to itself", check: "list", found: "Too many levels of symbolic links",
        make: sh("rm \(list); ln -s mimeapps.list \(list)")),
      Fault(
        id: "list not readable", check: "list", found: "Permission denied", isPowerless: true,
        make: sh("chmod 000 \(list)")),
      Fault(
        id: "folder not writable", check: "folder", found: "cannot be written to",
        isPowerless: true, make: sh("rm \(list); chmod 555 home/.config")),
      Fault(
        id: "byte order mark", check: "list", found: "byte order mark",
        make: sh(#"sed -i '1s/^/\xEF\xBB\xBF/' \#(list)"#)),
      Fault(
        id: "line of no meaning", check: "list", found: "line 1, which is no group, key or comment",
        make: sh("sed -i 1imerge-conflict \(list)")),
      Fault(
        id: "default that is gone", check: "default", found: "has gone.desktop, which is not there",
        make: sh("sed -i 's/=.*/=gone.desktop/' \(list)")),
      Fault(
        id: "key in capitals", check: "default", found: "has no word on it",
        make: sh("sed -i s/x-scheme/X-Scheme/ \(list)")),
      // The entry
      key("OnlyShowIn=GNOME;", "hides it from some desktops"),
      key("NotShowIn=KDE;", "hides it from some desktops"),
      key("Terminal=true", "opens a terminal"),
      key("DBusActivatable=true", "loses links"),
      key("Path=/gone", "is no folder"),
      Fault(
        id: "TryExec of nothing", check: "keys", found: "takes it for not installed",
        make: sh("sed -i s,^TryExec=.*,TryExec=/gone, \(entry)")),
      Fault(
        id: "entry hidden", check: "claim", found: "has Hidden=true",
        make: sh("echo Hidden=true >> \(entry)")),
      Fault(
        id: "entry of CR LF", check: "valid", found: "carriage return",
        make: sh(#"sed -i 's/$/\r/' \#(entry)"#)),
      Fault(
        id: "entry with a byte order mark", check: "entry", found: "is no desktop entry",
        make: sh(#"sed -i '1s/^/\xEF\xBB\xBF/' \#(entry)"#)),
      Fault(
        id: "entry empty", check: "entry", found: "is no desktop entry", make: sh(": > \(entry)")),
      Fault(
        id: "entry is a folder", check: "entry", found: "Is a directory",
        make: sh("rm \(entry); mkdir \(entry)")),
      Fault(
        id: "entry not readable", check: "entry", found: "Permission denied", isPowerless: true,
        make: sh("chmod 000 \(entry)")),
      Fault(
        id: "another name, by its letters' case", check: "alone",
        found: "com.example.Demo.deeplinks.desktop too",
        make: sh(
          "a=home/.local/share/applications; cp \(entry) $a/com.example.Demo.deeplinks.desktop; "
            + "update-desktop-database $a")),
      // Plugins
      Fault(
        id: "folder that others may write to", check: "manifest", found: "can be written by others",
        make: sh("chmod g+w \(plugin)")),
      Fault(
        id: "manifest named otherwise", check: "manifest", found: "can not be opened",
        make: sh("mv \(plugin)/plugin.json \(plugin)/plugin.jsonc")),
      Fault(
        id: "manifest too deep", check: "manifest", found: "can not be opened", isMended: false,
        make: sh("mkdir \(plugin)/x; mv \(plugin)/plugin.json \(plugin)/x")),
      Fault(
        id: "folder not named like a plugin", check: "manifest",
        found: "is not named like a plugin",
        make: sh("mv \(plugin) home/.local/share/deeplinkd/plugins/demo")),
      Fault(
        id: "folder named like another", check: "manifest", found: "lies in a folder named",
        make: sh("mv \(plugin) home/.local/share/deeplinkd/plugins/com.example.other")),
      Fault(
        id: "worker not executable", check: "program", found: "may not be run",
        make: sh("chmod -x \(plugin)/demo-worker")),
      Fault(
        id: "worker gone", check: "program", found: "is not there", isMended: false,
        make: sh("rm \(plugin)/demo-worker")),
      Fault(
        id: "two plugins, one scheme", check: "owner", found: "claims it too, in vain",
        isWarning: true, isMended: false
      ) {
        let source = try $0.world.write(
          #"{"id": "org.example.B", "name": "B", "schemes": ["com.example.demo"], "routes": "#
            + #"[{"name": "a", "match": "/a", "action": {"notify": {"title": "A"}}}]}"#,
          to: "source/plugin.json")
        _ = try $0.deeplink("plugin", "add", "--yes", source.deletingLastPathComponent().path)
      },
      Fault(
        id: "other version in another folder", check: "folder", found: "which is another version",
        isWarning: true, isMended: false
      ) {
        let copy = $0.system.path + "/deeplinkd/plugins"
        try $0.shell("mkdir -p '\(copy)'; cp -R '\($0.path(plugin))' '\(copy)'")
        try $0.shell("echo >> '\(copy)/\(scheme)/plugin.json'")
      },
      Fault(
        id: "entry left over", check: "left-over", found: "of a plugin that is not there",
        isWarning: true, isMended: false,
        make: sh(
          "sed s,handler/com.example.demo,handler/org.example.gone, \(entry) "
            + "> home/.local/share/applications/org.example.Gone.Deeplinks.desktop")),
      // What is kept, and set
      Fault(
        id: "record damaged", check: "record", found: "registration.json cannot be read",
        make: sh("echo '{' > \(state)/registration.json")),
      Fault(
        id: "choices damaged", check: "record", found: "plugins.json cannot be read",
        make: sh("mkdir -p \(state)/choices; echo '{' > \(state)/choices/plugins.json")),
      Fault(
        id: "state cannot be written", check: "state", found: "can be written to",
        isWarning: true, isMended: false,
        make: sh("rm -rf home/.local/state; : > home/.local/state")),
      Fault(
        id: "settings are no JSON", check: "settings", found: "settings.json: expected",
        isMended: false,
        make: sh(
          "mkdir home/.config/deeplinkd; echo '{\"timeout\" 3}' > home/.config/deeplinkd/settings.json"
        )),
      Fault(
        id: "settings misspelt", check: "settings", found: "unknown key 'timeot'", isMended: false,
        make: sh(
          "mkdir home/.config/deeplinkd; echo '{\"timeot\": 3}' > home/.config/deeplinkd/settings.json"
        )),
      Fault(
        id: "settings say no", check: "consent", found: "deny 'com.example.demo' its routes",
        isWarning: true, isMended: false,
        make: sh(
          "mkdir home/.config/deeplinkd; "
            + "echo '{\"consent\": {\"com.example.demo\": \"deny\"}}' > home/.config/deeplinkd/settings.json"
        )),
      // The environment
      Fault(
        id: "bus that is gone", check: "bus", found: "DBUS_SESSION_BUS_ADDRESS='unix:path=/gone'",
        isMended: false, environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/gone"]),
      Fault(
        id: "no HOME", check: "environment", found: "HOME is not set", isMended: false,
        environment: ["HOME": nil]),
      Fault(
        id: "relative folder", check: "environment", found: "is no absolute path", isMended: false,
        environment: ["XDG_DATA_HOME": "share"]),
      Fault(
        id: "KDE's next version", check: "ping by xdg-open", found: "did not arrive",
        isMended: false,
        environment: ["XDG_CURRENT_DESKTOP": "KDE", "KDE_SESSION_VERSION": "6"]),
      // The session
      Fault(
        id: "daemon that looks elsewhere", check: "daemon", found: "its XDG_DATA_HOME is '/gone'",
        isMended: false
      ) {
        _ = try $0.world.run(["dbus-update-activation-environment", "XDG_DATA_HOME=/gone"])
      },
      Fault(
        id: "daemon of another installation", check: "daemon", found: "other-deeplinkd', version",
        isWarning: true, isMended: false
      ) { patient in
        let other = patient.path("other-deeplinkd")
        try FileManager.default.copyItem(
          atPath: URL(filePath: Repository.program("deeplinkd")).resolvingSymlinksInPath().path,
          toPath: other)
        try patient.world.write(
          "[D-BUS Service]\nName=org.deeplinkd.Deeplinkd\nExec=\(other)\n",
          to: "services/org.deeplinkd.Deeplinkd.service")
        _ = try patient.world.run([
          "gdbus", "call", "--session", "-d", "org.freedesktop.DBus", "-o",
          "/org/freedesktop/DBus", "-m", "org.freedesktop.DBus.ReloadConfig",
        ])
        _ = try patient.startDaemon()
      },
      Fault(
        id: "daemon that hangs", check: "daemon", found: "has the name and does not answer",
        isMended: false
      ) {
        kill(try $0.startDaemon(), SIGSTOP)
      },
      Fault(
        id: "nothing durable", check: "durable", found: "do not outlive the daemon",
        isWarning: true, isMended: false
      ) {
        _ = try $0.world.run(["dbus-update-activation-environment", "XDG_RUNTIME_DIR=/proc"])
      },
      Fault(
        id: "app without a service", check: "target", found: "which the bus cannot start",
        isMended: false
      ) {
        try $0.change(
          "\(plugin)/plugin.json", #""routes": ["#,
          to: #""routes": [{"name": "n", "match": "n", "action": {"handler": "#
            + #"{"busName": "org.example.None"}}}, "#)
      },
    ]

  @Test(arguments: faults) func `a stranger's fault is named, and mended as told`(_ fault: Fault)
    throws
  {
    let patient = try Patient()
    try fault.make(patient)
    // Root reads everything; without its capabilities it is as any other.
    let wrapper =
      fault.isPowerless && getuid() == 0
      ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []
    let done = try patient.deeplink(
      "doctor", "--json", Self.scheme, environment: fault.environment, through: wrapper)
    let hit = try done.checks().first {
      $0["check"] == fault.check && $0["state"] != "ok"
        && $0["found"]?.contains(fault.found) == true
    }
    #expect(
      hit?["state"] == (fault.isWarning ? "warning" : "fault"), "\(done.output)\(done.errors)")
    #expect(done.status == (fault.isWarning ? 0 : 1) && done.errors == "", "\(done.errors)")
    let mend = try #require(hit?["mend"])
    guard fault.isMended else { return }
    try patient.shell(mend.split(separator: ", and ").first.map(String.init) ?? mend)
    let repaired = try patient.deeplink("doctor", "--json", "--repair", Self.scheme)
    #expect(repaired.status == 0, "\(mend)\n\(repaired.output)\(repaired.errors)")
    #expect(try patient.deeplink("doctor", "--json", Self.scheme).status == 0)
    #expect(try patient.linkArrives())
  }

  @Test func `a repair that cannot be made says why, and what was found`() throws {
    let patient = try Patient()
    try FileManager.default.removeItem(atPath: patient.path(Self.list))
    try FileManager.default.createDirectory(
      atPath: patient.path(Self.list), withIntermediateDirectories: false)
    let done = try patient.deeplink("doctor", "--json", "--repair", Self.scheme)
    let checks = try done.checks()
    #expect(done.status == 1 && done.errors == "")
    #expect(checks.contains { $0["check"] == "list" && $0["state"] == "fault" })
    #expect(
      checks.contains {
        $0["check"] == "repair"
          && $0["found"]?.hasSuffix("cannot be changed: Is a directory") == true
      })
  }

  static let permissionStore = URL(filePath: "/usr/libexec/xdg-permission-store")

  @Test(.enabled(if: Requirement.file(permissionStore)))
  func `what a portal remembers is found, and forgotten as told`() throws {
    let patient = try Patient()
    let store = "org.freedesktop.impl.portal.PermissionStore"
    try patient.world.write(
      "[D-BUS Service]\nName=\(store)\nExec=\(Self.permissionStore.path)\n",
      to: "services/\(store).service")
    try patient.shell(
      "gdbus call --session -d org.freedesktop.DBus -o /org/freedesktop/DBus "
        + "-m org.freedesktop.DBus.ReloadConfig")
    #expect(try patient.deeplink("doctor", Self.scheme).status == 0)
    func remember(_ id: String, _ count: Int) throws {
      let done = try patient.shell(
        "gdbus call --session -d \(store) -o /org/freedesktop/impl/portal/PermissionStore "
          + "-m \(store).SetPermission desktop-used-apps true x-scheme-handler/\(Self.scheme) "
          + "org.example.Browser \"['\(id)', '\(count)', '3']\"")
      #expect(done.status == 0, "\(done.errors)")
    }
    try remember("other", 2)
    #expect(try patient.deeplink("doctor", Self.scheme).status == 0)
    try remember("\(Self.scheme).Deeplinks", 3)
    #expect(try patient.deeplink("doctor", Self.scheme).status == 0)
    try remember("other", 3)
    let done = try patient.deeplink("doctor", "--json", Self.scheme)
    let hit = try done.checks().first { $0["check"] == "portal" }
    #expect(done.status == 1 && hit?["state"] == "fault", "\(done.output)")
    #expect(
      hit?["found"]?.hasPrefix("the portal opens other.desktop for links of org.example.Browser")
        == true)
    let mended = try patient.shell(try #require(hit?["mend"]))
    #expect(mended.status == 0, "\(mended.errors)")
    #expect(try patient.deeplink("doctor", Self.scheme).status == 0)
  }

  @Test func `a whole link is taken for its scheme, and a slip is noticed`() throws {
    let patient = try Patient()
    #expect(try patient.deeplink("doctor", "\(Self.scheme):greet?name=x").status == 0)
    let slip = try patient.deeplink("doctor", "com.example.dmeo")
    #expect(slip.status == 1 && slip.output.contains("hint: did you mean 'com.example.demo'?"))
  }

  @Test func `an installation that the desktop does not look into is found`() throws {
    let patient = try Patient()
    let prefix = patient.world.root.appending(path: "prefix")
    for name in ["deeplink", "deeplink-open", "deeplinkd"] {
      let copy = prefix.appending(path: "bin/\(name)")
      try FileManager.default.createDirectory(
        at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
      let program = URL(filePath: Repository.program(name)).resolvingSymlinksInPath()
      try FileManager.default.copyItem(at: program, to: copy)
    }
    let entry = "applications/org.deeplinkd.Deeplinkd.desktop"
    try patient.shell(
      "mkdir -p '\(prefix.path)/share/applications'; "
        + "mv '\(patient.world.dataHome.path)/\(entry)' '\(prefix.path)/share/\(entry)'")
    let done = try patient.world.run(
      [prefix.appending(path: "bin/deeplink").path, "doctor", "--json", Self.scheme])
    let hit = try done.checks().first { $0["check"] == "data-directories" }
    #expect(hit?["state"] == "fault", "\(done.output)")
    #expect(hit?["mend"]?.hasPrefix("XDG_DATA_DIRS=\(prefix.path)/share:") == true)
  }

  /// Each list that a desktop looks at, in the order of the specification.
  static let layers = ["config", "system-config", "data", "system-data"].flatMap { place in
    ["lxqt-mimeapps.list", "mimeapps.list"].map { "\(place)/\($0)" }
  }

  @Test(arguments: layers) func `a default that another application holds is found in each list`(
    _ layer: String
  ) throws {
    let patient = try Patient()
    try patient.otherApplication()
    try patient.remove(Self.list)
    let parts = layer.split(separator: "/").map(String.init)
    let folder =
      switch parts[0] {
      case "config": patient.world.configHome.path
      case "system-config": patient.system.path
      case "data": patient.world.dataHome.path + "/applications"
      default: patient.system.path + "/applications"
      }
    let path = "\(folder)/\(parts[1])"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try "[Default Applications]\nx-scheme-handler/\(Self.scheme)=other.desktop\n".write(
      toFile: path, atomically: true, encoding: .utf8)
    let done = try patient.deeplink("doctor", "--json", Self.scheme, desktop: "LXQt")
    let hit = try done.checks().first { $0["check"] == "default" && $0["scheme"] == Self.scheme }
    #expect(hit?["found"] == "\(path) gives it to other.desktop", "\(done.output)")
    #expect(hit?["mend"] == "deeplink plugin enable --make-default \(Self.scheme)")
    let taken = try patient.deeplink(
      "plugin", "enable", "--make-default", Self.scheme, desktop: "LXQt")
    #expect(taken.status == 0 && taken.errors == "", "\(taken.errors)")
    let again = try patient.deeplink("doctor", "--json", Self.scheme, desktop: "LXQt")
    #expect(again.status == 0, "\(again.output)")
    #expect(try patient.linkArrives())
  }
}
