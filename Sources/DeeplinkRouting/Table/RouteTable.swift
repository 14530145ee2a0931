/// All routes of all enabled plugins: which of them a link matches, the most specific first.
///
/// A scheme has one owner. Its circle, the owner and those of `sharedWith` that claim the scheme
/// too, is all that a link on it can reach; the forms of a circle are in one tree, and schemes with
/// the same circle share it. The table is a value: it is built anew when a plugin changes, and the
/// old one serves whoever holds it.
public struct RouteTable: Sendable {
  public let plugins: [Plugin]
  /// The registered schemes, sorted.
  public let schemes: [Scheme]
  /// Routes that were left out because too many share their form.
  public let diagnostics: [Diagnostic]

  /// Where a form comes from.
  struct Origin: Sendable, Hashable {
    var plugin: Int
    var route: Int
    var pattern: Int
  }

  /// The plugins that count on a scheme, the owner first, and their forms.
  struct Circle: Sendable {
    var members: [Int]
    var tree: FormTree<Origin>
  }

  private let circles: [Circle]
  private let circleOfScheme: [Scheme: Int]
  /// The circle of a plugin alone, for those that open links of web domains.
  private let circleOfPlugin: [PluginID: Int]

  /// - Parameters:
  ///   - plugins: The enabled ones, in the order in which they were added: of two that claim a
  ///     scheme the first owns it.
  ///   - choices: The person's own choices of owners; one of a plugin that is gone, or does not
  ///     claim the scheme, does not count.
  public init(plugins: [Plugin], owners choices: [Scheme: PluginID] = [:]) {
    var claims: [Scheme: [Int]] = [:]
    for (index, plugin) in plugins.enumerated() {
      for scheme in plugin.schemes { claims[scheme, default: []].append(index) }
    }
    var indexOfMembers: [[Int]: Int] = [:]
    var circleOfScheme: [Scheme: Int] = [:]
    var circles: [Circle] = []
    var diagnostics: [Diagnostic] = []
    func circle(_ members: [Int]) -> Int {
      if let known = indexOfMembers[members] { return known }
      indexOfMembers[members] = circles.count
      let tree = Self.tree(of: members, plugins, diagnostics: &diagnostics)
      circles.append(Circle(members: members, tree: tree))
      return circles.count - 1
    }
    for (scheme, claimants) in claims.sorted(by: { $0.key < $1.key }) {
      let chosen = claimants.first { plugins[$0].id == choices[scheme] }
      guard let owner = chosen ?? claimants.first else { continue }
      let members =
        [owner]
        + claimants.filter { $0 != owner && plugins[owner].sharedWith.contains(plugins[$0].id) }
      circleOfScheme[scheme] = circle(members)
    }
    var circleOfPlugin: [PluginID: Int] = [:]
    for (index, plugin) in plugins.enumerated() where !plugin.associatedDomains.isEmpty {
      circleOfPlugin[plugin.id] = circle([index])
    }
    self.plugins = plugins
    self.schemes = claims.keys.sorted()
    self.circles = circles
    self.circleOfScheme = circleOfScheme
    self.circleOfPlugin = circleOfPlugin
    self.diagnostics = diagnostics
  }

  private static func tree(
    of members: [Int], _ plugins: [Plugin], diagnostics: inout [Diagnostic]
  ) -> FormTree<Origin> {
    var tree = FormTree<Origin>()
    var order = 0
    for member in members {
      let plugin = plugins[member]
      for (index, route) in plugin.routes.enumerated() {
        var seen: Set<FormShape> = []
        for (place, pattern) in route.patterns.enumerated() {
          let captured = pattern.captures.map(\.name)
          let required = route.parameters.count { $0.isRequired && !captured.contains($0.name) }
          let origin = Origin(plugin: member, route: index, pattern: place)
          for form in pattern.forms where seen.insert(form.shape).inserted {
            do throws(FormTree<Origin>.TooManyRoutes) {
              try tree.insert(form, payload: origin, requiredParameters: required, order: order)
            } catch {
              diagnostics.append(
                Diagnostic(
                  .error, file: plugin.folder.map { PluginFolder(path: $0).manifestPath } ?? "",
                  path: "$.routes[\(index)].match",
                  reason: "too many routes of several plugins share '\(pattern)', ignoring this one"
                ))
            }
          }
        }
        order += 1
      }
    }
    return tree
  }

  /// The plugin whose links a scheme's are, or nil where it is not registered.
  public func owner(of scheme: Scheme) -> Plugin? {
    circle(of: scheme).map { plugins[$0.members[0]] }
  }

  /// The plugins whose routes count on a scheme, the owner first.
  public func members(of scheme: Scheme) -> [Plugin] {
    circle(of: scheme)?.members.map { plugins[$0] } ?? []
  }

  public func plugin(_ id: PluginID) -> Plugin? { plugins.first { $0.id == id } }

  func circle(of scheme: Scheme) -> Circle? { circleOfScheme[scheme].map { circles[$0] } }

  func circle(of plugin: PluginID) -> Circle? { circleOfPlugin[plugin].map { circles[$0] } }
}
