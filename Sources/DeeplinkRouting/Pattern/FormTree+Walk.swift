/// The search of the tree for the forms that can fit a URL.
///
/// It cannot blow up: a node is entered at most once for each place in the URL. A node that literal
/// text leads to has one way in; of a wildcard's runs to one end each is followed only as far as
/// none was before.
struct FormWalk {
  private struct Run: Hashable {
    var node: Int
    var end: Int
  }

  private let nodes: [FormNode]
  private let text: [UInt8]
  private let key: FormKey
  private var open: [(node: Int, place: Int)] = []
  /// Where the runs into a node that reach an end began, the lowest place.
  private var walked: [Run: Int] = [:]
  private(set) var found: [Int] = []
  /// How many times a node was looked at.
  private(set) var steps = 0

  init(nodes: [FormNode], text: [UInt8], key: FormKey) {
    self.nodes = nodes
    self.text = text
    self.key = key
  }

  mutating func run(from root: Int) {
    open.append((root, 0))
    while let (index, place) = open.popLast() {
      steps += 1
      if place == key.bytes.count { found += nodes[index].leaves }
      if key.isEmptyOrRoot(place) { found += nodes[index].emptyOrRootLeaves }
      if place < key.bytes.count, let next = nodes[index].literal(key.bytes[place]) {
        let label = text[Int(nodes[next].label.lowerBound)..<Int(nodes[next].label.upperBound)]
        if key.has(label, at: place) { open.append((next, place + label.count)) }
      }
      if let name = nodes[index].name, key.segmentEnd[place] > place {
        enter(name, from: place + 1, to: key.segmentEnd[place])
      }
      if let wildcard = nodes[index].wildcard {
        enter(wildcard, from: place, to: key.componentEnd(place))
      }
    }
  }

  /// Enters a wildcard's child at each place up to the end that no run to it reached before.
  private mutating func enter(_ index: Int, from first: Int, to end: Int) {
    let run = Run(node: index, end: end)
    let limit = walked[run] ?? end + 1
    guard first < limit else { return }
    walked[run] = first
    for place in first..<limit {
      steps += 1
      if nodes[index].name != nil || nodes[index].wildcard != nil || place == key.bytes.count
        || nodes[index].literal(key.bytes[place]) != nil
      {
        open.append((index, place))
      }
    }
  }
}
