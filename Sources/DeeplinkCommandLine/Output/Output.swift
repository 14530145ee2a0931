import Glibc

/// Standard output or standard error, written in large pieces.
///
/// A reader that goes away, as `head` does, ends the program quietly: by SIGPIPE as usual, and here
/// where whoever started the program ignores that signal.
final class Output {
  /// Whether people look at it: then there are colours and tables.
  let isTerminal: Bool
  let hasColour: Bool
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(descriptor: Int32, environment: [String: String]) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    // https://no-color.org: set and not empty.
    hasColour =
      isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= 1 << 16 { flush() }
  }

  func line(_ text: String) {
    write(text)
    write("\n")
  }

  func flush() {
    var written = 0
    while written < buffer.count {
      let count = unsafe buffer.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
      }
      if count < 0 {
        if errno == EINTR { continue }
        fail(errno)
      }
      written += count
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private func fail(_ error: Int32) -> Never {
    let failure = CommandError.unwritable(reason: unsafe String(cString: strerror(error)))
    if error != EPIPE, descriptor != STDERR_FILENO {
      var sentence = "deeplink: \(failure.sentence)\n"
      sentence.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
    exit(failure.status)
  }
}
