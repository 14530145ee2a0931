/// Lines of bytes, without their line feeds; a last one that has none counts too.
struct LineReader: ~Copyable {
  private let file: InputFile
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init(_ file: consuming InputFile) { self.file = file }

  /// The next line; nil at the end.
  ///
  /// - Parameter beforeWaiting: runs whenever more has to be read, so that whoever waits for the
  ///   answers to what they wrote has them.
  mutating func next(beforeWaiting: () -> Void) throws(CommandError) -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return Array(buffer[start..<end])
      }
      if isAtEnd {
        defer { start = buffer.count }
        return start < buffer.count ? Array(buffer[start...]) : nil
      }
      buffer.removeSubrange(..<start)
      (start, searched) = (0, buffer.count)
      beforeWaiting()
      if let bytes = try file.read() { buffer += bytes } else { isAtEnd = true }
    }
  }
}
