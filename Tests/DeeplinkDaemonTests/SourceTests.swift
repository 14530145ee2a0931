import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkDaemon

/// Who sent a link: what the files of a process tell, and what real processes come to.
@Suite(.timeLimit(.minutes(2))) struct SourceTests {
  init() { EventLoop.shared.startThread() }

  // MARK: Names

  static let groups: [(path: String, app: String?)] = [
    ("0::/user.slice/app.slice/app-gnome-firefox-1234.scope", "firefox"),
    ("0::/app.slice/app-org.kde.konsole-12.scope/tab(34).scope", "org.kde.konsole"),
    ("0::/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1.scope", nil),
    ("0::/app.slice/app-deeplinkd-com.example.Photos@1f.service", "com.example.Photos"),
    ("0::/app.slice/app-com.example.Photos.service", "com.example.Photos"),
    (#"0::/app.slice/app-gnome\x2dshell-a\x2db-7.scope"#, "a-b"),
    ("0::/app.slice/app-com.example.demo.Deeplinks-7.scope", nil),
    ("0::/app.slice/app-org.deeplinkd.Web@7.service", nil),
    ("0::/app.slice/app-deeplinkd-org.deeplinkd.Open@1f.service", nil),
    ("0::/app-.scope", nil), ("0::/app-x.scope", nil), ("0::/init.scope", nil), ("0::/", nil),
    (#"0::/app-gnome-\x2-7.scope"#, #"\x2"#), (#"0::/app-\xzz-7.scope"#, #"\xzz"#),
  ]

  @Test(arguments: groups) func `a control group names the app`(path: String, app: String?) {
    #expect(UnitName.app(inGroup: path) == app)
    #expect(Self.groups.count == 15)
  }

  @Test(arguments: [
    ("unknown", "unknown", true), ("unknown", "flatpak:x", false),
    ("flatpak:org.x", "flatpak:org.x", true), ("flatpak:org.x", "flatpak:org.xy", false),
    ("flatpak:*", "flatpak:org.x", true), ("flatpak:*", "snap:org.x", false),
    ("executable:/opt/a/*", "executable:/opt/a/b", true),
    ("executable:/opt/a/*", "executable:/opt/ab", false),
    ("executable:/é", "executable:/e\u{301}", false),
  ])
  func `a pattern stands for the sources that it spells`(
    pattern: String, key: String, matches: Bool
  ) {
    #expect(SourcePattern.isValid(pattern))
    #expect(SourcePattern.matches(pattern, key) == matches)
  }

  @Test(arguments: [
    "", "*", "firefox", "flatpak:", "unit", "executable:/a*b", "exe:/a", "unknown:x",
  ])
  func `what names no source is no pattern`(_ text: String) {
    #expect(!SourcePattern.isValid(text))
  }

  // MARK: Processes as files

  /// A folder like `/proc`, with processes that a test makes up.
  private final class Processes {
    let root = FileManager.default.temporaryDirectory.appending(path: "proc-\(UUID().uuidString)")
    var reader: ProcessReader { ProcessReader(folder: root.path) }
    deinit { try? FileManager.default.removeItem(at: root) }

    func write(_ text: String, to path: String) throws {
      let file = root.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }

    /// - Parameter program: the last part of its path.
    func add(
      _ id: Int, parent: Int = 1, program: String, terminal: Int = 0, group: String = "0::/"
    ) throws {
      let numbers = Array(repeating: "0", count: 14).joined(separator: " ")
      try write("\(id) (a) b (c) S \(parent) 1 1 \(terminal) \(numbers) 77 0\n", to: "\(id)/stat")
      try write(group + "\n", to: "\(id)/cgroup")
      try write("", to: "bin/\(program)")
      try FileManager.default.createDirectory(
        at: root.appending(path: "\(id)/root"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: root.path + "/\(id)/exe", withDestinationPath: path(program))
    }

    func path(_ program: String) -> String { "\(root.path)/bin/\(program)" }
  }

  @Test func `the surest fact counts, and says how it was found`() throws {
    let processes = Processes()
    try processes.add(10, program: "viewer", terminal: 34816)
    let plain = processes.reader.source(of: 10)
    #expect(plain.key == "executable:\(processes.path("viewer"))")
    #expect(plain.hasTerminal && !plain.isConfined && !plain.speaksForOthers)
    try processes.add(11, program: "viewer", group: "0::/app-gnome-org.example.Viewer-5.scope")
    #expect(processes.reader.source(of: 11).key == "unit:org.example.Viewer")
    try processes.add(12, program: "viewer", group: "0::/app-gnome-org.example.Viewer-5.scope")
    try processes.write("snap.viewer.main (enforce)\n", to: "12/attr/current")
    #expect(processes.reader.source(of: 12).key == "snap:viewer")
    #expect(processes.reader.source(of: 12).isConfined)
    try processes.write(
      "[Instance]\nname=no\n[Application]\nname=org.example.Viewer\n", to: "12/root/.flatpak-info")
    let flatpak = processes.reader.source(of: 12)
    #expect(flatpak.key == "flatpak:org.example.Viewer" && flatpak.isConfined)
    #expect(flatpak.text == "org.example.Viewer (Flatpak)" && !flatpak.hasTerminal)
  }

  @Test func `what cannot be looked at is unknown, and counts as a sandbox`() throws {
    let processes = Processes()
    try processes.add(10, program: "a")
    try FileManager.default.removeItem(at: processes.root.appending(path: "10/root"))
    try processes.add(11, program: "a")
    try processes.write("[Application]\nname=org.example.Trusted\n", to: "elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: processes.root.path + "/11/root/.flatpak-info", withDestinationPath: "/elsewhere")
    try processes.add(12, program: "a")
    try processes.write("[Application]\nname=\n", to: "12/root/.flatpak-info")
    try processes.add(13, program: "a")
    try processes.write("no numbers", to: "13/stat")
    for id: UInt32 in [10, 11, 12, 13, 14] {
      #expect(processes.reader.source(of: id) == .unknown, "\(id)")
    }
    // Its own view of the file system has another file at that path.
    try processes.add(15, program: "a")
    try FileManager.default.removeItem(atPath: processes.path("a"))
    let gone = processes.reader.source(of: 15)
    #expect(gone.key == "unknown" && !gone.isConfined)
  }

  @Test func `behind shells and openers is whoever started them`() throws {
    let processes = Processes()
    try processes.add(10, program: "mail")
    try processes.add(11, parent: 10, program: "dash")
    try processes.add(12, parent: 11, program: "deeplink-open")
    #expect(processes.reader.source(of: 12).key == "executable:\(processes.path("mail"))")
    try processes.add(20, program: "systemd")
    try processes.add(21, parent: 20, program: "deeplink-open")
    #expect(processes.reader.source(of: 21).key == "unknown")
    try processes.add(22, parent: 1, program: "xdg-open")
    #expect(processes.reader.source(of: 22).key == "unknown")
    try processes.add(30, parent: 30, program: "sh")
    #expect(processes.reader.source(of: 30).key == "unknown", "a ring has no end")
    try processes.write("[Application]\nname=org.example.Mail\n", to: "10/root/.flatpak-info")
    #expect(processes.reader.source(of: 12).key == "flatpak:org.example.Mail")
  }

  @Test func `browsers and interpreters speak for others`() {
    for (name, speaks) in [
      ("/usr/lib/firefox-esr/firefox-esr", true), ("/usr/bin/python3.11", true),
      ("/usr/bin/evolution", false), ("/usr/bin/nodepad", true),
    ] {
      #expect(Source(kind: .executable, name: name).speaksForOthers == speaks, "\(name)")
    }
    #expect(Source(kind: .executable, name: "/usr/bin/mail").text == "mail (executable)")
    for path in ["/usr/local/bin/mail", "/tmp/usr/bin/mail"] {
      #expect(Source(kind: .executable, name: path).text == "\(path) (executable)")
    }
    #expect(Source(kind: .flatpak, name: "org.chromium.Chromium").speaksForOthers)
    #expect(Source.unknown.speaksForOthers)
  }

  // MARK: Real processes

  private static let echo = """
    {"id": "org.example.Echo", "name": "Echo", "schemes": ["org.example.echo"], "routes": [
      {"name": "say", "match": ":text", "effect": "view",
       "action": {"command": {"run": ["printf", "--", "%s", "{source}"]}}},
      {"name": "own", "match": "//own", "sources": ["flatpak:org.example.*"],
       "action": {"notify": {"title": "x"}}},
      {"name": "rest", "match": "//:host", "effect": "view", "sources": ["executable:*"],
       "action": {"command": {"run": ["true"]}}}]}
    """

  private func echoDesktop() throws -> Desktop {
    let desktop = try Desktop()
    try desktop.addPlugin(id: "org.example.Echo", manifest: Self.echo)
    return desktop
  }

  private var ownKey: String {
    get throws {
      let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      return "executable:\(path)"
    }
  }

  @LoopActor private func sources(_ client: Client) async throws -> [String?] {
    let json = try await client.call("History", .options([:]))[0].string ?? ""
    let entries = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    return entries?.map { $0["source"] as? String } ?? []
  }

  @Test @LoopActor func `a program on the bus is known by its path, and actions are told`()
    async throws
  {
    let desktop = try echoDesktop()
    let client = try Client(desktop)
    let reply = try await client.open("org.example.echo:x")
    #expect(reply.result["output"] == .string(try ownKey))
    #expect(try await sources(client) == [try ownKey])
    // A refusal says what is known by then.
    _ = try? await client.submit("org.example.echo:///no/route")
    #expect(try await sources(client).last == .some(try ownKey))
  }

  @Test @LoopActor func `an opener in a script is known by what runs the script`() async throws {
    let desktop = try echoDesktop()
    let script = try desktop.world.write(
      "#!/bin/sh\n\(Repository.program("deeplink-open")) --wait org.example.echo:x\ntrue\n",
      to: "script", executable: true)
    for _ in 0..<10 {
      #expect(try desktop.world.run(["/bin/sh", "-c", "\(script.path); true"]).status == 0)
    }
    // An opener that does not wait for the outcome is there for as long as is needed.
    for _ in 0..<10 {
      let done = try desktop.open("org.example.echo:x")
      #expect(done.status == 0, "\(done.errors)")
    }
    let client = try Client(desktop)
    while try await client.property("Pending") != .uint32(0) {}
    #expect(try await sources(client) == Array(repeating: try ownKey, count: 20))
  }

  @Test(.enabled(if: Requirement.program("bwrap", "gdbus"))) @LoopActor
  func `a sandbox is known by its app, and some things are not for it`() async throws {
    let desktop = try echoDesktop()
    let info = try desktop.world.write(
      "[Application]\nname=org.example.Boxed\n", to: "flatpak-info")
    let programs = URL(filePath: Repository.program("deeplink-open")).deletingLastPathComponent()
    let world = desktop.world.root.path
    let box = [
      "bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib",
      "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc", "--proc", "/proc",
      "--dev", "/dev", "--bind", world, world, "--ro-bind", programs.path, programs.path,
      "--ro-bind", info.path, "/.flatpak-info", "--",
    ]
    let opened = try desktop.world.run(
      box + [Repository.program("deeplink-open"), "--wait", "org.example.echo:x"])
    #expect(opened.status == 0, "\(opened.errors)")
    let asked = try desktop.world.run(
      box + [
        "gdbus", "call", "--session", "-d", Desktop.busName, "-o", "/org/deeplinkd/Deeplinkd", "-m",
        "org.deeplinkd.Dispatcher1.ListPlugins",
      ])
    #expect(asked.status != 0 && asked.errors.contains("AccessDenied"), "\(asked.errors)")
    #expect(try await sources(Client(desktop)) == ["flatpak:org.example.Boxed"])
  }

  @Test @LoopActor func `a route is there only for its sources`() async throws {
    let echo = try echoDesktop()
    let client = try Client(echo)
    // The first route is another app's; the next one takes the link.
    #expect(try await client.open("org.example.echo://own").outcome == "delivered")
    let desktop = try Desktop()
    try desktop.addPlugin(
      id: "org.example.Echo",
      manifest: Self.echo.replacingOccurrences(of: "executable:*", with: "executable:/opt/*"))
    let denied = try await Client(desktop).open("org.example.echo://own")
    #expect(denied.outcome == "denied")
    #expect(
      denied.result["message"] == .string("the route is not for links of this source"))
  }

  @Test @LoopActor func `a look-up that hangs ends as unknown, and holds up no other`()
    async throws
  {
    let desktop = try Desktop()
    // Opening this file waits for a writer that never comes.
    let pipe = desktop.world.root.appending(path: "\(getpid())")
    try FileManager.default.createDirectory(at: pipe, withIntermediateDirectories: true)
    #expect(mkfifo(pipe.path + "/stat", 0o600) == 0)
    let connection = try Client(desktop).connection
    let stuck = SourceFinder(
      connection: connection, reader: ProcessReader(folder: desktop.world.root.path),
      limit: .milliseconds(50))
    #expect(await stuck.source(of: connection.uniqueName) == .unknown)
    #expect(stuck.known(connection.uniqueName) == nil, "the next link may have more luck")
    let finder = SourceFinder(connection: connection)
    #expect(await finder.source(of: connection.uniqueName).key == (try ownKey))
    #expect(finder.known(connection.uniqueName)?.key == (try ownKey))
    #expect(await finder.source(of: ":1.999999") == .unknown)
    // The thread that waits is let go.
    close(open(pipe.path + "/stat", O_RDWR))
  }
}
