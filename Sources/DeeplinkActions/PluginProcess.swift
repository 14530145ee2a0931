import DeeplinkRouting

/// Where a plugin is on this machine.
public struct PluginPlace: Sendable, Hashable {
  public var id: PluginID
  /// Of its manifest; the working directory of its programs.
  public var folder: String
  /// The home of its programs, which lasts.
  public var home: String
  /// deeplinkd's own folders, which no sandbox reaches.
  public var ownFolders: [String]

  public init(id: PluginID, folder: String, home: String, ownFolders: [String]) {
    self.id = id
    self.folder = folder
    self.home = home
    self.ownFolders = ownFolders
  }
}

/// A program of a plugin that is not started, and why.
public enum PluginProcessError: Error, Hashable, Sendable, CustomStringConvertible {
  case noProgram(String)
  case sandbox(SandboxError)

  public var reason: String {
    switch self {
    case .noProgram(let name): "there is no program '\(name)' that can be run"
    case .sandbox(let error): error.reason
    }
  }

  public var hint: String? { if case .sandbox(let error) = self { error.hint } else { nil } }

  public var description: String {
    switch self {
    case .noProgram: reason
    case .sandbox(let error): error.description
    }
  }
}

extension ProcessDescription {
  /// `words` of a manifest as a process, in the sandbox that the manifest says.
  ///
  /// In a sandbox a plain name is looked for in the system's folders before the person's `PATH`,
  /// where programs may be that find nothing of theirs inside.
  static func plugin(
    _ words: [String], in sandbox: Sandbox, at place: PluginPlace, _ launch: LaunchEnvironment
  ) throws(PluginProcessError) -> ProcessDescription {
    let variables = launch.all
    let personPath = variables["PATH"] ?? ""
    var searchPath = personPath
    if sandbox != .none { searchPath = "\(SandboxCommandLine.searchPath):\(searchPath)" }
    let name = words.first ?? ""
    guard let path = ProgramLookup.path(of: name, in: place.folder, searching: searchPath) else {
      throw .noProgram(name)
    }
    PrivateFolder.make(place.home)
    guard case .confined(let openings) = sandbox else {
      return ProcessDescription(
        arguments: [path] + words.dropFirst(),
        environment: variables.merging(["HOME": place.home]) { $1 }, folder: place.folder)
    }
    do throws(SandboxError) {
      let bubblewrap = try Sandbox.program("bwrap", searching: personPath)
      _ = try Sandbox.program("prlimit", searching: "/usr/bin")
      let personHome = variables["HOME"] ?? "/"
      let paths = try SandboxPaths(
        openings, personHome: personHome, ownFolders: place.ownFolders)
      let line = SandboxCommandLine(
        SandboxProgram(
          path, visible: [place.folder, place.home] + paths.mounts.map(\.path),
          writable: [place.home] + paths.writable,
          personHome: personHome, ownFolders: place.ownFolders),
        Array(words.dropFirst()), openings: openings, paths: paths,
        session: openings.session ? SandboxSession(variables: variables) : nil,
        system: .current, folder: place.folder, home: place.home, variables: variables,
        bubblewrap: bubblewrap)
      return ProcessDescription(
        arguments: line.arguments, environment: line.environment, folder: "/")
    } catch {
      throw .sandbox(error)
    }
  }
}
