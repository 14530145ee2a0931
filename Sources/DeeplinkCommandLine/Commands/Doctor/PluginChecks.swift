import DeeplinkActions
import DeeplinkDesktop
import DeeplinkRouting
import Glibc

/// The doctor's look at plugins: whether they are in use, whose a scheme is, and whether what they start
/// can be started.
struct PluginChecks {
  private let context: Context
  private let catalog: PluginCatalog
  private let choices: PluginChoices
  private let table: RouteTable

  init(_ context: Context) {
    self.context = context
    catalog = context.plugins()
    choices = PluginChoices(context.directories)
    table = choices.table(of: catalog.plugins)
  }

  /// Those that concern one scheme, or all.
  func all(_ wanted: String?) -> [Check] {
    let schemes = table.schemes.filter { wanted == nil || $0.text == wanted }
    let owners = table.plugins.filter { plugin in
      schemes.contains { table.owner(of: $0)?.id == plugin.id }
    }
    return broken() + disabled(wanted) + nobody(wanted) + schemes.flatMap(scheme)
      + owners.flatMap { folders($0) + programs($0) + denied($0) } + sandbox(owners)
  }

  private func broken() -> [Check] {
    catalog.broken.map { broken in
      let error = broken.errors.first
      let place = error.map { $0.path == "$" ? "" : " at \($0.path)" } ?? ""
      return .bad(
        "manifest", "\(broken.manifest) has an error\(place): \(error?.reason ?? "")",
        mend: error.flatMap { $0.path == "$" || $0.path == "$.id" ? $0.hint : nil }
          ?? "deeplink plugin check \(broken.id)")
    }
  }

  private func disabled(_ wanted: String?) -> [Check] {
    catalog.plugins.filter { choices.disabled.contains($0.id) }.compactMap { plugin in
      let claims = plugin.schemes.contains { $0.text == wanted }
      guard wanted == nil || claims else { return nil }
      return Check(
        name: "enabled", state: wanted == nil ? .warning : .bad,
        found: "'\(plugin.id)' is switched off", mend: "deeplink plugin enable \(plugin.id)")
    }
  }

  private func nobody(_ wanted: String?) -> [Check] {
    guard let wanted, !table.schemes.contains(where: { $0.text == wanted }) else { return [] }
    let near = Suggestion.nearest(to: wanted, among: table.schemes.map(\.text))
    return [
      .bad(
        "plugin", "no enabled plugin has the scheme", scheme: wanted,
        mend: near.map { "did you mean '\($0)'?" }
          ?? (catalog.broken.isEmpty ? nil : "is it that of a manifest with an error, above?")
          ?? "deeplink plugin add FOLDER installs one; `deeplink schemes` shows those there are")
    ]
  }

  private func scheme(_ scheme: Scheme) -> [Check] {
    guard let owner = table.owner(of: scheme) else { return [] }
    var checks: [Check] = [
      .good("plugin", "'\(owner.id)' has it, in \(owner.folder ?? "")", scheme: scheme.text)
    ]
    let members = table.members(of: scheme).map(\.id)
    for other in table.plugins
    where other.schemes.contains(scheme) && !members.contains(other.id) {
      checks.append(
        .warning(
          "owner", "'\(other.id)' claims it too, in vain: it belongs to '\(owner.id)'",
          scheme: scheme.text, mend: "deeplink schemes --owner \(other.id) \(scheme)"))
    }
    if !scheme.text.contains(".") {
      checks.append(
        .warning(
          "name", "no reverse DNS: other apps may choose the same (RFC 7595)",
          scheme: scheme.text, mend: "its author can take one such as com.example.\(scheme)"))
    }
    if scheme.text.contains(where: { ("0"..."9").contains($0) }) {
      checks.append(
        .warning(
          "digit", "xdg-open 1.1.3 takes links of a scheme with a digit for file names",
          scheme: scheme.text, mend: "other openers find it; a newer xdg-utils does too"))
    }
    return checks
  }

