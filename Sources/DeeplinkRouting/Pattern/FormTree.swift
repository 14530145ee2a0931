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
  /// The bytes of the nodes' labels.
  private var text: [UInt8] = []
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
      payload: payload, names: form.groupNames, requiredParameters: requiredParameters,
      order: order,
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
    var walk = FormWalk(nodes: nodes, text: text, key: FormKey(target))
    walk.run(from: root)
    steps += walk.steps
    var fits: [(rank: Specificity, entry: FormLeaf<Payload>.Entry, groups: [ArraySlice<UInt8>])] =
      []
    for leaf in walk.found {
      guard let groups = leaves[leaf].form.groups(in: target) else { continue }
      for entry in leaves[leaf].entries {
        fits.append((leaves[leaf].specificity, entry, groups))
      }
    }
    fits.sort { $0.rank == $1.rank ? $0.entry.precedes($1.entry) : $0.rank > $1.rank }
    return fits.map { _, entry, groups in
      Match(payload: entry.payload, captures: CapturedValue.pair(entry.names, groups))
    }
  }

  // MARK: Building

  private func leaf(_ shape: FormShape, at node: Int) -> Int? {
    shape.takesEmptyOrRoot
      ? nodes[node].emptyOrRootLeaves.first { leaves[$0].form.shape == shape }
      : nodes[node].leaves.first { leaves[$0].form.shape == shape }
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
          let start = Int32(text.count)
          text += rest
          let leaf = add(FormNode(label: start..<Int32(text.count)))
          nodes[node].setLiteral(first, leaf)
          return leaf
        }
        let label = label(of: next)
        let shared = zip(label, rest).prefix { $0 == $1 }.count
        node = shared == label.count ? next : split(next, of: node, after: shared)
        rest = rest.dropFirst(shared)
      }
      return node
    }
  }

  private func label(of node: Int) -> ArraySlice<UInt8> {
    text[Int(nodes[node].label.lowerBound)..<Int(nodes[node].label.upperBound)]
  }

  /// Puts a node for the first bytes of a label between it and its parent.
  private mutating func split(_ node: Int, of parent: Int, after count: Int) -> Int {
    let label = nodes[node].label
    let middle = label.lowerBound + Int32(count)
    var upper = FormNode(label: label.lowerBound..<middle)
    upper.setLiteral(text[Int(middle)], node)
    nodes[node].label = middle..<label.upperBound
    let index = add(upper)
    nodes[parent].setLiteral(text[Int(label.lowerBound)], index)
    return index
  }

  private func existingChild(of parent: Int, _ step: FormStep) -> Int? {
    switch step {
    case .name: return nodes[parent].name
    case .wildcard: return nodes[parent].wildcard
    case .literal(let bytes):
      var (node, rest) = (parent, bytes[...])
      while let first = rest.first {
        guard let next = nodes[node].literal(first) else { return nil }
        let label = label(of: next)
        guard rest.starts(with: label) else { return nil }
        node = next
        rest = rest.dropFirst(label.count)
      }
      return node
    }
  }
}
