extension URLParser {
  /// The path start and path states: a list of segments, dot segments resolved.
  ///
  /// Unchanged bytes are copied in runs that may span segments; a run ends where something is
  /// escaped or dropped. What is written always ends in the `/` that opens the next segment.
  ///
  /// - Parameter isAlone: the input is a path and nothing else, so `?` and `#` are escaped
  ///   (a state override in the standard's words).
  mutating func parsePath(_ kind: SchemeKind, isAlone: Bool = false) {
    let (input, end) = (input, end)
    let isSpecial = kind.isSpecial
    let stops: ByteSet = isSpecial ? .specialPathStops : .pathStops
    markPath()
    if isAt("/") || (isSpecial && isAt("\\")) { position += 1 }
    output.append(UInt8(ascii: "/"))

    var segment = position
    var run = position
    var index = position
    while true {
      index = input.firstIndex(of: stops, in: index..<end)
      let stop = index < end ? input[index] : nil
      let isSlash =
        stop == UInt8(ascii: "/") || (stop == UInt8(ascii: "\\") && isSpecial)
      if let stop, !isSlash, isAlone || (stop != UInt8(ascii: "?") && stop != UInt8(ascii: "#")) {
        output.append(contentsOf: input[run..<index])
        appendEscape(of: stop)
        index += 1
        run = index
        continue
      }

      let next = isSlash ? index + 1 : index
      switch dots(in: segment..<index) {
      case 1:
        remarks.insert(.dotSegments)
        output.append(contentsOf: input[run..<segment])
        run = next
      case 2:
        remarks.insert(.dotSegments)
        output.append(contentsOf: input[run..<segment])
        run = next
        shortenPath(keepingDriveLetter: kind == .file)
      default:
        if kind == .file, run == segment, here == marks.path + 1, isDriveLetter(segment..<index) {
          output.append(input[segment])
          output.append(UInt8(ascii: ":"))
          run = index
        }
        if stop == UInt8(ascii: "\\") {
          output.append(contentsOf: input[run..<index])
          output.append(UInt8(ascii: "/"))
          run = next
        }
      }
      index = next
      segment = next
      if !isSlash { break }
    }
    output.append(contentsOf: input[run..<index])
    position = index
  }

  /// The opaque path state.
  mutating func parseOpaquePath() {
    markPath()
    let start = position
    while position < end, !isAt("?"), !isAt("#") { position += 1 }
    // A space at the end would not survive being parsed again.
    let endsInSpace = position > start && position < end && input[position - 1] == 0x20
    let pathEnd = position
    append(start..<(endsInSpace ? pathEnd - 1 : pathEnd), escaping: .c0Control)
    if endsInSpace { appendEscape(of: 0x20) }
    position = pathEnd
  }

  mutating func markPath() { marks.path = here }

  /// Writes `/.` before a path that would otherwise read as an authority (section 4.5).
  mutating func guardPathFromAuthority() {
    let path = Int(marks.path)
    guard output.count > path + 1, output[path + 1] == UInt8(ascii: "/") else { return }
    output.insert(contentsOf: "/.".utf8, at: path)
    marks.path += 2
  }

  /// Shortens the path (section 4.2), whose last byte opens a segment yet unwritten.
  private mutating func shortenPath(keepingDriveLetter: Bool) {
    let path = Int(marks.path)
    let last = output.count - 1
    if keepingDriveLetter, last - path == 3, output[path + 1].isASCIILetter,
      output[path + 2] == UInt8(ascii: ":")
    {
      return
    }
    guard let slash = output[path..<last].lastIndex(of: UInt8(ascii: "/")) else { return }
    output.removeSubrange((slash + 1)...)
  }

  /// How many dots a segment stands for: 1 and 2 for dot segments (`%2e` counts), else 0.
  private func dots(in segment: Range<Int>) -> Int {
    var index = segment.lowerBound
    guard segment.count <= 6, index < segment.upperBound,
      input[index] == UInt8(ascii: ".") || input[index] == UInt8(ascii: "%")
    else { return 0 }
    var count = 0
    while index < segment.upperBound {
      if input[index] == UInt8(ascii: ".") {
        index += 1
      } else if segment.upperBound - index >= 3, input[index] == UInt8(ascii: "%"),
        input[index + 1] == UInt8(ascii: "2"), input[index + 2] | 0x20 == UInt8(ascii: "e")
      {
        index += 3
      } else {
        return 0
      }
      count += 1
    }
    return count <= 2 ? count : 0
  }
}
