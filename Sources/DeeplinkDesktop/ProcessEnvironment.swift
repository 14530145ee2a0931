import Glibc

/// The environment that this process was started with.
public enum ProcessEnvironment {
  /// Each variable by its name; of one that stands twice the last, and none that has no `=`.
  public static func variables() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
      let line = unsafe String(cString: text)
      if let equals = line.firstIndex(of: "=") {
        variables[String(line[..<equals])] = String(line[line.index(after: equals)...])
      }
      unsafe entry += 1
    }
    return variables
  }
}
