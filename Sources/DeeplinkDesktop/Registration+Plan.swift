import DeeplinkRouting
import Glibc

/// What the person's files are to become so that the links of some plugins arrive.
///
/// It is made by undoing all that was done before and doing what is wanted now, on values: nothing
/// is touched until `apply()`, and what is the same before and after is not written.
public struct RegistrationPlan: Sendable {
  public struct Change: Hashable, Sendable {
    public let path: String
    /// Nil: there is no file.
    public let before: [UInt8]?
    public let after: [UInt8]?
  }

  /// A scheme that stays with another application.
  public struct Held: Hashable, Sendable {
    public let scheme: Scheme
    public let plugin: PluginID
    /// The other application's entry.
    public let entry: String
    public let name: String
  }

  public private(set) var changes: [Change] = []
  public private(set) var held: [Held] = []
  /// What is to be recorded.
  public private(set) var record: Registration
  public let directories: BaseDirectories
  private let former: Registration

  private var applications: String { "\(directories.dataHome)/applications" }
  private var cachePath: String { "\(applications)/mimeinfo.cache" }

  /// - Parameters:
  ///   - table: The enabled plugins and whose schemes are whose.
  ///   - disabled: Plugins whose entry, where a package installed one, is to be hidden.
  ///   - opener: The absolute path of `deeplink-open`.
  ///   - taking: Schemes that the person takes from other applications now.
  ///   - keeping: Plugins whose manifest cannot be read now: what they have they keep.
  public init(
    table: RouteTable, disabled: [Plugin], opener: String, record former: Registration,
    directories: BaseDirectories, desktops: [String], taking: Set<Scheme> = [],
    keeping: Set<String> = []
  ) throws(PersonFile.Failure) {
    self.former = former
    self.directories = directories
    record = Registration()
    record.taken = former.taken
    let persons = (desktops.map { "\($0)-mimeapps.list" } + ["mimeapps.list"]).map {
      "\(directories.configHome)/\($0)"
    }
    var lists: [String: MIMEApplications] = [:]
    var contents: [String: [UInt8]] = [:]
    // Types whose default is an entry of ours now: an application that comes later changes nothing.
    var held: Set<String> = []
    let kept = Set(keeping.map { "\($0)\(HandlerEntry.suffix)" })
    var claims: [Scheme: String] = [:]
    for path in Set(persons + former.lists.keys) {
      contents[path] = try PersonFile(path).read()
      var list = MIMEApplications(contents[path] ?? [])
      for edit in (former.lists[path]?.edits ?? []).reversed() {
        let isAsLeft = list.undo(edit)
        guard edit.group == .defaults else { continue }
        if isAsLeft {
          held.insert(edit.type)
          if let id = edit.entries.first, kept.contains(id),
            let scheme = Scheme(mimeType: edit.type)
          {
            claims[scheme] = id
          }
        } else {
          // The person chose anew since: that stands.
          record.taken = record.taken.filter { $0.mimeType != edit.type }
        }
      }
      lists[path] = list
      record.lists[path] = Registration.ListRecord(
        isNew: contents[path] == nil || former.lists[path]?.isNew == true)
    }
    for scheme in table.schemes {
      if let owner = table.owner(of: scheme) { claims[scheme] = HandlerEntry.id(of: owner.id) }
    }
    let claimed = Set(disabled.flatMap(\.schemes)).union(claims.keys)
    record.taken = record.taken.union(taking).intersection(claimed)
    var handlers = Handlers(directories: directories, desktops: desktops)
    for index in handlers.layers.indices {
      if let list = lists[handlers.layers[index].path] { handlers.layers[index].list = list }
    }
    let ours = Set((table.plugins + disabled).map { HandlerEntry.id(of: $0.id) })
      .union(former.entries.keys.map { String($0.split(separator: "/").last ?? "") })
    var schemes: [PluginID: [Scheme]] = [:]
    for (scheme, id) in claims.sorted(by: { $0.key < $1.key }) {
      let owner = table.owner(of: scheme)?.id
      let others = handlers.candidates(for: scheme).filter { !ours.contains($0) }
      let chosen = handlers.chosen(for: scheme)?.entry
      let holder = chosen.flatMap { ours.contains($0) ? nil : $0 } ?? others.first
      let isTaken = record.taken.contains(scheme)
      if let holder, let owner, !isTaken, !held.contains(scheme.mimeType) {
        self.held.append(
          Held(
            scheme: scheme, plugin: owner, entry: holder,
            name: handlers.entries[holder]?.entry.name ?? holder))
        continue
      }
      if let owner { schemes[owner, default: []].append(scheme) }
      // Also those of other desktops, where something was changed before.
      for path in lists.keys.sorted() {
        let isMain = path == persons.last
        guard var list = lists[path], isMain || contents[path] != nil else { continue }
        record.lists[path]?.edits += Self.take(
          scheme, for: id, from: isTaken ? others : [], in: &list,
          isMain: isMain)
        lists[path] = list
      }
    }
    for (path, list) in lists.sorted(by: { $0.key < $1.key }) {
      let isNew = record.lists[path]?.isNew == true
      let bytes = list.bytes
      change(path, from: contents[path], to: isNew && bytes.isEmpty ? nil : bytes)
      if record.lists[path]?.edits.isEmpty != false { record.lists[path] = nil }
    }
    try planEntries(table.plugins, disabled, schemes, opener, handlers, kept)
  }

