import DeeplinkActions
import DeeplinkLoop
import Glibc

/// One of the desktop's own programs, run to its end.
struct Tool: Sendable {
  let status: Int32
  /// What it wrote, both streams, as far as a person reads it.
  let text: String

  private static let maximumText = 1 << 16

  /// Nil where the program is not there.
  ///
  /// - Parameter seconds: How long it may take; it is killed after that.
  static func run(
    _ arguments: [String], environment: [String: String], seconds: Int = 30
  ) -> Tool? {
    LoopWork.perform("waiting for \(arguments.first ?? "")") {
      await finished(arguments, environment: environment, seconds: seconds)
    }
  }

  /// The same for work that runs on the event loop.
  @LoopActor static func finished(
    _ arguments: [String], environment: [String: String], seconds: Int = 30
  ) async -> Tool? {
    let program = ProgramLookup.path(
      of: arguments.first ?? "", in: "/nonexistent", searching: environment["PATH"] ?? "")
    guard let program else { return nil }
    var description = ProcessDescription(
      arguments: [program] + arguments.dropFirst(), environment: environment, folder: "/")
    description.hasOwnSession = true
    guard let child = try? ChildProcess(description) else { return nil }
    child.closeInput()
    var bytes: [UInt8] = []
    child.onOutput = { if bytes.count < maximumText { bytes += $0 } }
    child.onErrorOutput = child.onOutput
    let end = await withCheckedContinuation { continuation in
      let answer = FirstAnswer<ProcessEnd?> { continuation.resume(returning: $0) }
      answer.give(after: .seconds(seconds)) { [weak child] in
        child?.end(SIGKILL)
        return nil
      }
      child.onEnd = { answer.give($0) }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return switch end {
    case .exited(let status)?: Tool(status: status, text: text)
    case .signalled(let number)?: Tool(status: 128 + number, text: text)
    case nil: Tool(status: 128 + SIGKILL, text: "no end after \(seconds) s")
    }
  }
}
