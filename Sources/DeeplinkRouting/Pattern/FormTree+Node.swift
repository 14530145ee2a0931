/// A node of the tree of forms, reached by the bytes of its label, by a name or by a wildcard.
///
/// It is small, since with many routes it is the cache that a walk waits for.
struct FormNode: Sendable {
  /// The bytes that lead here from the parent, a range of the tree's text; none for a wildcard's
  /// child.
  var label: Range<Int32>
  private var nameNode: Int32 = -1
  private var wildcardNode: Int32 = -1
  /// The children that literal text leads to, ordered by their label's first byte.
  private var literals: [(byte: UInt8, node: Int32)] = []
  private var ends: [End] = []

  init(label: Range<Int32> = 0..<0) { self.label = label }

  /// A leaf of a form that ends here.
  private struct End {
    let leaf: Int32
    let takesEmptyOrRoot: Bool
  }

  var name: Int? {
    get { nameNode < 0 ? nil : Int(nameNode) }
    set { nameNode = newValue.map { Int32($0) } ?? -1 }
  }

  var wildcard: Int? {
    get { wildcardNode < 0 ? nil : Int(wildcardNode) }
    set { wildcardNode = newValue.map { Int32($0) } ?? -1 }
  }

  /// The leaves of the forms that end here, at the URL's end.
  var leaves: some Sequence<Int> { ends.lazy.filter { !$0.takesEmptyOrRoot }.map { Int($0.leaf) } }
  /// The leaves of the forms that end here, at an empty path or at a slash.
  var emptyOrRootLeaves: some Sequence<Int> {
    ends.lazy.filter(\.takesEmptyOrRoot).map { Int($0.leaf) }
  }

  mutating func add(leaf: Int, takesEmptyOrRoot: Bool) {
    ends.append(End(leaf: Int32(leaf), takesEmptyOrRoot: takesEmptyOrRoot))
  }

  func literal(_ byte: UInt8) -> Int? {
    let index = position(of: byte)
    guard index < literals.count, literals[index].byte == byte else { return nil }
    return Int(literals[index].node)
  }

  mutating func setLiteral(_ byte: UInt8, _ node: Int) {
    let index = position(of: byte)
    if index < literals.count, literals[index].byte == byte {
      literals[index].node = Int32(node)
    } else {
      literals.insert((byte, Int32(node)), at: index)
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

  func has(_ label: ArraySlice<UInt8>, at place: Int) -> Bool {
    bytes.count - place >= label.count && bytes[place...].starts(with: label)
  }
}

/// The forms that end at one node with one shape, with their routes in the order of preference.
struct FormLeaf<Payload: Sendable>: Sendable {
  struct Entry: Sendable {
    let payload: Payload
    let names: [String?]
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
