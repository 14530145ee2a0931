import Glibc

/// Finds desktop entries by their id (Desktop Entry specification, "Desktop File ID").
public enum ApplicationFolder {
  /// The entry's file in the first data directory that has it: the id names it, and each `-` may
  /// stand for a folder.
  ///
  /// Nil where none has it.
  public static func path(of id: String, inDataDirectories directories: [String]) -> String? {
    guard !id.isEmpty, !id.contains("/"), !id.utf8.contains(0), id != ".." else { return nil }
    for directory in directories {
      var name = id
      while true {
        let path = "\(directory)/applications/\(name).desktop"
        if unsafe access(path, R_OK) == 0 { return path }
        guard let dash = name.firstIndex(of: "-") else { break }
        name.replaceSubrange(dash...dash, with: "/")
      }
    }
    return nil
  }
}
