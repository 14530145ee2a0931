import DeeplinkRouting

/// What registering plugins changed in the person's files: what it takes to undo it exactly.
public struct Registration: Hashable, Sendable {
  /// A `mimeapps.list` with our edits in it.
  struct ListRecord: Hashable, Sendable {
    /// In the order in which they were made.
    var edits: [MIMEApplications.Edit] = []
    /// Whether there was no file before.
    var isNew = false
  }

  /// What stood where something of ours stands now; nil where nothing did.
  enum Former: Hashable, Sendable {
    case nothing
    case bytes([UInt8])
  }

  /// By path.
  var lists: [String: ListRecord] = [:]
  /// Entries that we wrote, by path.
  var entries: [String: Former] = [:]
  /// The cache beside the entries, as it was before the first of them.
  var cache: Former?
  /// Folders that were not there before, the deepest last.
  var folders: [String] = []
  /// Schemes that the person took from another application.
  public var taken: Set<Scheme> = []

  public init() {}

  static func file(_ directories: BaseDirectories) -> PersonFile {
    PersonFile("\(directories.state)/registration.json")
  }

  public struct Damaged: Error, Hashable, Sendable {
    public let path: String
    public let reason: String
  }

  /// What was recorded; a damaged record is an error, since without it nothing can be undone.
  public static func read(_ directories: BaseDirectories) throws(Damaged) -> Registration {
    let file = file(directories)
    let bytes: [UInt8]?
    do throws(PersonFile.Failure) { bytes = try file.read() } catch {
      throw Damaged(path: file.path, reason: error.reason)
    }
    guard let bytes else { return Registration() }
    do throws(JSONError) { return Registration(try JSONValue(json5: bytes)) } catch {
      throw Damaged(path: file.path, reason: "line \(error.line): \(error.reason)")
    }
  }

  public func write(_ directories: BaseDirectories) throws(PersonFile.Failure) {
    try Self.file(directories).write(
      self == Registration() ? nil : Array("\(json)\n".utf8))
  }
}

// MARK: JSON

extension Registration {
  private init(_ json: JSONValue) {
    for (path, value) in json["lists"]?.object ?? [:] {
      lists[path] = ListRecord(
        edits: (value["edits"]?.array ?? []).compactMap(MIMEApplications.Edit.init(json:)),
        isNew: value["new"]?.boolean ?? false)
    }
    for (path, value) in json["entries"]?.object ?? [:] { entries[path] = Former(value) }
    cache = json["cache"].map(Former.init)
    folders = (json["folders"]?.array ?? []).compactMap(\.string)
    taken = Set((json["taken"]?.array ?? []).compactMap { $0.string.flatMap { Scheme($0) } })
  }

  private var json: JSONValue {
    var members: [String: JSONValue] = [
      "lists": .object(
        lists.mapValues { ["new": .boolean($0.isNew), "edits": .array($0.edits.map(\.json))] }),
      "entries": .object(entries.mapValues(\.json)),
      "folders": .array(folders.map { .string($0) }),
      "taken": .array(taken.sorted().map { .string($0.text) }),
    ]
    members["cache"] = cache?.json
    return .object(members)
  }
}

extension Registration.Former {
  fileprivate init(_ json: JSONValue) {
    self = json.string.map { .bytes([UInt8](latin1: $0)) } ?? .nothing
  }

  fileprivate var json: JSONValue {
    switch self {
    case .nothing: .null
    case .bytes(let bytes): .string(bytes.latin1)
    }
  }

  /// What a file is to hold; nil where there is to be none.
  var contents: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  init(_ contents: [UInt8]?) { self = contents.map { .bytes($0) } ?? .nothing }
}

extension MIMEApplications.Edit {
  fileprivate init?(json: JSONValue) {
    guard let type = json["type"]?.string,
      let group = json["group"]?.string.flatMap(MIMEApplications.Group.init(rawValue:)),
      let entries = json["entries"]?.array, let former = json["former"]?.array
    else { return nil }
    self.init(
      type: type, group: group, entries: entries.compactMap(\.string),
      former: former.compactMap { $0.string.map([UInt8].init(latin1:)) },
      addedGroup: json["addedGroup"]?.boolean ?? false,
      unterminated: json["unterminated"]?.string.map([UInt8].init(latin1:)))
  }

  fileprivate var json: JSONValue {
    [
      "type": .string(type), "group": .string(group.rawValue),
      "entries": .array(entries.map { .string($0) }),
      "former": .array(former.map { .string($0.latin1) }), "addedGroup": .boolean(addedGroup),
      "unterminated": JSONValue(unterminated?.latin1),
    ]
  }
}

extension [UInt8] {
  /// Each byte as the character of its number: any bytes as JSON text, and back.
  fileprivate var latin1: String {
    String(String.UnicodeScalarView(map { Unicode.Scalar($0) }))
  }

  fileprivate init(latin1 text: String) {
    self = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }
}
