/// What can be said about a route only when all of it is known (DESIGN.md section 5).
///
/// The checks are about links: a link chooses the values, so no value may choose the program, an
/// option of it, or code that an interpreter runs, and no secret may stand where others read it.
struct RouteChecks {
  private let route: Route
  private let reader: ObjectReader

  init(_ route: Route, reader: ObjectReader) {
    self.route = route
    self.reader = reader
  }

  func run() {
    if let title = route.title {
      checkNames(title.names, at: reader.path(of: "title"))
    }
    let path = "\(reader.path(of: "action")).\(route.action.kind.rawValue)"
    switch route.action {
    case .application, .handler, .worker: break
    case .command(let command): check(command, at: "\(path).run")
    case .call(let call):
      for (index, argument) in call.arguments.enumerated() {
        checkNames(argument.names, at: "\(path).arguments[\(index)]")
      }
    case .open(let open):
      checkNames(open.url.template.names, at: "\(path).url")
      warnOfSecrets(open.url.template, at: "\(path).url", "leaves with the URL")
    case .notify(let notify):
      for (key, template) in [("title", notify.title), ("body", notify.body)] {
        guard let template else { continue }
        checkNames(template.names, at: "\(path).\(key)")
        warnOfSecrets(template, at: "\(path).\(key)", "is shown on the screen")
      }
    }
  }

  private func checkNames(_ names: [String], at path: String) {
    // Without its patterns, which have been reported, it is not known what the route captures.
    guard !route.patterns.isEmpty else { return }
    let known = route.parameters.map(\.name) + Template.facts
    for name in names where !known.contains(name) {
      reader.diagnostics.error(
        path, "'{\(name)}' is no parameter of the route",
        hint: Suggestion.hint(for: name, among: known))
    }
  }

  // MARK: commands

  private func check(_ command: Action.Command, at path: String) {
    if command.run.first?.literal == nil {
      reader.diagnostics.error(
        "\(path)[0]", "the program must be written out", hint: "a link never chooses what is run")
    }
    var optionsHaveEnded = false
    for (index, argument) in command.run.enumerated().dropFirst() {
      let place = "\(path)[\(index)]"
      checkNames(argument.names, at: place)
      checkSecrets(argument, at: place)
      if argument.literal == "--" { optionsHaveEnded = true }
      if !optionsHaveEnded, mayBeOption(argument) {
        reader.diagnostics.error(
          place, "begins with a parameter, which may begin with '-' and be taken for an option",
          hint: "put \"--\" before it, or declare a type that can not")
      }
    }
    if let index = indexOfCode(in: command.run), command.run[index].literal == nil {
      reader.diagnostics.error(
        "\(path)[\(index)]", "a parameter would become code that an interpreter runs",
        hint: "pass it as an argument of its own after the code: \"$1\" in a shell")
    }
  }

  /// Whether a link can make the argument begin with `-` although the author's text does not.
  private func mayBeOption(_ argument: Template) -> Bool {
    for (index, piece) in argument.pieces.enumerated() {
      switch piece {
      case .text(let text): return index > 0 && text.hasPrefix("-")
      case .name(let name):
        guard let parameter = route.parameter(name) else {
          // The delivery's facts: URLs begin with their scheme, ids with a digit; a source's name
          // is another program's to choose.
          return name == "source"
        }
        if parameter.canBeginWithHyphen { return true }
        if !parameter.canBeEmpty { return false }
      }
    }
    return false
  }

  private func isSecret(_ name: String) -> Bool {
    if let parameter = route.parameter(name) { return parameter.isSensitive }
    return (name == "url" || name == "rawURL") && route.parameters.contains(where: \.isSensitive)
  }

  private func checkSecrets(_ template: Template, at path: String) {
    for name in template.names where isSecret(name) {
      reader.diagnostics.error(
        path, "'{\(name)}' is sensitive, and arguments can be read by every process",
        hint: "use \"input\": \"context\", which hands parameters over on standard input")
    }
  }

  private func warnOfSecrets(_ template: Template, at path: String, _ consequence: String) {
    for name in template.names where isSecret(name) {
      reader.diagnostics.warning(path, "'{\(name)}' is sensitive, and \(consequence)")
    }
  }

  private static let interpreters = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "python", "python3", "perl", "ruby", "node",
    "lua", "php",
  ]

  /// Where the text after an interpreter's `-c` or `-e` stands: `sh -c CODE`, `env python3 -c CODE`.
  private func indexOfCode(in run: [Template]) -> Int? {
    let literals = run.map(\.literal)
    guard
      let interpreter = literals.firstIndex(where: { text in
        text.map { Self.interpreters.contains(String($0.split(separator: "/").last ?? "")) }
          == true
      }),
      let flag = literals[(interpreter + 1)...].firstIndex(where: { text in
        text.map { option in
          option.hasPrefix("-") && !option.hasPrefix("--")
            && option.contains { "ce".contains($0) }
        } == true
      })
    else { return nil }
    return literals[(flag + 1)...].firstIndex { $0?.hasPrefix("-") != true }
  }
}
