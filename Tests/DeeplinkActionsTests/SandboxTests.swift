import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkActions

/// The sandbox as a value: what is on the allow list, and in what order.
struct SandboxTests {
  static let system = SandboxSystem(
    base: [.same("/usr"), SandboxMount("/bin", .link(to: "usr/bin"))], versioned: ["python3"],
    countsProcessesBySandbox: true)

  private func line(
    _ openings: Sandbox.Openings = .init(), _ paths: SandboxPaths? = nil,
    variables: [String: String] = ["HOME": "/home/anna", "LANG": "de_DE.UTF-8"]
  ) throws -> SandboxCommandLine {
    SandboxCommandLine(
      SandboxProgram("/usr/bin/true", visible: [], personHome: "/home/anna", ownFolders: []),
      ["a b", "--", "$(id)"], openings: openings,
      paths: try paths ?? SandboxPaths(.init(), personHome: "/home/anna", ownFolders: []),
      session: nil, system: Self.system, folder: "/tmp/plugin", home: "/tmp/state/home",
      variables: variables, bubblewrap: "/usr/bin/bwrap")
  }

  @Test func `nothing open: the allow list alone, all namespaces, words as they are`() throws {
    let words = try line().arguments
    #expect(words.first == "/usr/bin/bwrap")
    for namespace in ["user", "ipc", "pid", "uts", "net"] {
      #expect(words.contains("--unshare-\(namespace)"))
    }
    #expect(words.contains("--die-with-parent") && words.contains("--new-session"))
    #expect(
      words.suffix(9)
        == [
          "--chdir", "/tmp/plugin", "--", "/usr/bin/prlimit", "--nproc=512", "--data=2147483648",
          "--core=0", "/usr/bin/true", "a b", "--", "$(id)",
        ].suffix(9))
    let outside = words.indices.filter { words[$0].contains("bind") }.map { words[$0 + 1] }
    #expect(
      outside.filter { !$0.hasPrefix("/etc/") } == ["/usr", "/tmp/plugin", "/tmp/state/home"])
    #expect(words.contains("/etc/python3") && !words.contains("/etc/resolv.conf"))
    // A private folder first, then what appears below it.
    let memory = try #require(words.firstIndex(of: "/tmp"))
    let folder = try #require(words.firstIndex(of: "/tmp/plugin"))
    #expect(memory < folder)
  }

  @Test func `of the environment only what is named is handed on`() throws {
    let variables = [
      "HOME": "/home/anna", "LANG": "de_DE.UTF-8", "LC_TIME": "en_GB.UTF-8", "SECRET": "x",
      "SSH_AUTH_SOCK": "/x", "DISPLAY": ":0", "XDG_ACTIVATION_TOKEN": "t", "https_proxy": "p",
      "LD_LIBRARY_PATH": "/x", "PYTHONPATH": "/x",
    ]
    let plain = try line(variables: variables).environment
    #expect(
      plain.keys.sorted()
        == [
          "HOME", "LANG", "LC_TIME", "PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
          "XDG_STATE_HOME",
        ])
    let open = try line(.init(network: true, session: true), variables: variables).environment
    #expect(
      Set(open.keys).subtracting(plain.keys) == ["DISPLAY", "XDG_ACTIVATION_TOKEN", "https_proxy"])
  }

  struct OpeningCase: Sendable, CustomTestStringConvertible {
    let path: String
    let expected: SandboxError?
    var testDescription: String { path }
  }

  @Test(arguments: [
    OpeningCase(path: "~/Pictures", expected: nil),
    OpeningCase(path: "/usr/share", expected: nil),
    OpeningCase(path: "~/nothing", expected: .openingMissing("~/nothing")),
    OpeningCase(path: "/", expected: .openingNotAllowed("/")),
    OpeningCase(path: "/proc/1", expected: .openingNotAllowed("/proc/1")),
    OpeningCase(path: "/dev", expected: .openingNotAllowed("/dev")),
    OpeningCase(
      path: "~/.local/state/deeplinkd/homes",
      expected: .openingNotAllowed("~/.local/state/deeplinkd/homes")),
    OpeningCase(path: "~/link", expected: .openingNotAllowed("~/link")),
  ])
  func `an opening is there, and is neither deeplinkd's own nor the kernel's`(
    _ opening: OpeningCase
  ) throws {
    let box = try Box()
    try FileManager.default.createSymbolicLink(
      atPath: "\(box.person.path)/link", withDestinationPath: box.place.ownFolders[0])
    for openings in [Sandbox.Openings(read: [opening.path]), .init(write: [opening.path])] {
      do throws(SandboxError) {
        _ = try SandboxPaths(
          openings, personHome: box.person.path, ownFolders: box.place.ownFolders)
        #expect(opening.expected == nil)
      } catch {
        #expect(error == opening.expected)
      }
    }
  }

  @Test func `an opening in one that can be written is no opening of its own`() throws {
    // The program could have made it a link to anything since its last start.
    let box = try Box()
    try FileManager.default.createSymbolicLink(
      atPath: "\(box.person.path)/Pictures/link",
      withDestinationPath: "\(box.person.path)/secret")
    let paths = try SandboxPaths(
      .init(read: ["~/Pictures/link"], write: ["~/Pictures"]), personHome: box.person.path,
      ownFolders: [])
    #expect(paths.mounts.map(\.path) == ["\(box.person.path)/Pictures"])
  }

  struct ProgramCase: Sendable, CustomTestStringConvertible {
    let program: String
    let mounts: [String]
    var testDescription: String { program }
  }

  @Test(arguments: [
    ProgramCase(program: "opt/tool/bin/tool", mounts: ["opt/tool"]),
    ProgramCase(program: "person/bin/tool", mounts: ["person/bin/tool"]),
    ProgramCase(program: "person/.local/bin/tool", mounts: ["person/.local/bin/tool"]),
    ProgramCase(program: "person/scripts/tool", mounts: ["person/scripts/tool"]),
    // A link to a tool with a prefix: the prefix, and the link's own place.
    ProgramCase(
      program: "person/.local/bin/linked", mounts: ["opt/tool", "person/.local/bin/linked"]),
    // A virtual environment whose interpreter is a link to one that lies elsewhere.
    ProgramCase(program: "person/venv/bin/python", mounts: ["person/venv", "opt/python"]),
    ProgramCase(program: "person/venv/bin/console", mounts: ["person/venv", "opt/python"]),
    ProgramCase(program: "person/script", mounts: ["person/script", "person/venv", "opt/python"]),
  ])
  func `a program brings its prefix, and no folder where other things lie`(
    _ program: ProgramCase
  ) throws {
    let box = try Box()
    let root = box.root.path
    for path in [
      "opt/tool/bin/tool", "person/bin/tool", "person/.local/bin/tool", "person/scripts/tool",
      "opt/python/bin/python3",
    ] {
      try box.write("", path, mode: 0o755)
    }
    try box.write("home = \(root)/opt/python/bin\nversion = 3.11.2\n", "person/venv/pyvenv.cfg")
    try box.write(
      "#!\(root)/person/venv/bin/python\n", "person/venv/bin/console", mode: 0o755)
    try box.write("#! \(root)/person/venv/bin/console -x\n", "person/script", mode: 0o755)
    for (link, target) in [
      ("person/venv/bin/python", "python3"),
      ("person/venv/bin/python3", "\(root)/opt/python/bin/python3"),
      ("person/.local/bin/linked", "../../../opt/tool/bin/tool"),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(root)/\(link)", withDestinationPath: target)
    }
    let found = SandboxProgram(
      "\(root)/\(program.program)", visible: [box.place.folder], personHome: box.person.path,
      ownFolders: box.place.ownFolders)
    #expect(found.mounts.map(\.path).sorted() == program.mounts.map { "\(root)/\($0)" }.sorted())
  }

  @Test func `what a program can write itself brings nothing into its sandbox`() throws {
    let box = try Box()
    let root = box.root.path
    let home = "\(root)/person/.local/state/deeplinkd/homes/com.example.box"
    try box.write("", "opt/secret/bin/python3", mode: 0o755)
    let inHome = "person/.local/state/deeplinkd/homes/com.example.box"
    try box.write("#!\(root)/person/secret\n", "\(inHome)/script", mode: 0o755)
    try box.write("home = \(root)/opt/secret/bin\n", "\(inHome)/venv/pyvenv.cfg")
    try box.write("", "\(inHome)/venv/bin/python", mode: 0o755)
    try FileManager.default.createSymbolicLink(
      atPath: "\(home)/link", withDestinationPath: "\(root)/opt/secret/bin/python3")
    // The same through a link that it cannot write.
    try FileManager.default.createSymbolicLink(
      atPath: "\(root)/person/through", withDestinationPath: "\(home)/script")
    for program in [
      "\(home)/script", "\(home)/venv/bin/python", "\(home)/link", "\(root)/person/through",
    ] {
      let found = SandboxProgram(
        program, visible: [home], writable: [home], personHome: box.person.path,
        ownFolders: box.place.ownFolders)
      #expect(found.mounts == [] && found.binFolders == [], "\(program)")
    }
  }

  @Test func `of a session the sockets are opened, and nothing that only has a socket's place`()
    throws
  {
    let box = try Box()
    let root = box.root.path
    let made = try run(
      [
        "/usr/bin/python3", "-c",
        "import socket, sys; [socket.socket(socket.AF_UNIX).bind(path) for path in sys.argv[1:]]",
        "\(root)/run/bus", "\(root)/run/wayland-7",
      ], environment: box.variables)
    try #require(made.status == 0, "\(made.errors)")
    try box.write("cookie", "person/.Xauthority")
    let always = ["/dev/dri", "/sys/dev/char", "/sys/devices", "/var/cache/fontconfig"]
    func opened(_ changes: [String: String]) -> [String] {
      let variables = box.variables.merging(changes) { $1 }
      return SandboxSession(variables: variables).mounts.map(\.path).filter { !always.contains($0) }
    }
    let usual = ["\(root)/run/bus", "\(root)/run/wayland-7", "\(root)/person/.Xauthority"]
    #expect(opened(["WAYLAND_DISPLAY": "wayland-7"]) == usual)
    #expect(opened(["WAYLAND_DISPLAY": "\(root)/run/wayland-7"]) == usual)
    for changes in [
      ["WAYLAND_DISPLAY": "../person/secret"], ["WAYLAND_DISPLAY": "\(root)/person/secret"],
      ["WAYLAND_DISPLAY": "../run/wayland-7"], ["DISPLAY": ":../x"], ["DISPLAY": "host:0"],
      ["XAUTHORITY": "\(root)/person/.Xauthority"],
    ] {
      #expect(opened(changes) == ["\(root)/run/bus", "\(root)/person/.Xauthority"], "\(changes)")
    }
    #expect(opened(["XAUTHORITY": "\(root)/person/secret"]) == ["\(root)/run/bus"])
    #expect(
      opened(["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/x;unix:guid=1,path=\(root)/person/secret"]
      )
        == ["\(root)/person/.Xauthority"])
  }
}
