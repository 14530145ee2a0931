// Manifests, the table made of them and the explanation of a link: no trap, every refusal has its
// place, and what was read is read back. The input is a manifest, and after a NUL a link.
//
//     packaging/fuzz Manifest 120

@c(LLVMFuzzerTestOneInput)
public func fuzzOne(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
  let manifest = Array(parts[0])
  if let document = try? JSONValue(json5: manifest) {
    let text = document.description
    guard let again = try? JSONValue(json5: text), again.description == text else {
      fatalError("what is written does not read back")
    }
  }
  let (plugin, diagnostics) = Plugin.read(manifest, file: "plugin.json", folder: "/plugin")
  precondition((plugin == nil) == diagnostics.contains { $0.severity == .error })
  precondition(
    diagnostics.allSatisfy { $0.path.hasPrefix("$") && !$0.description.contains("\u{1B}") })
  guard let plugin, parts.count == 2 else { return 0 }
  let table = RouteTable(plugins: [plugin])
  let explanation = explain(Array(parts[1]), table: table)
  precondition(explanation.accepted == (explanation.match != nil))
  precondition((try? JSONValue(json5: explanation.json.description)) != nil)
  precondition(explanation.text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
  if let link = try? Link(admitting: Array(parts[1])) {
    let matches = (try? table.matches(for: link)) ?? []
    precondition(matches.first?.route.name == explanation.match?.route.name)
    for match in matches { check(match) }
  }
  return 0
}

private func check(_ match: Match) {
  let facts = Substitution.Facts(url: "a:b", rawURL: "a:b", id: "1", source: "", delivery: "launch")
  let substitution = match.substitution(facts)
  _ = match.title
  switch match.route.action {
  case .command(let command):
    let arguments = command.arguments(substitution)
    precondition(arguments.count == command.run.count)
    precondition(arguments.allSatisfy { !$0.utf8.contains(0) })
  case .call(let call): precondition(call.values(substitution).count == call.arguments.count)
  case .open(let open):
    guard let url = open.url(substitution), let parsed = try? ParsedURL.parse(url) else { return }
    precondition(parsed.scheme == open.url.scheme.text)
  default: break
  }
}
