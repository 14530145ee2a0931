import DeeplinkDesktop
import DeeplinkRouting
import Glibc

/// The doctor's look into one desktop entry, and at the cache beside it.
struct EntryChecks {
  private let entry: Handlers.Entry
  private let scheme: Scheme
  private let context: Context
  private let register: String
  /// Whether `--repair` writes it anew.
  private let isMendable: Bool
  private var keys: DesktopEntry { entry.entry }

  /// - Parameter register: What mends an entry that is ours to write.
  init(
    _ entry: Handlers.Entry, _ scheme: Scheme, _ context: Context, owner: PluginID?,
    register: String
  ) {
    self.entry = entry
    self.scheme = scheme
    self.context = context
    let isPersons = entry.path.hasPrefix("\(context.directories.dataHome)/")
    isMendable = owner != nil && isPersons
    self.register =
      owner == nil || isPersons ? register : "install the package again that has '\(entry.path)'"
  }

  func all() -> [Check] {
    [claim(), validity(), fieldCode(), program(), behaviour(), token(), cache()].compactMap(\.self)
  }

  private func check(_ name: String, _ isGood: Bool, _ found: String, mend: String? = nil) -> Check
  {
    Check(
      name: name, scheme: scheme.text, state: isGood ? .good : .bad, found: found,
      mend: isGood ? nil : mend ?? register, isMendable: !isGood && mend == nil && isMendable)
  }

  private func claim() -> Check {
    let type = scheme.mimeType
    guard !keys.isHidden else { return check("claim", false, "\(entry.path) has Hidden=true") }
    guard !keys.mimeTypes.contains(type) else {
      return check("claim", true, "it claims the scheme")
    }
    let hidden = entry.hidden.first { path in
      let bytes = (try? PersonFile(path).read()) ?? nil
      let hidden = DesktopEntry(String(decoding: bytes ?? [], as: UTF8.self))
      return hidden?.mimeTypes.contains(type) == true
    }
    // Whatever mends a file that hides another lies in the person's own folder.
    return Check(
      name: "claim", scheme: scheme.text, state: .bad,
      found: hidden.map { "\(entry.path) hides \($0)" } ?? "\(entry.path) does not claim it",
      mend: register, isMendable: isMendable)
  }

  private func validity() -> Check? {
    guard
      let tool = Tool.run(["desktop-file-validate", entry.path], environment: context.environment)
    else { return nil }
    // One complaint is enough to read; the file is written anew as a whole.
    let first = tool.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    return check(
      "valid", tool.status == 0,
      tool.status == 0 ? "desktop-file-validate has no complaint" : first)
  }

  private var words: [String] {
    (keys.string("Exec") ?? "").split(separator: " ").map(String.init)
  }

  private func fieldCode() -> Check {
    let isPlain = words.count == 3 && words[1...] == ["--", "%u"]
    return check("field-code", isPlain, "Exec=\(words.joined(separator: " "))")
  }

  private func program() -> Check {
    let program = words.first ?? ""
    guard unsafe access(program, F_OK) == 0 else {
      return check("program", false, "'\(program)' is not there")
    }
    guard unsafe access(program, X_OK) == 0 else {
      return check(
        "program", false, "'\(program)' may not be run", mend: "chmod +x '\(program)'")
    }
    if let opener = try? Registrar.opener(), !Self.isSameFile(opener, program) {
      return check("program", false, "it starts '\(program)', not '\(opener)'")
    }
    let tool = Tool.run([program, "--version"], environment: context.environment, seconds: 10)
    guard let tool, tool.status == 0 else {
      return check(
        "program", false,
        "'\(program)' does not run: exit status \(tool?.status ?? -1) \(tool?.text ?? "")",
        mend: "install deeplinkd again")
    }
    return check("program", true, program)
  }

  /// Keys that keep openers from starting it, or have them start it in another way.
  private func behaviour() -> Check {
    var faults: [String] = []
    for key in ["OnlyShowIn", "NotShowIn"] where keys.string(key) != nil {
      faults.append("\(key)=\(keys.string(key) ?? "") hides it from some desktops")
    }
    if keys.runsInTerminal { faults.append("Terminal=true opens a terminal for each link") }
    if keys.isDBusActivatable {
      faults.append("DBusActivatable=true has the bus asked instead, which loses links")
    }
    if let program = keys.string("TryExec"), unsafe access(program, X_OK) != 0 {
      faults.append("TryExec='\(program)' is not there, so GLib takes it for not installed")
    }
    if let folder = keys.folder, PlaceChecks.facts(folder)?.st_mode.isFolder != true {
      faults.append("Path='\(folder)' is no folder, so it cannot be started there")
    }
    return check(
      "keys", faults.isEmpty,
      faults.isEmpty ? "no key is in the way" : faults.joined(separator: "; "))
  }

  private func token() -> Check {
    check(
      "token", keys.boolean("StartupNotify"),
      "StartupNotify=\(keys.string("StartupNotify") ?? "")")
  }

  private func cache() -> Check {
    let folder = String(entry.path.dropLast(entry.id.count + 1))
    let isOurs = unsafe access(folder, W_OK) == 0
    let mend = "\(isOurs ? "" : "sudo ")update-desktop-database '\(folder)'"
    let path = "\(folder)/mimeinfo.cache"
    let bytes: [UInt8]?
    do throws(PersonFile.Failure) { bytes = try PersonFile(path).read() } catch {
      return check(
        "cache", false, "\(path) cannot be read: \(error.reason)", mend: PlaceChecks.access(path))
    }
    let isCached = MIMECache(bytes ?? []).entries[scheme.mimeType]?.contains(entry.id) == true
    return check(
      "cache", isCached,
      bytes == nil
        ? "\(folder) has no mimeinfo.cache" : isCached ? "\(path) has it" : "\(path) is old",
      mend: isMendable ? nil : mend)
  }

  /// By whatever links.
  static func isSameFile(_ first: String, _ second: String) -> Bool {
    guard let first = PlaceChecks.facts(first), let second = PlaceChecks.facts(second) else {
      return false
    }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }
}
