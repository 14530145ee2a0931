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
  var taken: Set<Scheme> = []

  public init() {}

  static func file(_ directories: BaseDirectories) -> PersonFile {
    PersonFile("\(directories.state)/registration.json", isPrivate: true)
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
    let json: JSONValue
    do throws(JSONError) { json = try JSONValue(json5: bytes) } catch {
      throw Damaged(path: file.path, reason: "line \(error.line): \(error.reason)")
    }
    guard let record = Registration(json) else {
      throw Damaged(path: file.path, reason: "it is no record of what registration changed")
    }
    return record
  }

  public func write(_ directories: BaseDirectories) throws(PersonFile.Failure) {
    try Self.file(directories).write(
      self == Registration() ? nil : Array("\(json)\n".utf8))
  }
}

// MARK: JSON

extension Registration {
  /// Nil where one piece is not what was written: half a record would undo half of what was done.
  private init?(_ json: JSONValue) {
    guard let lists = Self.members(json, "lists"), let entries = Self.members(json, "entries"),
      let folders = Self.texts(json, "folders"), let taken = Self.texts(json, "taken")
    else { return nil }
    for (path, value) in lists {
      guard let list = ListRecord(json: value) else { return nil }
      self.lists[path] = list
    }
    for (path, value) in entries {
      guard let former = Former(value) else { return nil }
      self.entries[path] = former
    }
    if let value = json["cache"] {
      guard let former = Former(value) else { return nil }
      cache = former
    }
    self.folders = folders
    self.taken = Set(taken.compactMap { Scheme($0) })
    guard self.taken.count == Set(taken).count else { return nil }
  }

  /// The members of an object within one; none where it is absent, nil where it is something else.
  private static func members(_ json: JSONValue, _ key: String) -> [String: JSONValue]? {
    guard let members = json.object else { return nil }
    return members[key].map(\.object) ?? [:]
  }

  fileprivate static func texts(_ json: JSONValue, _ key: String) -> [String]? {
    guard let elements = (json[key] ?? []).array else { return nil }
    let texts = elements.compactMap(\.string)
    return texts.count == elements.count ? texts : nil
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

extension Registration.ListRecord {
  fileprivate init?(json: JSONValue) {
    guard json.object != nil, let edits = (json["edits"] ?? []).array,
      let isNew = (json["new"] ?? false).boolean
    else { return nil }
    self.init(edits: edits.compactMap(MIMEApplications.Edit.init(json:)), isNew: isNew)
    guard self.edits.count == edits.count else { return nil }
  }
}

extension Registration.Former {
  fileprivate init?(_ json: JSONValue) {
    switch json {
    case .null: self = .nothing
    case .string(let text):
      guard let bytes = [UInt8](latin1: text) else { return nil }
      self = .bytes(bytes)
    default: return nil
    }
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
      json["entries"] != nil, let entries = Registration.texts(json, "entries"),
      json["former"] != nil, let former = Registration.texts(json, "former"),
      let addedGroup = (json["addedGroup"] ?? false).boolean,
      let unterminated = Registration.Former(json["unterminated"] ?? .null)
    else { return nil }
    let lines = former.compactMap { [UInt8](latin1: $0) }
    guard lines.count == former.count else { return nil }
    self.init(
      type: type, group: group, entries: entries, former: lines, addedGroup: addedGroup,
      unterminated: unterminated.contents)
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

  /// Nil where a character is no byte.
  fileprivate init?(latin1 text: String) {
    self = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    guard count == text.unicodeScalars.count else { return nil }
  }
}
