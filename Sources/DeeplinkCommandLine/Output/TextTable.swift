/// Rows for people: aligned under a head on a terminal, elsewhere one row a line, its cells divided
/// by tabs, for `cut` and `awk`.
struct TextTable {
  let head: [String]
  private(set) var rows: [[String]] = []

  init(_ head: String...) { self.head = head }

  mutating func add(_ cells: String...) { rows.append(cells.map(\.visible)) }

  func write(to output: Output) {
    guard output.isTerminal else {
      for row in rows { output.line(row.joined(separator: "\t")) }
      return
    }
    guard !rows.isEmpty else { return }
    let widths = head.indices.map { column in
      ([head] + rows).map { $0[column].count }.max() ?? 0
    }
    func text(_ row: [String]) -> String {
      let last = row.count - 1
      return row.enumerated().map { column, cell in
        column == last ? cell : cell.padded(to: widths[column] + 2)
      }.joined()
    }
    output.line(output.styled(text(head), .bold))
    for row in rows { output.line(text(row)) }
  }
}

/// What is known of one thing, a line each: `pending   3`.
struct Facts {
  private var lines: [(title: String, text: String)] = []

  mutating func add(_ title: String, _ text: String) { lines.append((title, text.visible)) }

  func write(to output: Output) {
    let width = (lines.map(\.title.count).max() ?? 0) + 2
    for line in lines {
      output.line(output.styled(line.title.padded(to: width), .bold) + line.text)
    }
  }
}
