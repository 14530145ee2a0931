import Glibc

/// Folders that are the person's alone.
public enum PrivateFolder {
  /// Makes the folder and those above it that are missing, each with mode 0700; nothing where it is there.
  public static func make(_ path: String) {
    var prefix = ""
    for part in path.split(separator: "/") {
      prefix += "/\(part)"
      // Existing ones fail with EEXIST; whoever uses the last one hears of every other failure.
      _ = unsafe mkdir(prefix, 0o700)
    }
  }
}
