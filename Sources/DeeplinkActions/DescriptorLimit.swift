import CDeeplinkLinux
import DeeplinkLoop

/// How many descriptors this process may have (getrlimit(2), `RLIMIT_NOFILE`).
///
/// The usual 1024 is for programs that use select(2). The daemon takes what it may have; its
/// children start with what the daemon was started with.
@LoopActor public enum DescriptorLimit {
  /// The soft limit before it was raised; nil while it is as it was.
  private static var original: UInt64?

  /// Raises the soft limit to the hard one.
  public static func raise() {
    guard original == nil else { return }
    let former = deeplink_set_descriptor_limit(.max)
    if former > 0 { original = former }
  }

  /// Runs `body`, which starts a child, under the original limit: a child inherits it when it is
  /// made, and what is open above it stays open.
  static func lowered<T>(_ body: () -> T) -> T {
    guard let original else { return body() }
    _ = deeplink_set_descriptor_limit(original)
    defer { _ = deeplink_set_descriptor_limit(.max) }
    return body()
  }
}
