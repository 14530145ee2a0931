/// The "did you mean" of every message about an unknown word.
public enum Suggestion {
  /// The candidate that a slip of the keyboard turns into `word`; nil where none is near.
  ///
  /// Near is a third of the word's letters, at least one: insertions, removals, replacements and
  /// swapped neighbours (optimal string alignment).
  public static func nearest(
    to word: String, among candidates: some Sequence<String>
  ) -> String? {
    let word = Array(word.lowercased().utf8.prefix(64))
    let limit = max(1, word.count / 3)
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(word, Array(candidate.lowercased().utf8.prefix(64)))
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.candidate
  }

  /// `did you mean 'NAME'?`, or else the words there are, where they are few.
  static func hint(for word: String, among candidates: [String]) -> String? {
    if let nearest = nearest(to: word, among: candidates) { return "did you mean '\(nearest)'?" }
    guard !candidates.isEmpty, candidates.count <= 16 else { return nil }
    return "known here: \(candidates.sorted().joined(separator: ", "))"
  }

  static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...second.count)
    for (row, byte) in first.enumerated() {
      var current = [row + 1]
      for (column, other) in second.enumerated() {
        var cost = min(
          previous[column + 1] + 1, current[column] + 1,
          previous[column] + (byte == other ? 0 : 1))
        if row > 0, column > 0, byte == second[column - 1], first[row - 1] == other {
          cost = min(cost, beforePrevious[column - 1] + 1)
        }
        current.append(cost)
      }
      (beforePrevious, previous) = (previous, current)
    }
    return previous[second.count]
  }
}
