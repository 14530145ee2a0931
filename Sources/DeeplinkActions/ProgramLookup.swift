import CDeeplinkLinux
import Glibc

/// Finds programs as the manifest names them.
public enum ProgramLookup {
  /// The path of `program`: absolute as it stands, else beside the manifest first, then, where it
  /// is a plain name, in `PATH`.
  ///
  /// Nil where no such file can be run.
  public static func path(of program: String, in folder: String, searching path: String) -> String?
  {
    if program.hasPrefix("/") { return isRunnable(program) ? program : nil }
    let beside = "\(folder)/\(program.hasPrefix("./") ? String(program.dropFirst(2)) : program)"
    if isRunnable(beside) { return beside }
    guard !program.contains("/") else { return nil }
    return path.split(separator: ":").lazy.map { "\($0)/\(program)" }.first(where: isRunnable)
  }

  private static func isRunnable(_ path: String) -> Bool {
    var facts = stat()
    guard !path.utf8.contains(0), unsafe stat(path, &facts) == 0 else { return false }
    guard facts.st_mode & S_IFMT == S_IFREG else { return false }
    return unsafe access(path, X_OK) == 0
  }
}
