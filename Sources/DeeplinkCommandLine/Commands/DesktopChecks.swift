import CDeeplinkLinux
import DeeplinkDesktop
import DeeplinkRouting
import Glibc

/// The doctor's look at plugins and at the desktop's files.
struct DesktopChecks {
  private let context: Context
  private let catalog: PluginCatalog
  private let choices: PluginChoices
  private let table: RouteTable
  private let handlers: Handlers
  private let opener: String?

  init(_ context: Context) {
    self.context = context
    catalog = context.plugins()
    choices = PluginChoices(context.directories)
    table = choices.table(of: catalog.plugins)
    handlers = Handlers(
      directories: context.directories, desktops: Handlers.desktops(context.environment))
    opener = try? Registrar.opener()
  }

  /// Everything of one scheme, or of all.
  func all(_ wanted: String?) -> [Check] {
    var checks = pluginChecks(wanted)
    for scheme in table.schemes where wanted == nil || scheme.text == wanted {
      guard let owner = table.owner(of: scheme) else { continue }
      checks.append(
        Check(name: "plugin", scheme: scheme.text, state: .good, found: "'\(owner.id)' has it"))
      checks += nameChecks(scheme)
      checks += entryChecks(scheme, HandlerEntry.id(of: owner.id), owner: owner.id)
    }
    return checks + entryChecks("org.deeplinkd", "org.deeplinkd.Deeplinkd.desktop", owner: nil)
  }

  // MARK: Plugins

  private func pluginChecks(_ wanted: String?) -> [Check] {
    var checks = catalog.broken.map { broken in
      Check(
        name: "manifest", state: .bad, found: "\(broken.manifest) has an error: not in use",
        mend: "deeplink plugin check \(broken.id)")
    }
    let disabled = catalog.plugins.filter { choices.disabled.contains($0.id) }
    for plugin in disabled where wanted.map({ plugin.schemes.map(\.text).contains($0) }) ?? true {
      checks.append(
        Check(
          name: "enabled", state: wanted == nil ? .warning : .bad,
          found: "'\(plugin.id)' is switched off", mend: "deeplink plugin enable \(plugin.id)"))
    }
    if let wanted, !table.schemes.contains(where: { $0.text == wanted }) {
      checks.append(
        Check(
          name: "plugin", scheme: wanted, state: .bad, found: "no enabled plugin has the scheme",
          mend: "deeplink plugin add FOLDER installs one; `deeplink schemes` shows those there are")
      )
    }
    return checks
  }

  private func nameChecks(_ scheme: Scheme) -> [Check] {
    var checks: [Check] = []
    if !scheme.text.contains(".") {
      checks.append(
        Check(
          name: "name", scheme: scheme.text, state: .warning,
          found: "no reverse DNS: other apps may choose the same (RFC 7595)",
          mend: "its author can take one such as com.example.\(scheme)"))
    }
    if scheme.text.contains(where: { ("0"..."9").contains($0) }) {
      checks.append(
        Check(
          name: "digit", scheme: scheme.text, state: .warning,
          found: "xdg-open 1.1.3 takes links of a scheme with a digit for file names",
          mend: "other openers find it; a newer xdg-utils does too"))
    }
    return checks
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
    let others = handlers.candidates(for: scheme).filter { $0 != id }
    let chosen = handlers.chosen(for: scheme)
    if let chosen, chosen.entry != id {
      check(
        "default", false, "\(chosen.layer) gives it to \(chosen.entry)",
        mend: owner.map { "deeplink plugin enable --make-default \($0)" } ?? register)
      return checks
    }
    if chosen == nil, let other = others.first {
      check(
        "default", false, "\(other) claims it, and no list says whose it is",
        mend: owner.map { "deeplink plugin enable --make-default \($0)" } ?? register)
      return checks
    }
    guard let entry = handlers.entries[id] else {
      let path = "\(context.directories.dataHome)/applications/\(id)"
      let isThere = unsafe access(path, F_OK) == 0
      check(
        "entry", false, isThere ? "\(path) is no desktop entry" : "there is no entry \(id)")
      return checks
    }
    check("entry", true, entry.path)
    checkFile(entry, scheme, check)
    if let list = handlers.removal(of: id, for: scheme.mimeType) {
      check("association", false, "\(list) takes it out")
    }
    check(
      "default", chosen != nil || owner == nil,
      chosen.map { "\($0.layer) names it" } ?? "no mimeapps.list names it")
    check(
      "alone", others.isEmpty,
      others.isEmpty
        ? "no other entry claims it" : "a portal asks: \(others.joined(separator: ", ")) too",
      mend: owner.map { "deeplink plugin enable --make-default \($0)" })
    return checks
  }

  /// What stands in the entry, and whether the cache beside it knows.
  private func checkFile(
    _ entry: Handlers.Entry, _ scheme: Scheme,
    _ check: (_ name: String, _ isGood: Bool, _ found: String, _ mend: String?) -> Void
  ) {
    let type = scheme.mimeType
    let claims = entry.entry.mimeTypes.contains(type) && !entry.entry.isHidden
    let hides = entry.hidden.first { path in
      let bytes = (try? PersonFile(path).read()) ?? nil
      let hidden = DesktopEntry(String(decoding: bytes ?? [], as: UTF8.self))
      return hidden?.mimeTypes.contains(type) == true
    }
    let shadow = hides.map { "\(entry.path) hides \($0)" }
    check(
      "claim", claims,
      claims ? "it claims the scheme" : shadow ?? "\(entry.path) does not claim it",
      nil)
    if let tool = Tool.run(["desktop-file-validate", entry.path], environment: context.environment)
    {
      check(
        "valid", tool.status == 0,
        tool.status == 0 ? "desktop-file-validate has no complaint" : tool.text, nil)
    }
    let words = (entry.entry.string("Exec") ?? "").split(separator: " ").map(String.init)
    let isPlain = words.count == 3 && words[1...] == ["--", "%u"]
    check("field-code", isPlain, "Exec=\(words.joined(separator: " "))", nil)
    let program = words.first ?? ""
    let isThere = unsafe access(program, X_OK) == 0
    let isStale = opener.map { !Self.isSameFile($0, program) } ?? false
    check(
      "program", isThere && !isStale,
      !isThere
        ? "'\(program)' is not there"
        : isStale ? "it starts '\(program)', not '\(opener ?? "")'" : program,
      nil)
    check(
      "token", entry.entry.boolean("StartupNotify"),
      "StartupNotify=\(entry.entry.string("StartupNotify") ?? "")", nil)
    let folder = String(entry.path.dropLast(entry.id.count + 1))
    let cache = (try? PersonFile("\(folder)/mimeinfo.cache").read()) ?? nil
    let isCached = MIMECache(cache ?? []).entries[type]?.contains(entry.id) == true
    check(
      "cache", isCached,
      cache == nil
        ? "\(folder) has no mimeinfo.cache"
        : isCached ? "\(folder)/mimeinfo.cache has it" : "\(folder)/mimeinfo.cache is old",
      folder.hasPrefix(context.directories.dataHome) ? nil : "update-desktop-database \(folder)")
  }

  /// By whatever links.
  private static func isSameFile(_ first: String, _ second: String) -> Bool {
    var facts = (stat(), stat())
    guard unsafe stat(first, &facts.0) == 0, unsafe stat(second, &facts.1) == 0 else {
      return false
    }
    return facts.0.st_dev == facts.1.st_dev && facts.0.st_ino == facts.1.st_ino
  }
}
