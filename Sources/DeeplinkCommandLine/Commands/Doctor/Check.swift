/// One link of the chain: what was looked at, and what was found.
struct Check {
  enum State: String {
    case good = "ok"
    case warning
    case bad = "fault"
  }

  let name: String
  var scheme: String?
  let state: State
  let found: String
  /// A command or an advice; nil where nothing is wrong.
  var mend: String?
  /// Whether `--repair` does it.
  var isMendable = false

  static func good(_ name: String, _ found: String, scheme: String? = nil) -> Check {
    Check(name: name, scheme: scheme, state: .good, found: found)
  }

  static func warning(
    _ name: String, _ found: String, scheme: String? = nil, mend: String?
  ) -> Check {
    Check(name: name, scheme: scheme, state: .warning, found: found, mend: mend)
  }

  static func bad(_ name: String, _ found: String, scheme: String? = nil, mend: String?) -> Check {
    Check(name: name, scheme: scheme, state: .bad, found: found, mend: mend)
  }

  /// What tells it from other checks.
  var key: String { "\(name) \(scheme ?? "")" }
}
