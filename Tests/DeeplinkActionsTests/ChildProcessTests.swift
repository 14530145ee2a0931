import DeeplinkLoop
import Glibc
import Testing

@testable import DeeplinkActions

/// Children of the daemon, and how their ends are heard of.
@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
  init() { EventLoop.shared.startThread() }

  private func description(_ words: String...) -> ProcessDescription {
    ProcessDescription(arguments: words, environment: [:], folder: "/")
  }

  @Test(arguments: [("exit 3", ProcessEnd.exited(3)), ("kill -9 $$", .signalled(9))]) @LoopActor
  func `a child's end is told once, after the last of its output`(script: String, end: ProcessEnd)
    async throws
  {
    let child = try ChildProcess(description("/bin/sh", "-c", "echo words; \(script)"))
    var output: [UInt8] = []
    child.onOutput = { output += $0 }
    let told = await withCheckedContinuation { continuation in
      child.onEnd = { continuation.resume(returning: $0) }
    }
    #expect(told == end)
    #expect(output == Array("words\n".utf8))
  }

  @Test @LoopActor func `a child that somebody else has reaped has ended all the same`()
    async throws
  {
    let child = try ChildProcess(description("/bin/sh", "-c", "echo words"))
    var output: [UInt8] = []
    child.onOutput = { output += $0 }
    // The loop's thread, so that the loop cannot come first.
    #expect(waitpid(child.id, nil, 0) == child.id)
    let told = await withCheckedContinuation { continuation in
      child.onEnd = { continuation.resume(returning: $0) }
    }
    #expect(told == .exited(-1))
    #expect(output == Array("words\n".utf8))
    // Nobody's number any more: it must reach no process.
    child.signal(SIGKILL)
  }
}
