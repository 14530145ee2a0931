/// A node of the tree of forms, reached by the bytes of its label, by a name or by a wildcard.
struct FormNode: Sendable {
  /// The bytes that lead here from the parent; none for a wildcard's child.
  var label: [UInt8] = []
  /// The children that literal text leads to, ordered by their label's first byte.
  private(set) var literals: [(byte: UInt8, node: Int)] = []
  var name: Int?
  var wildcard: Int?
  /// The leaves of the forms that end here, at the URL's end.
  private(set) var leaves: [Int] = []
  /// The leaves of the forms that end here, at an empty path or at a slash.
  private(set) var emptyOrRootLeaves: [Int] = []

  mutating func add(leaf: Int, takesEmptyOrRoot: Bool) {
    if takesEmptyOrRoot { emptyOrRootLeaves.append(leaf) } else { leaves.append(leaf) }
  }

  func literal(_ byte: UInt8) -> Int? {
    let index = position(of: byte)
    guard index < literals.count, literals[index].byte == byte else { return nil }
    return literals[index].node
  }

  mutating func setLiteral(_ byte: UInt8, _ node: Int) {
    let index = position(of: byte)
    if index < literals.count, literals[index].byte == byte {
      literals[index].node = node
    } else {
      literals.insert((byte, node), at: index)
    }
  }

  private func position(of byte: UInt8) -> Int {
    var (low, high) = (0, literals.count)
    while low < high {
      let middle = (low + high) / 2
      if literals[middle].byte < byte { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// What leads from one node to the next.
///
/// Repeated text and names take more here than they match: the form that is found that way is
/// still asked itself.
enum FormStep: Hashable {
  case literal([UInt8])
  case name
  case wildcard
}

extension FormShape {
  /// What separates host, port and path in the tree: no canonical URL has this byte.
  static let separator: UInt8 = 0

  /// The way to this shape's node.
  var steps: [FormStep] {
    guard kind == .authority else { return FormShape.steps(path) }
    let separator = FormStep.literal([FormShape.separator])
    return FormShape.steps(host) + [separator] + FormShape.steps(port) + [separator]
      + FormShape.steps(path)
  }

  private static func steps(_ atoms: [Atom]) -> [FormStep] {
    atoms.flatMap { atom -> [FormStep] in
      switch atom {
      case .literal(let bytes): [.literal(bytes)]
      case .name: [.name]
      case .names: [.name, .wildcard]
      case .repeated(let bytes): [.literal(bytes), .wildcard]
      case .wildcard: [.wildcard]
      }
    }
  }
}

/// A URL as the tree reads it: host, port and path in one row of bytes.
struct FormKey {
  let bytes: [UInt8]
  /// For each place where the segment it lies in ends.
  let segmentEnd: [Int]
  private let hostEnd: Int
  private let portEnd: Int
  private let isAuthority: Bool

  init(_ target: FormTarget) {
    isAuthority = target.kind == .authority
    var bytes: [UInt8] = []
    if isAuthority {
      bytes.reserveCapacity(target.host.count + target.port.count + target.path.count + 2)
      bytes += target.host + [FormShape.separator] + target.port + [FormShape.separator]
      hostEnd = target.host.count
      portEnd = hostEnd + 1 + target.port.count
    } else {
      (hostEnd, portEnd) = (-1, -1)
    }
    bytes += target.path
    var segmentEnd = [Int](repeating: bytes.count, count: bytes.count + 1)
    var end = bytes.count
    for place in bytes.indices.reversed() {
      let byte = bytes[place]
      let delimiter = UInt8(ascii: place < hostEnd ? "." : "/")
      if byte == FormShape.separator || byte == delimiter { end = place }
      segmentEnd[place] = end
    }
    self.bytes = bytes
    self.segmentEnd = segmentEnd
  }

  /// Where the host, port or path that a place lies in ends.
  func componentEnd(_ place: Int) -> Int {
    place <= hostEnd ? hostEnd : place <= portEnd ? portEnd : bytes.count
  }

  /// Whether a path begins here that is empty or a slash.
  func isEmptyOrRoot(_ place: Int) -> Bool {
    isAuthority && place == portEnd + 1
      && (place == bytes.count || place == bytes.count - 1 && bytes[place] == UInt8(ascii: "/"))
  }

  func has(_ label: [UInt8], at place: Int) -> Bool {
    guard bytes.count - place >= label.count else { return false }
    for offset in label.indices where bytes[place + offset] != label[offset] { return false }
    return true
  }
}

/// The forms that end at one node with one shape, with their routes in the order of preference.
struct FormLeaf<Payload: Sendable>: Sendable {
  struct Entry: Sendable {
    let payload: Payload
    let names: [String]
    let requiredParameters: Int
    let order: Int
    /// The how-manieth insertion it was: what decides when nothing else does.
    let sequence: Int

    func precedes(_ other: Entry) -> Bool {
      if requiredParameters != other.requiredParameters {
        return requiredParameters > other.requiredParameters
      }
      return (order, sequence) < (other.order, other.sequence)
    }
  }

  let form: Form
  let specificity: Specificity
  var entries: [Entry]
}
