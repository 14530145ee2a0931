import DeeplinkDesktop
import DeeplinkRouting

/// The doctor's look at the desktop's files: who opens the links of a scheme, and how.
struct DesktopChecks {
  private let context: Context
  private let catalog: PluginCatalog
  private let table: RouteTable
  private let handlers: Handlers

  /// The daemon's own, which brings the links that test the way.
  static let ownEntry = "org.deeplinkd.Deeplinkd.desktop"

  init(_ context: Context) {
    self.context = context
    catalog = context.plugins()
    table = context.table(of: catalog)
    handlers = Handlers(
      directories: context.directories, desktops: Handlers.desktops(context.environment))
  }

  /// Everything of one scheme, or of all.
  func all(_ wanted: String?) -> [Check] {
    var checks: [Check] = []
    for scheme in table.schemes where wanted == nil || scheme.text == wanted {
      guard let owner = table.owner(of: scheme) else { continue }
      checks += entryChecks(scheme, HandlerEntry.id(of: owner.id), owner: owner.id)
    }
    return checks + leftOver() + entryChecks("org.deeplinkd", Self.ownEntry, owner: nil)
  }

  /// Entries of plugins that are gone: links that come by them are refused.
  private func leftOver() -> [Check] {
    let folder = "\(context.directories.dataHome)/applications/"
    let known = Set(catalog.ids.map { "\($0)\(HandlerEntry.suffix)" })
    return handlers.entries.values.filter { entry in
      entry.id.hasSuffix(HandlerEntry.suffix) && entry.path.hasPrefix(folder)
        && !known.contains(entry.id)
    }.sorted { $0.id < $1.id }.map { entry in
      .warning(
        "left-over", "\(entry.path) is of a plugin that is not there",
        mend: "rm '\(entry.path)' && update-desktop-database '\(folder.dropLast())'")
    }
  }

  // MARK: Entries

  private func entryChecks(_ scheme: Scheme, _ id: String, owner: PluginID?) -> [Check] {
    var checks: [Check] = []
    let register =
      owner == nil ? "install deeplinkd again" : "deeplink doctor --repair \(scheme)"
    func check(_ name: String, _ isGood: Bool, _ found: String, mend: String? = nil) {
      checks.append(
        Check(
          name: name, scheme: scheme.text, state: isGood ? .good : .bad, found: found,
          mend: isGood ? nil : mend ?? register,
          isMendable: !isGood && mend == nil && owner != nil))
    }
    let take = owner.map { "deeplink plugin enable --make-default \($0)" } ?? register
    let others = handlers.candidates(for: scheme).filter { $0 != id }
    let chosen = handlers.chosen(for: scheme)
    if let chosen, chosen.entry != id {
      check("default", false, "\(chosen.layer) gives it to \(chosen.entry)", mend: take)
      return checks
    }
    if chosen == nil, let other = others.first {
      check("default", false, "\(other) claims it, and no list says whose it is", mend: take)
      return checks
    }
    guard let entry = handlers.entries[id] else { return [missing(id, scheme, owner, register)] }
    check("entry", true, entry.path)
    checks += EntryChecks(entry, scheme, context, owner: owner, register: register).all()
    if let list = handlers.removal(of: id, for: scheme.mimeType) {
      check("association", false, "\(list) takes it out")
    }
    check(
      "default", chosen != nil || owner == nil,
      chosen.map { "\($0.layer) names it" }
        ?? (owner == nil
          ? "no list gives it to another" : "no mimeapps.list names it\(instead(scheme))"))
    check(
      "alone", others.isEmpty,
      others.isEmpty
        ? "no other entry claims it" : "a portal asks: \(others.joined(separator: ", ")) too",
      mend: take)
    // Where nothing is wrong that we know of, the desktop's own tools have the last word.
    if checks.allSatisfy({ $0.state == .good }) { checks += asked(scheme, id) }
    return checks
  }

  /// What stands where the default should.
  private func instead(_ scheme: Scheme) -> String {
    for layer in handlers.layers {
      let ids = layer.list.entries(of: scheme.mimeType, in: .defaults)
      if let gone = ids.first(where: { handlers.entries[$0] == nil }) {
        return ": \(layer.path) has \(gone), which is not there"
      }
    }
    let list = "\(context.directories.configHome)/mimeapps.list"
    if PlaceChecks.isDangling(list) { return ": \(list) is a symbolic link to nothing" }
    return PlaceChecks.facts(list) == nil ? ": \(list) is not there" : ": \(list) has no word on it"
  }

  private func missing(
    _ id: String, _ scheme: Scheme, _ owner: PluginID?, _ register: String
  ) -> Check {
    let path = "\(context.directories.dataHome)/applications/\(id)"
    func bad(_ found: String, _ mend: String?) -> Check {
      Check(
        name: "entry", scheme: scheme.text, state: .bad, found: found, mend: mend ?? register,
        isMendable: mend == nil && owner != nil)
    }
    do throws(PersonFile.Failure) {
      return try PersonFile(path).read() == nil
        ? bad(
          PlaceChecks.isDangling(path)
            ? "\(path) is a symbolic link to nothing" : "there is no entry \(id)", nil)
        : bad("\(path) is no desktop entry", nil)
    } catch {
      return bad("\(path) cannot be read: \(error.reason)", PlaceChecks.access(path))
    }
  }

  /// What the desktop's own tools say: `xdg-mime`, which xdg-open asks, and GLib, which browsers do.
  private func asked(_ scheme: Scheme, _ id: String) -> [Check] {
    let type = scheme.mimeType
    // Words that are read here are not to be translated.
    let environment = context.environment.merging(["LC_ALL": "C.UTF-8", "LANGUAGE": ""]) { $1 }
    return [["xdg-mime", "query", "default", type], ["gio", "mime", type]].compactMap { command in
      guard let tool = Tool.run(command, environment: environment) else { return nil }
      let words = command.joined(separator: " ")
      // "Default application for …: ID", or "No default applications for …"
      let line = tool.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      let answer = String(line.split(separator: " ").last ?? "")
      let name = command[0]
      if answer == id { return .good(name, "`\(words)` names it", scheme: scheme.text) }
      let named = answer.hasSuffix(".desktop") ? answer : "nothing"
      let version = context.environment["KDE_SESSION_VERSION"]
      return .bad(
        name, "`\(words)` names \(named), not \(id)", scheme: scheme.text,
        mend: version.map { "kbuildsycoca\($0)" } ?? "xdg-mime default \(id) \(type)")
    }
  }
}
