/// The matcher of one component's pattern, with the results that the standard's regular
/// expressions give, and a bound on the work.
///
/// The standard defines a match by a backtracking regular expression. Its choices are kept here,
/// in their order, but no state (instruction and place in the text) is entered twice: what failed
/// once fails again, as there are no back references. So a match takes at most
/// `instructions × (length + 1)` steps, however the pattern and the text are made up, and nothing
/// recurses.
struct PatternProgram: Hashable, Sendable {
  private enum Instruction: Hashable, Sendable {
    /// These of the program's `text`.
    case literal(Range<Int>)
    /// One byte that is not the delimiter.
    case segmentByte
    case anyByte
    /// Go on at the first; if that fails, at the second.
    case split(Int, Int)
    case jump(Int)
    case save(Int)
    case accept
  }

  private var instructions: [Instruction] = []
  private var text: [UInt8] = []
  private let options: PatternOptions
  private(set) var groupCount = 0

  /// The program of an empty pattern, shared by all forms without a host, port or path.
  static let nothing = PatternProgram([], .plain)

  /// Compiles parts: "generate a regular expression" of the URLPattern Standard, section 2.2.
  init(_ parts: [PatternPart], _ options: PatternOptions) {
    self.options = options
    for part in parts { compile(part) }
    instructions.append(.accept)
  }

  /// The most steps that a match of a text of this length can take.
  func stepLimit(length: Int) -> Int { instructions.count * (length + 1) }

  /// The ranges of the groups if the whole text matches; nil for a group that took no part.
  func match(_ input: [UInt8]) -> [Range<Int>?]? {
    var steps = 0
    return match(input, steps: &steps)
  }

  /// As `match(_:)`, and counts the states entered.
  func match(_ input: [UInt8], steps: inout Int) -> [Range<Int>?]? {
    // A place to go on at, or, with a slot, the value that a group's bound had before.
    struct Job {
      var slot = -1
      var instruction = 0
      var place: Int
    }
    if let whole = matchLiteral(input) { return whole ? [] : nil }
    let width = input.count + 1
    var entered = [UInt64](repeating: 0, count: (instructions.count * width + 63) / 64)
    var bounds = [Int](repeating: -1, count: groupCount * 2)
    var jobs = [Job(place: 0)]
    while let job = jobs.popLast() {
      if job.slot >= 0 {
        bounds[job.slot] = job.place
        continue
      }
      var pc = job.instruction
      var place = job.place
      walk: while true {
        let state = pc * width + place
        if entered[state >> 6] & (1 << UInt64(state & 63)) != 0 { break walk }
        entered[state >> 6] |= 1 << UInt64(state & 63)
        steps += 1
        switch instructions[pc] {
        case .literal(let range):
          guard hasLiteral(range, in: input, at: place) else { break walk }
          place += range.count
          pc += 1
        case .segmentByte:
          guard place < input.count, input[place] != options.delimiter else { break walk }
          place += 1
          pc += 1
        case .anyByte:
          guard place < input.count else { break walk }
          place += 1
          pc += 1
        case .split(let first, let second):
          jobs.append(Job(instruction: second, place: place))
          pc = first
        case .jump(let target):
          pc = target
        case .save(let slot):
          jobs.append(Job(slot: slot, place: bounds[slot]))
          bounds[slot] = place
          pc += 1
        case .accept:
          guard place == input.count else { break walk }
          return (0..<groupCount).map { group in
            let (start, end) = (bounds[group * 2], bounds[group * 2 + 1])
            return start < 0 || end < start ? nil : start..<end
          }
        }
      }
    }
    return nil
  }

  /// Whether the text is what a pattern without groups is; nil if there is more to the pattern.
  private func matchLiteral(_ input: [UInt8]) -> Bool? {
    if instructions.count == 1 { return input.isEmpty }
    guard instructions.count == 2, case .literal(let range) = instructions[0] else { return nil }
    return input.count == range.count && hasLiteral(range, in: input, at: 0)
  }

