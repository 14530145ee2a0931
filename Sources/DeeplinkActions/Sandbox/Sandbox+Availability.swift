import DeeplinkLoop
import DeeplinkRouting

extension Sandbox {
  /// Whether sandboxes can be made here, found out by making one; nil, or why not.
  ///
  /// - Parameter environment: With the `PATH` that the daemon has.
  @LoopActor public static func availability(
    _ environment: [String: String]
  ) async -> SandboxError? {
    let probe: ProcessDescription
    do throws(SandboxError) {
      let bubblewrap = try program("bwrap", searching: environment["PATH"] ?? "")
      _ = try program("prlimit", searching: "/usr/bin")
      // Any folder does for a home: the program writes nothing.
      let line = SandboxCommandLine(
        SandboxProgram("/usr/bin/true", visible: [], personHome: "/", ownFolders: []), [],
        openings: Openings(),
        paths: try SandboxPaths(Openings(), personHome: "/", ownFolders: []), session: nil,
        system: .current, folder: "/", home: "/usr", variables: [:], bubblewrap: bubblewrap)
      probe = ProcessDescription(
        arguments: line.arguments, environment: line.environment, folder: "/")
    } catch {
      return error
    }
    return await withCheckedContinuation { continuation in
      var errors: [UInt8] = []
      do throws(SpawnError) {
        let child = try ChildProcess(probe)
        child.closeInput()
        child.onErrorOutput = { errors = (errors + $0).suffix(1000) }
        child.onEnd = { end in
          let words = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline)
          continuation.resume(
            returning: end == .exited(0)
              ? nil : .refused(words.last.map(String.init) ?? end.description))
        }
      } catch {
        continuation.resume(returning: .refused(error.description))
      }
    }
  }

  static func program(
    _ name: String, searching path: String
  ) throws(SandboxError) -> String {
    guard let path = ProgramLookup.path(of: name, in: "/nonexistent", searching: path) else {
      throw .noProgram(name)
    }
    return path
  }
}
