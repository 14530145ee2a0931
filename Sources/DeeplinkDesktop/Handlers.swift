import DeeplinkRouting
import Glibc

/// Who opens the links of a scheme, as xdg-mime, GLib and the portals find it out.
///
/// The layers of `mimeapps.list` stand in the order of the MIME Applications Associations
/// specification, section "File name and location"; the first that names an installed entry decides.
/// Entries are those of the data directories, the first of an id hides the others.
public struct Handlers: Sendable {
  /// One `mimeapps.list`.
  public struct Layer: Sendable {
    public let path: String
    public var list: MIMEApplications
  }

  /// A desktop entry by its id, as openers see it.
  public struct Entry: Sendable {
    /// With the suffix `.desktop`.
    public let id: String
    public let path: String
    public let entry: DesktopEntry
    /// Files of the same id that it hides.
    public var hidden: [String] = []
  }

  public var layers: [Layer]
  public let entries: [String: Entry]

  /// - Parameter desktops: What `XDG_CURRENT_DESKTOP` names.
  public init(directories: BaseDirectories, desktops: [String]) {
    layers = Self.paths(directories, desktops: desktops).compactMap { path in
      (try? PersonFile(path).read()).flatMap { $0 }.map {
        Layer(path: path, list: MIMEApplications($0))
      }
    }
    var entries: [String: Entry] = [:]
    for folder in directories.allData.map({ "\($0)/applications" }) {
      for (id, path) in Self.entryFiles(folder).sorted(by: { $0.id < $1.id }) {
        if entries[id] != nil {
          entries[id]?.hidden.append(path)
        } else if let bytes = try? PersonFile(path).read(),
          let entry = DesktopEntry(String(decoding: bytes, as: UTF8.self))
        {
          entries[id] = Entry(id: id, path: path, entry: entry)
        }
      }
    }
    self.entries = entries
  }

  /// Where lists are looked for, the first that counts first.
  public static func paths(_ directories: BaseDirectories, desktops: [String]) -> [String] {
    let folders =
      [directories.configHome] + directories.configDirectories
      + directories.allData.map { "\($0)/applications" }
    let names = desktops.map { "\($0)-mimeapps.list" } + ["mimeapps.list"]
    return folders.flatMap { folder in names.map { "\(folder)/\($0)" } }
  }

  /// `XDG_CURRENT_DESKTOP` as file names have it.
  public static func desktops(_ environment: [String: String]) -> [String] {
    (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map { $0.lowercased() }
      .filter { !$0.contains("/") }
  }

  /// The entry that opens a scheme's links, and the list that says so; nil where no list does.
  public func chosen(for scheme: Scheme) -> (entry: String, layer: String)? {
    for layer in layers {
      for id in layer.list.entries(of: scheme.mimeType, in: .defaults)
      where entries[id] != nil && !removed(id, for: scheme.mimeType) {
        return (id, layer.path)
      }
    }
    return nil
  }

  /// The entries that claim a scheme and are not taken out by a list, by id.
  public func candidates(for scheme: Scheme) -> [String] {
    let type = scheme.mimeType
    let claiming = entries.values.filter { $0.entry.mimeTypes.contains(type) }.map(\.id)
    let added = layers.flatMap { $0.list.entries(of: type, in: .added) }
    return Set(claiming + added).sorted().filter { id in
      entries[id].map { !$0.entry.isHidden } == true && !removed(id, for: type)
    }
  }

  /// The list that takes an entry out for a type; nil where none does, or one before adds it.
  public func removal(of id: String, for type: String) -> String? {
    for layer in layers {
      if layer.list.entries(of: type, in: .added).contains(id) { return nil }
      if layer.list.entries(of: type, in: .removed).contains(id) { return layer.path }
    }
    return nil
  }

  private func removed(_ id: String, for type: String) -> Bool { removal(of: id, for: type) != nil }

  /// Entries with their ids: what is in a folder of a folder has a `-` for each `/`.
  private static func entryFiles(_ folder: String, depth: Int = 0) -> [(id: String, path: String)] {
    guard depth < 4 else { return [] }
    var files: [(id: String, path: String)] = []
    for name in FileFacts.names(in: folder) where !name.hasPrefix(".") {
      if name.hasSuffix(".desktop") {
        files.append((name, "\(folder)/\(name)"))
      } else if !name.contains(".") {
        files += entryFiles("\(folder)/\(name)", depth: depth + 1).map {
          ("\(name)-\($0.id)", $0.path)
        }
      }
    }
    return files
  }
}

extension Scheme {
  /// The type that stands for it in the shared MIME-info database, section 2.13.
  public var mimeType: String { "x-scheme-handler/\(text)" }

  init?(mimeType: String) {
    let parts = mimeType.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == "x-scheme-handler" else { return nil }
    self.init(String(parts[1]))
  }
}