  private func hasLiteral(_ range: Range<Int>, in input: [UInt8], at place: Int) -> Bool {
    guard input.count - place >= range.count else { return false }
    var place = place
    for index in range {
      let byte = input[place]
      guard byte == text[index] || options.ignoreCase && byte.asciiLowercased == text[index]
      else { return false }
      place += 1
    }
    return true
  }

  // MARK: Compiling

  private mutating func compile(_ part: PatternPart) {
    if part.kind == .fixedText {
      switch part.modifier {
      case .once: literal(part.value)
      case .optional: optional { $0.literal(part.value) }
      case .zeroOrMore: repeating { $0.literal(part.value) }
      case .oneOrMore:
        literal(part.value)
        repeating { $0.literal(part.value) }
      }
      return
    }
    let slot = groupCount * 2
    groupCount += 1
    let bare = part.prefix.isEmpty && part.suffix.isEmpty
    switch part.modifier {
    case .once:
      literal(part.prefix)
      capture(slot) { $0.wildcard(part.kind) }
      literal(part.suffix)
    case .optional:
      optional {
        $0.literal(part.prefix)
        // `(.*)?` leaves its group out rather than matching nothing (ECMAScript RepeatMatcher).
        $0.capture(slot) {
          bare
            ? $0.greedyRun(part.kind, atLeastOne: true, lazy: part.kind == .segmentWildcard)
            : $0.wildcard(part.kind)
        }
        $0.literal(part.suffix)
      }
    case .zeroOrMore where bare, .oneOrMore where bare:
      // A lazy run repeated greedily is a greedy run.
      let atLeastOne = part.modifier == .oneOrMore && part.kind == .segmentWildcard
      capture(slot) { $0.greedyRun(part.kind, atLeastOne: atLeastOne) }
    case .zeroOrMore: optional { $0.repeated(part, slot) }
    case .oneOrMore: repeated(part, slot)
    }
  }

  /// `prefix (X (?: suffix prefix X)*) suffix`.
  private mutating func repeated(_ part: PatternPart, _ slot: Int) {
    literal(part.prefix)
    capture(slot) {
      $0.wildcard(part.kind)
      $0.repeating {
        $0.literal(part.suffix + part.prefix)
        $0.wildcard(part.kind)
      }
    }
    literal(part.suffix)
  }

  private mutating func literal(_ fixed: String) {
    if fixed.isEmpty { return }
    let start = text.count
    text += options.ignoreCase ? fixed.utf8.map(\.asciiLowercased) : Array(fixed.utf8)
    instructions.append(.literal(start..<text.count))
  }

  private mutating func wildcard(_ kind: PatternPart.Kind) {
    if kind == .segmentWildcard {
      greedyRun(kind, atLeastOne: true, lazy: true)
    } else {
      greedyRun(kind, atLeastOne: false)
    }
  }

  private mutating func greedyRun(
    _ kind: PatternPart.Kind, atLeastOne: Bool, lazy: Bool = false
  ) {
    let byte = kind == .segmentWildcard ? Instruction.segmentByte : .anyByte
    let start = instructions.count
    if atLeastOne {
      // L: byte; split L, next (or, lazily, next before L).
      instructions.append(byte)
      let next = start + 2
      instructions.append(lazy ? .split(next, start) : .split(start, next))
    } else {
      repeating { $0.instructions.append(byte) }
    }
  }

  private mutating func capture(_ slot: Int, _ body: (inout PatternProgram) -> Void) {
    instructions.append(.save(slot))
    body(&self)
    instructions.append(.save(slot + 1))
  }

  private mutating func optional(_ body: (inout PatternProgram) -> Void) {
    let split = instructions.count
    instructions.append(.accept)
    body(&self)
    instructions[split] = .split(split + 1, instructions.count)
  }

  private mutating func repeating(_ body: (inout PatternProgram) -> Void) {
    let split = instructions.count
    optional {
      body(&$0)
      $0.instructions.append(.jump(split))
    }
  }
}
