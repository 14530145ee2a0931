import DeeplinkLoop
import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkActions

/// What a program finds in a real sandbox, and what it does not.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(if: Requirement.program("bwrap", "prlimit", "setpriv", "python3")))
struct ConfinementTests {
  init() {
    // Tests on the loop's actor need its thread before they begin.
    EventLoop.shared.startThread()
  }

  @Test(arguments: Box.User.available)
  func `nothing of the person or of the system's secrets is there`(_ user: Box.User) throws {
    let box = try Box(user)
    let person = box.person.path
    // The probe sees these outside.
    let places = [
      "\(person)/secret", "\(person)/Pictures", "\(box.place.ownFolders[0])/grants.json",
      "/etc/shadow", "/etc/ssh", "/etc/ssl/private", "/etc/hosts", "/root", "/var/log",
      "/sys/class",
      "/run/user", "/home",
    ]
    let found = try box.python(
      """
      for path in \(places): print(path) if os.path.exists(path) else None
      for path in ["/usr/new", "/etc/new", "/new", "new", "/dev/new"]:
          try:
              open(path, "w").close()
              print("wrote", path)
          except OSError: pass
      # Here the home lies below /tmp, which is a private one.
      for path in ["\(person)/secret", "\(person)/new"]: open(path, "w").close()
      """)
    #expect(found == [])
    let secret = try String(contentsOf: box.person.appending(path: "secret"), encoding: .utf8)
    #expect(secret == "geheim")
    #expect(!FileManager.default.fileExists(atPath: "\(person)/new"))
  }

