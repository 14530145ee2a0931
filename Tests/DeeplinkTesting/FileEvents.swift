import CDeeplinkLinux
import Foundation

/// Waits until `condition` holds, asking again at every change in the folder of `file`.
///
/// Throws past `limit`. The folder must exist.
public func wait(
  forChangesOf file: URL, limit: Duration = .seconds(30), until condition: () -> Bool
) throws {
  let watch = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
  guard watch >= 0 else { throw TestingError("inotify: \(String(cString: strerror(errno)))") }
  defer { close(watch) }
  let folder = file.deletingLastPathComponent().path
  let events = UInt32(IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE)
  guard inotify_add_watch(watch, folder, events) >= 0 else {
    throw TestingError("\(folder): \(String(cString: strerror(errno)))")
  }
  let deadline = ContinuousClock.now + limit
  var buffer = [UInt8](repeating: 0, count: 4096)
  // Asked after the watch is there, so that no change falls between.
  while !condition() {
    guard waitUntilReadable(watch, limit: ContinuousClock.now.duration(to: deadline)) else {
      throw TestingError("nothing more happened to \(file.path) in \(limit)")
    }
    while read(watch, &buffer, buffer.count) > 0 {}
  }
}

/// The lines of a file, none if it is not there.
public func lines(of file: URL) -> [String] {
  guard let data = try? Data(contentsOf: file) else { return [] }
  return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
}

/// Waits until `file` has `count` lines and gives them.
public func waitForLines(
  _ count: Int, in file: URL, limit: Duration = .seconds(30)
) throws -> [String] {
  try wait(forChangesOf: file, limit: limit) { lines(of: file).count >= count }
  return lines(of: file)
}
