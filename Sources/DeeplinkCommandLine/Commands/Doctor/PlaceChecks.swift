import DeeplinkActions
import DeeplinkDesktop
import DeeplinkRouting
import Glibc

/// The doctor's look at where things are: the environment, the person's lists, what is kept.
struct PlaceChecks {
  private let context: Context
  private var directories: BaseDirectories { context.directories }

  init(_ context: Context) { self.context = context }

  func all() -> [Check] {
    environment() + prefix() + tools() + lists() + kept() + settings()
  }

  // MARK: The environment

  private func environment() -> [Check] {
    let names = [
      "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    ]
    var checks = names.compactMap { name -> Check? in
      guard let path = context.environment[name], !path.isEmpty, !path.hasPrefix("/") else {
        return nil
      }
      return .bad(
        "environment", "\(name)='\(path)' is no absolute path, so it counts as unset",
        mend: "unset \(name)")
    }
    let home = context.environment["HOME"] ?? ""
    guard let facts = Self.facts(home), facts.st_mode & S_IFMT == S_IFDIR, home.hasPrefix("/")
    else {
      let found = home.isEmpty ? "HOME is not set" : "HOME='\(home)' is no folder"
      return checks + [.bad("environment", found, mend: "export HOME=~$(id -un)")]
    }
    if facts.st_uid != getuid() {
      checks.append(
        .bad(
          "environment",
          "HOME='\(home)' belongs to user \(facts.st_uid), and this is user \(getuid())",
          mend: "without sudo, as that user: deeplink doctor"))
    }
    return checks
  }

  /// Where this program was installed, the desktop has to look too.
  private func prefix() -> [Check] {
    guard let opener = try? Registrar.opener() else {
      return [
        .bad(
          "installation", "deeplink-open is not beside this program, or its path has blanks",
          mend: "install deeplinkd again")
      ]
    }
    let share = opener.split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/share"
    let entry = "\(share)/applications/\(DesktopChecks.ownEntry)"
    let isSeen = directories.allData.contains { folder in
      guard let first = Self.facts(folder), let second = Self.facts(share) else { return false }
      return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
    guard Self.facts(entry) != nil, !isSeen else { return [] }
    let folders = ([share] + directories.dataDirectories).joined(separator: ":")
    return [
      .bad(
        "data-directories",
        "\(share) has deeplinkd's files, and is in neither XDG_DATA_HOME nor XDG_DATA_DIRS",
        mend: "XDG_DATA_DIRS=\(folders) in the session's environment, then log in anew")
    ]
  }

  /// What registration runs; openers are looked at by sending a link through them.
  private func tools() -> [Check] {
    let tools = [
      ("update-desktop-database", "desktop-file-utils"),
      ("desktop-file-validate", "desktop-file-utils"),
    ]
    return tools.compactMap { name, package in
      let path = context.environment["PATH"] ?? ""
      guard ProgramLookup.path(of: name, in: "/nonexistent", searching: path) == nil else {
        return nil
      }
      return .warning("tools", "\(name) is not in PATH", mend: "sudo apt install \(package)")
    }
  }

  // MARK: Files

  /// Lists that openers skip as a whole, silently.
  private func lists() -> [Check] {
    let desktops = Handlers.desktops(context.environment)
    return Handlers.paths(directories, desktops: desktops).flatMap { path -> [Check] in
      do throws(PersonFile.Failure) {
        guard let bytes = try PersonFile(path).read(), let fault = MIMEApplications(bytes).fault
        else { return [] }
        let found = "\(path): GLib ignores all of it for line \(fault.line), which is "
        guard !fault.isByteOrderMark else {
          return [
            .bad(
              "list", found + "begun by a byte order mark",
              mend: #"sed -i --follow-symlinks '1s/^\xEF\xBB\xBF//' '\#(path)'"#)
          ]
        }
        return [
          .bad(
            "list", found + "no group, key or comment",
            mend: "sed -i --follow-symlinks '\(fault.line)s/^/# /' '\(path)'")
        ]
      } catch {
        return [.bad("list", "\(path) cannot be read: \(error.reason)", mend: Self.access(path))]
      }
    }
  }

  /// What has to be changed for a repair, and cannot be.
  func writable() -> [Check] {
    let list = try? PersonFile("\(directories.configHome)/mimeapps.list").target()
    let folders = [list.map(Self.parent), "\(directories.dataHome)/applications"]
    return folders.compactMap { folder in
      guard let folder else { return nil }
      let place = Self.nearest(folder)
      guard unsafe Glibc.access(place, W_OK | X_OK) != 0 else { return nil }
      return .bad("folder", "'\(place)' cannot be written to", mend: Self.writing(place))
    }
  }

  private func kept() -> [Check] {
    var damages = [PluginChoices.damage(directories)]
    do throws(Registration.Damaged) { _ = try Registration.read(directories) } catch {
      damages.append(error)
    }
    var checks = damages.compactMap(\.self).map { damage in
      Check.bad(
        "record", "\(damage.path) cannot be read: \(damage.reason)",
        mend: "mv '\(damage.path)' '\(damage.path).damaged', and it is as if never written")
    }
    let place = Self.nearest(directories.state)
    if unsafe Glibc.access(place, W_OK | X_OK) != 0 || Self.facts(place)?.st_mode.isFolder != true {
      checks.append(
        .warning(
          "state",
          "'\(place)' is no folder that can be written to: no choice lasts, no plugin is added",
          mend: Self.writing(place)))
    }
    return checks
  }

  private func settings() -> [Check] {
    Settings.read(Settings.path(directories)).diagnostics.map { diagnostic in
      let place = diagnostic.path == "$" ? "" : " \(diagnostic.path):"
      let found = "\(diagnostic.file):\(place) \(diagnostic.reason)"
      let mend = "what is wrong there is not in use; $EDITOR '\(diagnostic.file)'"
      return diagnostic.severity == .error
        ? .bad("settings", found, mend: diagnostic.hint ?? mend)
        : .warning("settings", found, mend: diagnostic.hint ?? mend)
    }
  }

  // MARK: Paths

  static func facts(_ path: String) -> stat? {
    var facts = stat()
    return unsafe stat(path, &facts) == 0 ? facts : nil
  }

  /// Whether it is a symbolic link to nothing.
  static func isDangling(_ path: String) -> Bool {
    var facts = stat()
    return unsafe Self.facts(path) == nil && lstat(path, &facts) == 0
  }

  /// What makes a file readable, by what stands in the way.
  static func access(_ path: String) -> String {
    guard let facts = facts(path) else {
      return errno == ELOOP ? "rm '\(path)'" : "chmod u+rx '\(parent(path))'"
    }
    if facts.st_mode.isFolder { return "mv '\(path)' '\(path).folder'" }
    return facts.st_uid == getuid() ? "chmod u+rw '\(path)'" : "sudo chown \(getuid()) '\(path)'"
  }

  private static func writing(_ place: String) -> String {
    guard let facts = facts(place), facts.st_mode.isFolder else {
      return "mv '\(place)' '\(place).file'"
    }
    return facts.st_uid == getuid() ? "chmod u+rwx '\(place)'" : "sudo chown \(getuid()) '\(place)'"
  }

  private static func parent(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// The path itself, or the nearest one above it that is there.
  private static func nearest(_ path: String) -> String {
    var path = path
    while facts(path) == nil, path.count > 1 { path = parent(path) }
    return path
  }
}

extension mode_t {
  var isFolder: Bool { self & S_IFMT == S_IFDIR }
}
