extension Explanation {
  /// The explanation for people: one step after the other.
  ///
  /// Whatever comes from the link is percent-encoded or quoted as JSON quotes it, so it can not
  /// write to the terminal.
  public var text: String {
    var lines: [String] = []
    func add(_ title: String, _ text: String) {
      let padding = String(repeating: " ", count: max(1, 12 - title.count))
      lines.append("\(title)\(padding)\(text)")
    }
    add("bytes", "\(received.count)")
    if let url { add("url", secrets.mask(url).href) }
    if let canonical { add("canonical", secrets.mask(canonical).href) }
    for remark in remarks { add("remark", remark.description) }
    for candidate in candidates {
      add(
        candidate.matched ? "matches" : "no match",
        JSONValue.visible("\(candidate.plugin)/\(candidate.route): \(candidate.reason)"))
    }
    if let match {
      add("route", "\(match.plugin.id)/\(match.route.name)")
      if match.route.title != nil { add("title", JSONValue.visible(match.title)) }
      for (name, value) in parameters(match).sorted(by: { $0.key < $1.key }) {
        add("parameter", "\(Self.quoted(name)) = \(value)")
      }
      add("consent", "\(consent ?? "") (effect: \(match.route.effect.rawValue))")
      add("action", action(match).description)
    }
    if let refusal {
      add("refused", "\(refusal.code.rawValue): \(JSONValue.visible(refusal.message))")
      if let hint = refusal.hint { add("hint", hint) }
    } else {
      add("accepted", "nothing was run")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A plain name as it is, any other in quotes.
  private static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.".utf8.contains(byte)
    }
    return isPlain && !name.isEmpty ? name : JSONValue.string(name).description
  }
}
