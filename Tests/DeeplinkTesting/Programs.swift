import Foundation

/// The programs under test and the files of the repository.
public enum Repository {
  public static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A built program: from the folder that the test bundle was built into, or from
  /// `DEEPLINK_TESTS_PROGRAMS`, where another build is to be tested.
  public static func program(_ name: String) -> String {
    if let folder = ProcessInfo.processInfo.environment["DEEPLINK_TESTS_PROGRAMS"] {
      return "\(folder)/\(name)"
    }
    return Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }.map {
      $0.bundleURL.deletingLastPathComponent().appending(path: name).path
    } ?? root.appending(path: ".build/debug/\(name)").path
  }
}

/// What a test needs of the machine.
///
/// A missing part skips the test, with the reason; where `DEEPLINK_TESTS_NO_SKIP` is set the test
/// runs, and fails for want of it.
public enum Requirement {
  public static func program(_ names: String...) -> Bool {
    mayNotSkip || names.allSatisfy(isInPath)
  }

  public static func file(_ url: URL) -> Bool {
    mayNotSkip || FileManager.default.fileExists(atPath: url.path)
  }

  public static var mayNotSkip: Bool {
    ProcessInfo.processInfo.environment["DEEPLINK_TESTS_NO_SKIP"] != nil
  }

  private static func isInPath(_ name: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }
}
