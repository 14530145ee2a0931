/// Finds routes of one plugin that no link could tell apart, and forms that too many share.
enum RouteConflicts {
  /// All that decides between two routes; names that a pattern captures are told by their place.
  private struct Key: Hashable {
    var shape: FormShape
    var captured: [ValueRule]
    var given: [Parameter]
    var fragment: FragmentPattern?
    var additional: Route.AdditionalParameters
  }

  /// `places` are the indices that the routes have in the manifest.
  static func check(_ routes: [(index: Int, route: Route)], in diagnostics: Diagnostics) {
    var first: [Key: Int] = [:]
    var sharing: [FormShape: Int] = [:]
    for (index, route) in routes {
      var conflicts: [Int] = []
      for (form, pattern) in route.distinctForms {
        let shape = form.shape
        let key = key(form, of: route)
        if let other = first[key], other != index {
          if !conflicts.contains(other) { conflicts.append(other) }
        } else {
          first[key] = index
        }
        sharing[shape, default: 0] += 1
        if sharing[shape] == FormTree<Int>.maximumSharing + 1 {
          diagnostics.error(
            "$.routes[\(index)].match",
            "more than \(FormTree<Int>.maximumSharing) routes have the same form '\(pattern)'")
        }
      }
      for other in conflicts {
        diagnostics.error(
          "$.routes[\(index)].match",
          "takes the same links as $.routes[\(other)]: same form, same parameters",
          hint: "one of the two would never be used; remove it, or declare what tells them apart")
      }
    }
  }

  private static func key(_ form: Form, of route: Route) -> Key {
    Key(
      shape: form.shape, captured: form.names.compactMap { route.parameter($0)?.rule },
      given: route.parameters.filter { $0.place != .capture && !form.names.contains($0.name) },
      fragment: route.fragment, additional: route.additionalParameters)
  }
}

extension Route {
  /// The forms of all patterns, each once, with the pattern that it is of.
  fileprivate var distinctForms: [(Form, RoutePattern)] {
    var seen: Set<FormShape> = []
    return patterns.flatMap { pattern in pattern.forms.map { ($0, pattern) } }
      .filter { seen.insert($0.0.shape).inserted }
  }
}