  /// The edits that give a scheme to an entry of ours in one list.
  private static func take(
    _ scheme: Scheme, for id: String, from others: [String], in list: inout MIMEApplications,
    isMain: Bool
  ) -> [MIMEApplications.Edit] {
    let type = scheme.mimeType
    var edits: [MIMEApplications.Edit?] = []
    // A desktop's own list comes before the general one, so what it says has to be said there.
    if isMain || !list.entries(of: type, in: .defaults).isEmpty {
      edits.append(list.set([id], of: type, in: .defaults))
    }
    let added = list.entries(of: type, in: .added)
    edits.append(list.set(added.filter { !others.contains($0) }, of: type, in: .added))
    let removed = list.entries(of: type, in: .removed)
    let wanted =
      removed.filter { $0 != id } + (isMain ? others.filter { !removed.contains($0) } : [])
    if wanted != removed { edits.append(list.set(wanted, of: type, in: .removed)) }
    return edits.compactMap(\.self)
  }

  private mutating func planEntries(
    _ enabled: [Plugin], _ disabled: [Plugin], _ schemes: [PluginID: [Scheme]], _ opener: String,
    _ handlers: Handlers, _ kept: Set<String>
  ) throws(PersonFile.Failure) {
    var wanted: [String: [UInt8]] = [:]
    for plugin in enabled + disabled {
      let entry = HandlerEntry(plugin, schemes: schemes[plugin.id] ?? [], opener: opener)
      let path = "\(applications)/\(entry.id)"
      let packaged = handlers.entries[entry.id].flatMap { known in
        ([known.path] + known.hidden).first { $0 != path }
      }
      let packagedTypes = try packaged.map { path throws(PersonFile.Failure) in
        DesktopEntry(String(decoding: try PersonFile(path).read() ?? [], as: UTF8.self))?.mimeTypes
      }
      // What a package installed needs no second file, unless it says something else.
      if Set((packagedTypes ?? nil) ?? []) == Set((schemes[plugin.id] ?? []).map(\.mimeType)) {
        continue
      }
      wanted[path] = Array(entry.text.utf8)
    }
    for path in Set(wanted.keys).union(former.entries.keys).sorted() {
      let before = try PersonFile(path).read()
      if kept.contains(String(path.split(separator: "/").last ?? "")) { wanted[path] = before }
      let original = former.entries[path] ?? Registration.Former(before)
      change(path, from: before, to: wanted[path] ?? original.contents)
      if wanted[path] != nil { record.entries[path] = original }
    }
    if !record.entries.isEmpty {
      let cache = try PersonFile(cachePath).read()
      record.cache = former.cache ?? Registration.Former(cache)
    }
    record.folders = former.folders + changes.flatMap { Self.missingFolders($0.path) }
    record.folders = Array(Set(record.folders)).sorted()
  }

  private mutating func change(_ path: String, from before: [UInt8]?, to after: [UInt8]?) {
    if before != after { changes.append(Change(path: path, before: before, after: after)) }
  }

  /// Notes folders that were made for a plugin: they go when nothing of ours is left, and they are empty.
  public mutating func note(_ folders: [String]) {
    record.folders = Set(record.folders).union(folders).sorted()
  }

  /// The folders above `path` that are not there.
  public static func missingFolders(_ path: String) -> [String] {
    var missing: [String] = []
    var path = Substring(path)
    var facts = stat()
    while let slash = path.lastIndex(of: "/") {
      path = path[..<slash]
      let isThere = unsafe stat(String(path), &facts) == 0
      if path.isEmpty || isThere { break }
      missing.append(String(path))
    }
    return missing
  }

  // MARK: Doing it

  /// Whether the openers' cache has to be made anew.
  public var touchesEntries: Bool { changes.contains { $0.path.hasPrefix(applications + "/") } }

  /// Changes the files, or none of them.
  ///
  /// The record is written first: a change that it names and that was not made is simply not found
  /// when it is undone.
  ///
  /// - Parameter updateCache: Makes the cache of the folder it is given anew.
  public mutating func apply(
    updateCache: (String) -> Void
  ) throws(PersonFile.Failure) {
    try record.write(directories)
    var done: [Change] = []
    do throws(PersonFile.Failure) {
      for change in changes {
        try PersonFile(change.path).write(change.after)
        done.append(change)
      }
    } catch {
      for change in done.reversed() { try? PersonFile(change.path).write(change.before) }
      try? former.write(directories)
      throw error
    }
    if touchesEntries { updateCache(applications) }
    guard record.entries.isEmpty, record.lists.isEmpty else { return }
    try restoreCache()
    // A plugin that is switched off is still in them.
    let plugins = "\(directories.dataHome)/deeplinkd/plugins"
    if unsafe access(plugins, F_OK) == 0 { return }
    // Those that are not empty stay, and are nobody's business any more.
    for folder in record.folders.reversed() { _ = unsafe rmdir(folder) }
    record.folders = []
    try record.write(directories)
  }

  /// The cache as it was, where it says the same as the one that was made now: the tool that makes
  /// it puts the lines into an order of its own.
  private func restoreCache() throws(PersonFile.Failure) {
    let now = try PersonFile(cachePath).read()
    guard let cache = former.cache, let now else { return }
    let before = MIMECache(cache.contents ?? [])
    if before == MIMECache(now) { try PersonFile(cachePath).write(cache.contents) }
  }
}

/// A `mimeinfo.cache`: which entries of its folder claim which type.
public struct MIMECache: Hashable, Sendable {
  public let entries: [String: Set<String>]

  public init(_ bytes: [UInt8]) {
    var entries: [String: Set<String>] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let halves = line.split(separator: UInt8(ascii: "="), maxSplits: 1)
      guard halves.count == 2 else { continue }
      let ids = halves[1].split(separator: UInt8(ascii: ";"))
      entries[String(decoding: halves[0], as: UTF8.self), default: []]
        .formUnion(ids.map { String(decoding: $0, as: UTF8.self) })
    }
    self.entries = entries
  }
}
