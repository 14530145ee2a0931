import CDeeplinkLinux
import Glibc

/// Clocks that no one sets.
enum Clock {
  /// Seconds of `CLOCK_MONOTONIC`, for waits.
  static var seconds: Double { Double(deeplink_monotonic_nanoseconds()) / 1e9 }

  /// Seconds since 1970, for people; it may jump.
  static var secondsSince1970: Double {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
  }

  /// Seconds of `CLOCK_BOOTTIME`, which goes on while the machine sleeps, for expiry.
  static var secondsSinceBoot: Double { Double(deeplink_boottime_nanoseconds()) / 1e9 }
}

extension Duration {
  /// For messages: "20 s", "0.5 s".
  var text: String {
    let milliseconds =
      components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    return milliseconds % 1000 == 0
      ? "\(milliseconds / 1000) s" : "\(Double(milliseconds) / 1000) s"
  }
}
