/// Cuts a stream of bytes into lines; a line may not be longer than `limit` bytes.
struct LineSplitter {
  let limit: Int
  private var rest: [UInt8] = []

  init(limit: Int) { self.limit = limit }

  /// The lines that `bytes` complete; nil when one is too long, and nothing makes sense after it.
  mutating func lines(adding bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
    rest += bytes
    var lines: [ArraySlice<UInt8>] = []
    var start = rest.startIndex
    while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
      guard end - start <= limit else { return nil }
      lines.append(rest[start..<end])
      start = end + 1
    }
    rest.removeSubrange(..<start)
    return rest.count <= limit ? lines : nil
  }
}
