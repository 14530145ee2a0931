import Glibc

/// Held by whoever changes what is kept in a folder, so that two who read, change and write do it one
/// after the other.
///
/// It is a lock of flock(2) on the folder itself: it leaves nothing behind, and goes with the process.
public final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Waits for whoever holds it.
  ///
  /// Nil where it is held for longer than `seconds`; where the folder cannot be opened there is nothing
  /// to change in it, and nothing is locked.
  public init?(_ folder: String, seconds: Int) {
    descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    // flock(2) knows no limit; a change takes some milliseconds.
    for _ in 0...(seconds * 50) {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
      usleep(20_000)
    }
    return nil
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
