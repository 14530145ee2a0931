import DeeplinkDesktop
import Glibc

/// What a program brings into its sandbox: the folders without which it does not start.
///
/// `/usr` is there, and so is the plugin's folder. What lies elsewhere brings its prefix: the folder
/// above its `bin`, the root of its virtual environment and the one below that, and the same for the
/// interpreter that its first line names. A folder where much else lies is no prefix: then the file
/// comes alone. What the program can write itself brings nothing: it could name whatever it wants to
/// see at its next start.
struct SandboxProgram: Hashable, Sendable {
  let path: String
  private(set) var mounts: [SandboxMount] = []
  /// The `bin` folders of its prefixes, which go before the system's in `PATH`.
  private(set) var binFolders: [String] = []

  private let visible: [String]
  private let writable: [String]
  private let shared: [String]

  /// - Parameters:
  ///   - visible: The folders that the sandbox has anyway.
  ///   - writable: Those of them that the program can write.
  ///   - personHome: The home of the person, which nothing brings in as a whole.
  init(
    _ path: String, visible: [String], writable: [String] = [], personHome: String,
    ownFolders: [String]
  ) {
    self.path = path
    self.writable = writable + writable.compactMap(FileFacts.real)
    self.visible = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] + visible
    shared =
      ownFolders + [
        "/etc", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/var/lib",
      ]
      + ["", "/.local/share", "/.local/state", "/.config", "/.cache"].map { personHome + $0 }
    add(path, depth: 0)
  }

  private mutating func add(_ path: String, depth: Int) {
    // A first line may name a script that names another.
    guard depth < 4, let real = FileFacts.real(path) else { return }
    let steps = Self.steps(from: path)
    guard !(steps + [real]).contains(where: isWritable) else { return }
    for step in steps { addEnvironment(around: step) }
    addPrefix(of: real)
    for step in steps + [real] where !isThere(step) {
      mounts.append(SandboxMount(step, .outside(source: real)))
    }
    if let interpreter = Self.interpreter(of: real) { add(interpreter, depth: depth + 1) }
  }

  /// The path, and each that a link at it leads to.
  private static func steps(from path: String) -> [String] {
    var steps = [path]
    while steps.count < 16, let target = FileFacts.link(steps[steps.count - 1]) {
      let folder = target.hasPrefix("/") ? "" : Paths.parent(of: steps[steps.count - 1])
      guard let real = FileFacts.real("\(folder)/\(Paths.parent(of: "/\(target)"))") else { break }
      steps.append("\(real)/\(Paths.name(of: target))")
    }
    return steps
  }

  /// A virtual environment's root, and what it was made from (PEP 405).
  private mutating func addEnvironment(around program: String) {
    let bin = Paths.parent(of: program)
    let root = Paths.parent(of: bin)
    let settings = FileFacts.beginning(of: "\(root)/pyvenv.cfg", limit: 4096)
    guard !settings.isEmpty, isPrefix(root), !isWritable(FileFacts.real(root) ?? root) else {
      return
    }
    addFolder(root)
    binFolders.append(bin)
    for line in settings.split(whereSeparator: \.isNewline) {
      let words = line.split(separator: "=", maxSplits: 1).map {
        String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
      guard words.count == 2, words[0] == "home", words[1].hasPrefix("/") else { continue }
      addPrefix(of: "\(words[1])/python3")
    }
  }

  /// The folder above its `bin`, where that is its own.
  private mutating func addPrefix(of program: String) {
    let bin = Paths.parent(of: program)
    let inBin = ["bin", "sbin", "libexec"].contains(Paths.name(of: bin))
    let inOpt = Paths.parts(program).first == "opt" && Paths.parts(program).count > 2
    let root =
      inBin
      ? Paths.parent(of: bin)
      : inOpt ? "/" + Paths.parts(program).prefix(2).joined(separator: "/") : nil
    guard let root, isPrefix(root), !isThere(root) else { return }
    addFolder(root)
    if inBin { binFolders.append(bin) }
  }

  private mutating func addFolder(_ root: String) {
    for place in [root, FileFacts.real(root) ?? root] where !isThere(place) {
      mounts.append(.same(place))
    }
  }

  private func isPrefix(_ folder: String) -> Bool {
    !shared.contains { Paths.isInside($0, folder) }
  }

  private func isWritable(_ path: String) -> Bool {
    writable.contains { Paths.isInside(path, $0) }
  }

  private func isThere(_ path: String) -> Bool {
    visible.contains { Paths.isInside(path, $0) }
      || mounts.contains { Paths.isInside(path, $0.path) }
  }

  /// What `#!` names (execve(2)).
  private static func interpreter(of script: String) -> String? {
    let line = FileFacts.beginning(of: script, limit: 256).prefix { !$0.isNewline }
    guard line.hasPrefix("#!") else { return nil }
    let word = line.dropFirst(2).split { $0 == " " || $0 == "\t" }.first
    return word.flatMap { $0.hasPrefix("/") ? String($0) : nil }
  }
}
