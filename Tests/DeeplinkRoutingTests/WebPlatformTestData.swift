import Foundation

/// The conformance data of web-platform-tests: `DEEPLINK_WPT_DATA`, else `../shared/wpt` beside
/// the package.
enum WebPlatformTestData {
  static let folder: URL =
    if let folder = ProcessInfo.processInfo.environment["DEEPLINK_WPT_DATA"] {
      URL(fileURLWithPath: folder, isDirectory: true)
    } else {
      URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
        path: "../../../shared/wpt", directoryHint: .isDirectory
      ).standardizedFileURL
    }

  static func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: name).path)
  }

  static func data(_ name: String) throws -> Data {
    try Data(contentsOf: folder.appending(path: name))
  }
}
