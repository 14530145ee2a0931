import Foundation

/// An X server without a screen, for as long as it is held.
public final class Display: Sendable {
  private let server: RunningProcess
  /// For the variable `DISPLAY`.
  public let name: String

  public init() throws {
    // It finds a free number by itself, and writes it once it listens. Without -noreset it starts anew
    // when its last client leaves, and turns away the next one meanwhile.
    server = try RunningProcess(
      [
        "Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset",
      ],
      environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
    name = try ":\(server.outputLine(1).trimmed)"
  }

  deinit {
    // Asked to end it takes its socket and lock file away.
    server.signal(SIGTERM)
    _ = server.waitForEnd()
  }
}
