import DeeplinkRouting

/// The words that start a program in its sandbox, and the environment it gets.
///
/// Everything here is on an allow list: a place, a variable or a descriptor that is not named is not
/// there. Paths are the same inside and outside, the home included, so that what a program keeps or
/// says of a file means the same in both, and its home is not below the person's.
struct SandboxCommandLine: Hashable, Sendable {
  let arguments: [String]
  let environment: [String: String]

  /// - Parameters:
  ///   - words: What follows the program's path.
  ///   - variables: The environment that is outside.
  ///   - bubblewrap: The path of `bwrap`.
  init(
    _ program: SandboxProgram, _ words: [String], openings: Sandbox.Openings,
    paths: SandboxPaths, session: SandboxSession?, system: SandboxSystem, folder: String,
    home: String, variables: [String: String], bubblewrap: String
  ) {
    let runtime = variables["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    var mounts = system.base
    mounts += system.configuration(network: openings.network, session: openings.session)
    mounts += [
      SandboxMount("/proc", .processes), SandboxMount("/dev", .standardDevices),
      SandboxMount("/dev/shm", .memory(size: Self.memorySize, mode: "1777")),
      SandboxMount("/tmp", .memory(size: Self.memorySize, mode: "1777")),
      SandboxMount("/run", .memory(size: Self.memorySize, mode: "0755")),
    ]
    if let runtime { mounts.append(SandboxMount(runtime, .memory(size: Self.memorySize))) }
    let opened = paths.mounts.map(\.path)
    mounts.removeAll { mount in opened.contains { Paths.isInside(mount.path, $0) } }
    mounts += session?.mounts ?? []
    mounts += paths.mounts + program.mounts
    if folder != "/" { mounts.append(.same(folder)) }
    mounts.append(SandboxMount(home, .outside(source: home, isWritable: true)))
    // What holds another comes first, or it would hide it.
    let sorted = mounts.enumerated().sorted {
      let depths = (Paths.parts($0.element.path).count, Paths.parts($1.element.path).count)
      return depths.0 == depths.1 ? $0.offset < $1.offset : depths.0 < depths.1
    }
    var arguments = [
      bubblewrap, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts",
      "--unshare-cgroup-try",
    ]
    if !openings.network { arguments.append("--unshare-net") }
    arguments += ["--cap-drop", "ALL", "--new-session", "--die-with-parent"]
    arguments += sorted.flatMap(\.element.arguments)
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", folder, "--"]
    arguments += ["/usr/bin/prlimit"] + Self.limits(system) + [program.path] + words
    self.arguments = arguments
    environment = Self.environment(
      variables, openings, home: home, runtime: runtime, binFolders: program.binFolders)
  }

  // MARK: Limits

  /// Bytes of each folder in memory.
  private static let memorySize = 256 << 20

  /// Set inside, by prlimit(1): processes are counted in the user namespace, so the person's own do
  /// not count, and whatever the program starts does.
  ///
  /// Data and not address space: runtimes reserve far more of that than they use. Root is not held
  /// to a number of processes (fork(2)).
  private static func limits(_ system: SandboxSystem) -> [String] {
    (system.countsProcessesBySandbox ? ["--nproc=512"] : []) + ["--data=\(2 << 30)", "--core=0"]
  }

  // MARK: Environment

  private static let systemPath = ["/usr/local/bin", "/usr/bin", "/bin"]

  /// Where a sandboxed program is looked for first: in what the sandbox has.
  static let searchPath = systemPath.joined(separator: ":")

  private static func environment(
    _ variables: [String: String], _ openings: Sandbox.Openings, home: String, runtime: String?,
    binFolders: [String]
  ) -> [String: String] {
    var names = ["LANG", "LANGUAGE", "TZ", "USER", "LOGNAME"]
    if openings.session { names += SandboxSession.variables }
    if openings.network {
      names += ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]
    }
    var environment = variables.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    environment["PATH"] = (binFolders + systemPath).joined(separator: ":")
    environment["HOME"] = home
    environment["XDG_DATA_HOME"] = "\(home)/.local/share"
    environment["XDG_STATE_HOME"] = "\(home)/.local/state"
    environment["XDG_CONFIG_HOME"] = "\(home)/.config"
    environment["XDG_CACHE_HOME"] = "\(home)/.cache"
    environment["XDG_RUNTIME_DIR"] = runtime
    // `~` in the manifest is the person's home, and HOME here is not.
    if !openings.read.isEmpty || !openings.write.isEmpty {
      environment["DEEPLINK_PERSON_HOME"] = variables["HOME"]
    }
    return environment
  }
}
