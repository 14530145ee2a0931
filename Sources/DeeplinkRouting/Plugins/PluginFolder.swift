import Glibc

/// Reads manifests from the disk.
///
/// What is checked is what was opened, never a path that may have changed since: the folder and the
/// file are held open while their owner and mode are looked at. Both must belong to root or to the
/// person, and nobody else may write to them; otherwise another user of the machine would decide
/// what the person's links do. Symbolic links are followed, since packages use them; it is the file
/// at their end that counts.
public struct PluginFolder: Sendable {
  public static let manifestName = "plugin.json"
  public static let maximumBytes = 1 << 20

  /// The folder that holds the manifest.
  public let path: String
  public var manifestPath: String { "\(path)/\(Self.manifestName)" }

  public init(path: String) { self.path = path }

  /// The plugin; nil, and the reasons, where it can not be used.
  ///
  /// - Parameters:
  ///   - user: The person's user id.
  ///   - id: The plugin that must be in it; a folder that is installed is named like its plugin.
  public func read(
    user: UInt32, expecting id: PluginID? = nil
  ) -> (plugin: Plugin?, diagnostics: [Diagnostic]) {
    let bytes: [UInt8]
    do throws(Unusable) {
      let folder = try Descriptor(path, flags: O_RDONLY | O_DIRECTORY)
      try folder.checkOwner(user, name: "the folder", path: path)
      let file: Descriptor
      do throws(Unusable) {
        file = try Descriptor(Self.manifestName, in: folder, flags: O_RDONLY | O_NONBLOCK)
      } catch {
        throw Unusable(reason: error.reason, hint: misplaced)
      }
      try file.checkOwner(user, name: "the manifest", path: manifestPath)
      bytes = try file.contents(limit: Self.maximumBytes)
    } catch {
      return (
        nil, [Diagnostic(.error, file: manifestPath, reason: error.reason, hint: error.hint)]
      )
    }
    var (plugin, diagnostics) = Plugin.read(bytes, file: manifestPath, folder: path)
    if let id, let found = plugin?.id, found != id {
      diagnostics.append(
        Diagnostic(
          .error, file: manifestPath, path: "$.id",
          reason: "the plugin '\(found)' lies in a folder named '\(id)'",
          hint: "mv '\(path)' '\(sibling(named: found.text))'"))
      plugin = nil
    }
    return (plugin, diagnostics)
  }

  /// A folder beside this one.
  func sibling(named name: String) -> String {
    "/" + (path.split(separator: "/").dropLast() + [Substring(name)]).joined(separator: "/")
  }

  /// What a folder without a manifest seems to have instead of one: a file of nearly the same name, or
  /// the plugin in a folder of its own.
  private var misplaced: String? {
    let names = Descriptor.names(inDirectory: path).sorted()
    if let name = names.first(where: { $0.lowercased().hasPrefix("plugin.json") }) {
      return "mv '\(path)/\(name)' '\(manifestPath)'"
    }
    let inner = names.first { unsafe access("\(path)/\($0)/\(Self.manifestName)", F_OK) == 0 }
    return inner.map { "the manifest is one folder too deep: mv '\(path)/\($0)'/* '\(path)'" }
  }

  /// Folders of one data directory with a manifest that are not named like a plugin, and so not used.
  public static func strays(inDataDirectory directory: String) -> [PluginFolder] {
    let plugins = "\(directory)/deeplinkd/plugins"
    return Descriptor.names(inDirectory: plugins).sorted()
      .filter { (try? PluginID($0)) == nil }.map { PluginFolder(path: "\(plugins)/\($0)") }
      .filter { unsafe access($0.manifestPath, F_OK) == 0 }
  }

  /// The plugin folders of one data directory, by name; empty where there are none.
  public static func all(inDataDirectory directory: String) -> [PluginFolder] {
    let plugins = "\(directory)/deeplinkd/plugins"
    return Descriptor.names(inDirectory: plugins).sorted()
      .filter { (try? PluginID($0)) != nil }
      .map { PluginFolder(path: "\(plugins)/\($0)") }
  }

  /// Why a folder or a file is not read.
  struct Unusable: Error {
    var reason: String
    var hint: String?
  }
}

/// An open file or folder, closed with its last use.
private struct Descriptor: ~Copyable {
  private let number: Int32

  init(_ path: String, flags: Int32) throws(PluginFolder.Unusable) {
    number = unsafe open(path, flags | O_CLOEXEC)
    guard number >= 0 else { throw Self.failure("can not be opened") }
  }

  init(_ name: String, in folder: borrowing Descriptor, flags: Int32) throws(PluginFolder.Unusable)
  {
    number = unsafe openat(folder.number, name, flags | O_CLOEXEC)
    guard number >= 0 else { throw Self.failure("can not be opened") }
  }

  deinit { if number >= 0 { close(number) } }

  private static func failure(_ what: String) -> PluginFolder.Unusable {
    PluginFolder.Unusable(reason: "\(what): \(unsafe String(cString: strerror(errno)))")
  }

  private func status() throws(PluginFolder.Unusable) -> stat {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { throw Self.failure("can not be examined") }
    return status
  }

  func checkOwner(_ user: UInt32, name: String, path: String) throws(PluginFolder.Unusable) {
    let status = try status()
    guard status.st_uid == 0 || status.st_uid == user else {
      throw PluginFolder.Unusable(
        reason: "\(name) belongs to another user (uid \(status.st_uid))",
        hint: "plugins belong to the person or to root: sudo chown \(user) '\(path)'")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw PluginFolder.Unusable(
        reason: "\(name) can be written by others", hint: "chmod go-w '\(path)'")
    }
  }

  func contents(limit: Int) throws(PluginFolder.Unusable) -> [UInt8] {
    guard try status().st_mode & S_IFMT == S_IFREG else {
      throw PluginFolder.Unusable(reason: "is no regular file")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(number, &buffer, buffer.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw Self.failure("can not be read")
      }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else {
        throw PluginFolder.Unusable(reason: "is longer than \(limit) bytes")
      }
    }
  }

  /// The entries of a folder but those that begin with a dot.
  static func names(inDirectory path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