  /// A folder of the same name in a later data directory that says something else.
  private func folders(_ plugin: Plugin) -> [Check] {
    let folders = context.directories.allData.map { "\($0)/deeplinkd/plugins/\(plugin.id)" }
    let manifests = folders.compactMap { folder -> (folder: String, bytes: [UInt8])? in
      let bytes = try? PersonFile("\(folder)/\(PluginFolder.manifestName)").read()
      return bytes.flatMap(\.self).map { (folder, $0) }
    }
    return manifests.dropFirst().filter { $0.bytes != manifests[0].bytes }.map {
      .warning(
        "folder", "\(manifests[0].folder) hides \($0.folder), which is another version",
        mend: "deeplink plugin remove \(plugin.id) takes the first out")
    }
  }

  // MARK: What it starts

  private func programs(_ plugin: Plugin) -> [Check] {
    plugin.routes.compactMap { route -> Check? in
      switch route.action {
      case .worker(let worker): missing(worker.run.first, of: route, in: plugin)
      case .command(let command): missing(command.run.first?.literal, of: route, in: plugin)
      case .handler(let handler): missing(handler.launch.first, of: route, in: plugin)
      case .application(let application):
        ApplicationFolder.path(
          of: application.desktopEntry, inDataDirectories: context.directories.allData) != nil
          ? nil
          : Check.bad(
            "program",
            "route '\(route.name)' opens '\(application.desktopEntry).desktop', which is not there",
            mend: "install the application, or deeplink plugin disable \(plugin.id)")
      case .call, .open, .notify: nil
      }
    }
  }

  private func missing(_ program: String?, of route: Route, in plugin: Plugin) -> Check? {
    let folder = plugin.folder ?? ""
    guard let program,
      ProgramLookup.path(
        of: program, in: folder, searching: context.environment["PATH"] ?? "") == nil
    else { return nil }
    let beside = program.hasPrefix("/") ? program : "\(folder)/\(program.withoutDotSlash)"
    let isThere = unsafe access(beside, F_OK) == 0
    return .bad(
      "program",
      "route '\(route.name)' starts '\(program)', which "
        + (isThere
          ? "may not be run"
          : program.contains("/")
            ? "is not there: \(beside)" : "is neither in \(folder) nor in PATH"),
      mend: isThere
        ? "chmod +x '\(beside)'"
        : program.contains("/")
          ? "deeplink plugin add FOLDER puts it there anew" : "install '\(program)'")
  }

  private func sandbox(_ plugins: [Plugin]) -> [Check] {
    let confined = plugins.filter { plugin in
      plugin.routes.contains { $0.action.sandbox.map { $0 != .none } ?? false }
    }
    guard let first = confined.first, let error = sandboxError(context.environment) else {
      return []
    }
    // "SENTENCE; hint: HINT"
    let text = error.description
    let hint = text.firstRange(of: "; hint: ")
    return [
      .bad(
        "sandbox",
        "'\(first.id)' cannot run its programs: \(text[..<(hint?.lowerBound ?? text.endIndex)])",
        mend: hint.map { String(text[$0.upperBound...]) } ?? "deeplink plugin check \(first.id)")
    ]
  }

  /// Routes that the person's settings deny.
  private func denied(_ plugin: Plugin) -> [Check] {
    let path = Settings.path(context.directories)
    let settings = Settings.read(path).settings ?? Settings()
    let routes = plugin.routes.map(\.name).filter {
      settings.consentRule(plugin.id, $0) == .deny
    }
    guard !routes.isEmpty else { return [] }
    let names = routes.map { "'\($0)'" }.joined(separator: ", ")
    return [
      .warning(
        "consent", "the settings deny '\(plugin.id)' its routes \(names)",
        mend: "\"consent\" in '\(path)' has the word on it")
    ]
  }
}

extension String {
  fileprivate var withoutDotSlash: String { hasPrefix("./") ? String(dropFirst(2)) : self }
}
