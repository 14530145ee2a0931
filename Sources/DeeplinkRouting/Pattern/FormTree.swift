/// The forms of many routes in one tree: which of them fit a URL, the most specific first.
///
/// The tree is a radix tree over the URL's bytes, whose nodes may also have a child for a name and
/// one for a wildcard. It finds the forms that can fit; each then matches for itself, which also
/// gives the values. So the cost of a match grows with the length of the URL and the forms that
/// fit it, not with the number of forms.
public struct FormTree<Payload: Sendable>: Sendable {
  /// A route's form that fits a URL.
  public struct Match: Sendable {
    public let payload: Payload
    /// The raw values of the form's names; what an absent optional group would hold is not there.
    public let captures: [CapturedValue]
  }

  /// More than `maximumSharing` routes would share a form.
  public struct TooManyRoutes: Error, Hashable, Sendable {}

  /// How many routes may have the same form, names aside.
  public static var maximumSharing: Int { 64 }

  private var nodes: [FormNode] = []
  private var leaves: [FormLeaf<Payload>] = []
  private var roots: [Form.Kind: Int] = [:]
  private var insertions = 0

  public init() {}

  /// Adds a form of a route.
  ///
  /// - Parameters:
  ///   - requiredParameters: how many parameters the route requires: of two forms that are equally
  ///     specific the one with more goes first.
  ///   - order: the route's place in its manifest: breaks what ties are left.
  public mutating func insert(
    _ form: Form, payload: Payload, requiredParameters: Int, order: Int
  ) throws(TooManyRoutes) {
    var node = root(form.kind)
    for step in form.shape.steps { node = child(of: node, step) }
    insertions += 1
    let entry = FormLeaf<Payload>.Entry(
      payload: payload, names: form.names, requiredParameters: requiredParameters, order: order,
      sequence: insertions)
    if let leaf = leaf(form.shape, at: node) {
      guard leaves[leaf].entries.count < Self.maximumSharing else { throw TooManyRoutes() }
      let index = leaves[leaf].entries.firstIndex { entry.precedes($0) }
      leaves[leaf].entries.insert(entry, at: index ?? leaves[leaf].entries.count)
    } else {
      nodes[node].add(leaf: leaves.count, takesEmptyOrRoot: form.shape.takesEmptyOrRoot)
      leaves.append(
        FormLeaf(form: form, specificity: Specificity(form.shape), entries: [entry]))
    }
  }

  /// The payloads of the routes that have this form, names aside.
  public func routesSharing(_ form: Form) -> [Payload] {
    guard var node = roots[form.kind] else { return [] }
    for step in form.shape.steps {
      guard let next = existingChild(of: node, step) else { return [] }
      node = next
    }
    return leaf(form.shape, at: node).map { leaves[$0].entries.map(\.payload) } ?? []
  }

  /// The forms that fit a canonical URL, the most specific first.
  public func matches(url: ParsedURL) -> [Match] {
    var steps = 0
    return matches(url: url, steps: &steps)
  }

  /// As `matches(url:)`, and counts the places entered.
  func matches(url: ParsedURL, steps: inout Int) -> [Match] {
    let target = FormTarget(url)
    guard let root = roots[target.kind] else { return [] }
    var walk = FormWalk(nodes: nodes, key: FormKey(target))
    walk.run(from: root)
    steps += walk.steps
    var fits: [(rank: Specificity, entry: FormLeaf<Payload>.Entry, values: [String])] = []
    for leaf in walk.found.lazy.map({ leaves[$0] }) {
      guard let values = leaf.form.values(in: target) else { continue }
      fits += leaf.entries.map { (leaf.specificity, $0, values) }
    }
    fits.sort { $0.rank == $1.rank ? $0.entry.precedes($1.entry) : $0.rank > $1.rank }
    return fits.map { _, entry, values in
      Match(payload: entry.payload, captures: zip(entry.names, values).map(CapturedValue.init))
    }
  }

  // MARK: Building

  private func leaf(_ shape: FormShape, at node: Int) -> Int? {
    (nodes[node].leaves + nodes[node].emptyOrRootLeaves).first { leaves[$0].form.shape == shape }
  }

  private mutating func root(_ kind: Form.Kind) -> Int {
    if let root = roots[kind] { return root }
    let root = add(FormNode())
    roots[kind] = root
    return root
  }

  private mutating func add(_ node: FormNode) -> Int {
    nodes.append(node)
    return nodes.count - 1
  }

  private mutating func child(of parent: Int, _ step: FormStep) -> Int {
    switch step {
    case .name:
      if let name = nodes[parent].name { return name }
      let name = add(FormNode())
      nodes[parent].name = name
      return name
    case .wildcard:
      if let wildcard = nodes[parent].wildcard { return wildcard }
      let wildcard = add(FormNode())
      nodes[parent].wildcard = wildcard
      return wildcard
    case .literal(let bytes):
      var (node, rest) = (parent, bytes[...])
      while let first = rest.first {
        guard let next = nodes[node].literal(first) else {
          let leaf = add(FormNode(label: Array(rest)))
          nodes[node].setLiteral(first, leaf)
          return leaf
        }
        let shared = zip(nodes[next].label, rest).prefix { $0 == $1 }.count
        node = shared == nodes[next].label.count ? next : split(next, of: node, after: shared)
        rest = rest.dropFirst(shared)
      }
      return node
    }
  }

  /// Puts a node for the first bytes of a label between it and its parent.
  private mutating func split(_ node: Int, of parent: Int, after count: Int) -> Int {
    let label = nodes[node].label
    var upper = FormNode(label: Array(label[..<count]))
    upper.setLiteral(label[count], node)
    nodes[node].label = Array(label[count...])
    let index = add(upper)
    nodes[parent].setLiteral(label[0], index)
    return index
  }

  private func existingChild(of parent: Int, _ step: FormStep) -> Int? {
    switch step {
    case .name: return nodes[parent].name
    case .wildcard: return nodes[parent].wildcard
    case .literal(let bytes):
      var (node, rest) = (parent, bytes[...])
      while let first = rest.first {
        guard let next = nodes[node].literal(first), rest.starts(with: nodes[next].label)
        else { return nil }
        node = next
        rest = rest.dropFirst(nodes[next].label.count)
      }
      return node
    }
  }
}