  @Test(arguments: Box.User.available)
  func `environment, descriptors, processes and rights are its own`(_ user: Box.User) throws {
    let box = try Box(user)
    let home = box.place.home
    let found = try box.python(
      """
      print(*sorted(os.environ))
      print(os.environ["HOME"], os.environ["PATH"], os.environ["XDG_CONFIG_HOME"])
      print(*sorted(os.listdir("/proc/self/fd"), key=int)[:3], len(os.listdir("/proc/self/fd")))
      print(len([p for p in os.listdir("/proc") if p.isdigit()]) < 5, os.getsid(0) != 0)
      print(*[l.split()[1] for l in open("/proc/self/status") if l.startswith(("CapEff", "CapBnd"))])
      print(os.getcwd(), os.listdir("/tmp"), os.listdir("/dev/shm"))
      """)
    try #require(found.count == 6)
    #expect(
      found[0]
        == "HOME LANG PATH PWD XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR "
        + "XDG_STATE_HOME")
    #expect(found[1] == "\(home) /usr/local/bin:/usr/bin:/bin \(home)/.config")
    // The fourth is the listing's own.
    #expect(found[2] == "0 1 2 4")
    #expect(found[3] == "True True")
    #expect(found[4] == "0000000000000000 0000000000000000")
    let top = box.root.lastPathComponent
    #expect(found[5] == "\(box.place.folder) ['\(top)'] []")
  }

  @Test(arguments: Box.User.available)
  func `what it keeps in its home lasts`(_ user: Box.User) throws {
    let box = try Box(user)
    let script = """
      path = os.path.expanduser("~/state")
      open(path, "a").write("x")
      print(open(path).read())
      """
    #expect(try box.python(script) == ["x"])
    #expect(try box.python(script) == ["xx"])
  }

  @Test(arguments: Box.User.available)
  func `the network is there where it is opened, and no socket where it is not`(_ user: Box.User)
    throws
  {
    let box = try Box(user)
    let path = box.root.appending(path: "run/bus").path
    let name = "deeplink-\(UUID().uuidString)"
    let server = try RunningProcess(
      [
        "/usr/bin/python3", "-uc",
        """
        import socket, sys, time
        tcp = socket.create_server(("127.0.0.1", 0))
        kept = [tcp]
        for address in (sys.argv[1], "\\0" + sys.argv[2]):
            kept.append(socket.socket(socket.AF_UNIX))
            kept[-1].bind(address)
            kept[-1].listen()
        print(tcp.getsockname()[1])
        sys.stdin.read()
        """, path, name,
      ], environment: ["PATH": "/usr/bin"], takesLines: true)
    let port = try server.outputLine(1)
    let script = """
      def reach(name, family, address):
          try:
              socket.socket(family).connect(address)
              print(name)
          except OSError: pass
      reach("tcp", socket.AF_INET, ("127.0.0.1", \(port)))
      reach("abstract", socket.AF_UNIX, "\\0\(name)")
      reach("path", socket.AF_UNIX, "\(path)")
      """
    #expect(try box.python(script) == [])
    #expect(try box.python(script, .confined(.init(network: true))) == ["tcp", "abstract"])
    #expect(try box.python(script, .confined(.init(session: true))) == ["path"])
    // The same probe reaches all of them without a sandbox.
    #expect(try box.python(script, .none) == ["tcp", "abstract", "path"])
    let resolver = "print(os.path.exists('/etc/hosts'), os.path.exists('/etc/shadow'))"
    #expect(try box.python(resolver, .confined(.init(network: true))) == ["True False"])
  }

  @Test(arguments: Box.User.available)
  func `opened paths are there as they were opened, and deeplinkd's own in none of them`(
    _ user: Box.User
  ) throws {
    let box = try Box(user)
    let script = """
      person = os.environ["DEEPLINK_PERSON_HOME"]
      print(open(f"{person}/Pictures/sky").read())
      try: open(f"{person}/Pictures/new", "w").close()
      except OSError as error: print(error.strerror)
      print(os.path.exists(f"{person}/secret"), os.path.exists("\(box.place.ownFolders[0])/grants.json"))
      print(os.access("\(box.place.home)", os.W_OK), os.path.exists("plugin.json"))
      """
    try box.write("{}", "person/.local/share/deeplinkd/plugins/com.example.box/plugin.json")
    #expect(
      try box.python(script, .confined(.init(read: ["~/Pictures"])))
        == ["sky", "Read-only file system", "False False", "True True"])
    #expect(
      try box.python(script, .confined(.init(write: ["~/Pictures"])))
        == ["sky", "False False", "True True"])
    #expect(FileManager.default.fileExists(atPath: "\(box.person.path)/Pictures/new"))
    #expect(
      try box.python(script, .confined(.init(write: ["~"])))
        == ["sky", "True False", "True True"])
  }

  @Test(arguments: Box.User.available)
  func `a program in a virtual environment finds its modules`(_ user: Box.User) throws {
    let box = try Box(user)
    let environment = box.person.appending(path: "environments/box")
    let made = try run(
      ["/usr/bin/python3", "-m", "venv", "--without-pip", environment.path],
      environment: box.variables, limit: .seconds(60))
    try #require(made.status == 0, "\(made.output)\(made.errors)")
    let packages = try #require(
      FileManager.default.enumerator(atPath: environment.path)?.compactMap { $0 as? String }
        .first { $0.hasSuffix("site-packages") })
    try box.write("word = 'found'", "person/environments/box/\(packages)/albums.py")
    try box.write("secret", "person/environments/other")
    let probe = """
      import albums, os, sys
      print(albums.word, sys.prefix, os.path.exists("\(environment.path)/../other"))
      """
    let expected = "found \(environment.path) False\n"
    let direct = try box.finished(["\(environment.path)/bin/python3", "-c", probe])
    #expect(direct.output == expected, "\(direct.errors)")
    // A script beside the manifest whose first line names it.
    try box.write(
      "#!\(environment.path)/bin/python3\n\(probe)\n",
      "person/.local/share/deeplinkd/plugins/com.example.box/script", mode: 0o755)
    let script = try box.finished(["./script"])
    #expect(script.output == expected, "\(script.errors)")
  }

  @Test func `processes and memory are bounded`() throws {
    let box = try Box(.plain)
    let found = try box.python(
      """
      import signal
      count = 0
      try:
          while count < 5000:
              if os.fork() == 0: signal.pause()
              count += 1
      except OSError: pass
      print(count)
      try: print(len(bytearray(3 << 30)))
      except MemoryError: print("memory")
      try:
          with open("/tmp/hog", "wb") as file:
              for _ in range(300): file.write(bytes(1 << 20))
      except OSError as error: print(error.strerror)
      """)
    try #require(found.count == 3)
    #expect(
      (400..<512).contains(Int(found[0]) ?? 0) || !SandboxSystem.current.countsProcessesBySandbox)
    #expect(found[1] == "memory")
    #expect(found[2] == "No space left on device")
  }

  @Test(arguments: Box.User.available)
  func `killing it ends everything inside, what has its own session too`(_ user: Box.User) throws {
    let box = try Box(user)
    let pipe = "\(box.place.home)/alive"
    try #require(mkfifo(pipe, 0o666) == 0)
    let (words, environment) = try box.arguments(
      [
        "/usr/bin/python3", "-uc",
        """
        import os, signal
        file = open(os.path.expanduser("~/alive"), "w")
        if os.fork() == 0: os.setsid()
        # One write: two that print would write in two parts each.
        os.write(1, b"alive\\n")
        signal.pause()
        """,
      ])
    // Its end comes when nobody has the pipe open any more.
    let reader = try RunningProcess(["cat", pipe], environment: ["PATH": "/usr/bin:/bin"])
    let process = try RunningProcess(words, environment: environment)
    _ = try process.outputLine(2)
    #expect(!reader.isFinished)
    process.signal(SIGKILL)
    #expect(reader.waitForEnd(limit: .seconds(20)))
  }

  @Test func `exit status and the last words come through`() throws {
    let done = try Box().finished(["sh", "-c", "echo 'no data' >&2; exit 7"])
    #expect(done.status == 7)
    #expect(done.errors == "no data\n")
  }

  @Test @LoopActor func `whether a sandbox can be made is found out by making one`() async throws {
    let box = try Box()
    #expect(await Sandbox.availability(box.variables) == nil)
    try box.write(
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
      "bin/bwrap", mode: 0o755)
    let refused = await Sandbox.availability(["PATH": "\(box.root.path)/bin:/usr/bin"])
    #expect(refused == .refused("bwrap: No permissions to create new namespace"))
    #expect(
      await Sandbox.availability(["PATH": "\(box.root.path)/none"]) == .noProgram("bwrap"))
  }
}
