import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

/// A daemon that runs sees what changes in its folders, without being told.
@Suite(.timeLimit(.minutes(2))) struct FollowingTests {
  let desktop: Desktop
  static let id = "org.example.Echo"
  static let plugin = "home/.local/share/deeplinkd/plugins/org.example.Echo"

  init() throws { desktop = try Desktop() }

  private static func manifest(_ match: String = "a", id: String = id) -> String {
    """
    {"id": "\(id)", "name": "Echo", "schemes": ["\(id.lowercased())"],
     "routes": [{"name": "r", "match": "\(match)", "effect": "view",
                 "action": {"command": {"run": ["true"], "sandbox": "none"}}}]}
    """
  }

  /// Asks until the answer is so: the daemon looks a moment after the change, and tells nobody.
  @LoopActor private func wait(
    _ client: Client, limit: Duration = .seconds(20), until isSo: () async throws -> Bool
  ) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      if try await isSo() { return true }
    }
    return false
  }

  /// Whether the daemon has a route for a link.
  @LoopActor private func takes(_ url: String, _ client: Client) async throws(BusError) -> Bool {
    try await client.call("CanOpen", .string(url)) == [.boolean(true)]
  }

  private func put(_ text: String, _ path: String) throws {
    try desktop.world.write(text, to: path)
  }

  private func shell(_ line: String) throws {
    let done = try desktop.world.run(
      ["/bin/sh", "-c", "cd '\(desktop.world.root.path)'; \(line)"])
    guard done.status == 0 else { throw TestingError(done.errors) }
  }

  @Test @LoopActor func `a plugin comes, changes, breaks, is mended and goes`() async throws {
    let client = try Client(desktop)
    let url = "org.example.echo:a"
    // It runs before there is any folder of its own.
    #expect(try await takes(url, client) == false)
    try put(Self.manifest(), "\(Self.plugin)/plugin.json")
    #expect(try await wait(client) { try await takes(url, client) })
    try put(Self.manifest("b"), "\(Self.plugin)/plugin.json")
    #expect(try await wait(client) { try await takes("org.example.echo:b", client) })
    #expect(try await takes(url, client) == false)
    // Written in place, as some editors do.
    try shell(
      "sed 's/\"b\"/\"c\"/' \(Self.plugin)/plugin.json > new; cat new > \(Self.plugin)/plugin.json")
    #expect(try await wait(client) { try await takes("org.example.echo:c", client) })
    // What is wrong is not used, and the last good one serves on: the next change shows that it looked.
    try put("{", "\(Self.plugin)/plugin.json")
    try put(
      Self.manifest(id: "org.example.Other"), "\(Self.plugin)/../org.example.Other/plugin.json")
    #expect(try await wait(client) { try await takes("org.example.other:a", client) })
    #expect(try await takes("org.example.echo:c", client))
    try shell("chmod g+w \(Self.plugin)/../org.example.Other")
    try put(Self.manifest("d"), "\(Self.plugin)/plugin.json")
    #expect(try await wait(client) { try await takes("org.example.echo:d", client) })
    try shell("rm -r \(Self.plugin)")
    #expect(try await wait(client) { try await !takes("org.example.echo:d", client) })
  }

  @Test @LoopActor func `a plugin whose folder is a link is followed to where it lies`()
    async throws
  {
    let client = try Client(desktop)
    #expect(try await takes("org.example.echo:a", client) == false)
    try put(Self.manifest(), "work/echo/plugin.json")
    try shell(
      "mkdir -p home/.local/share/deeplinkd/plugins; ln -s '../../../../../work/echo' \(Self.plugin)"
    )
    #expect(try await wait(client) { try await takes("org.example.echo:a", client) })
    try put(Self.manifest("b"), "work/echo/plugin.json")
    #expect(try await wait(client) { try await takes("org.example.echo:b", client) })
  }

  @Test @LoopActor func `a plugin is switched off and on`() async throws {
    try put(Self.manifest(), "\(Self.plugin)/plugin.json")
    let client = try Client(desktop)
    let url = "org.example.echo:a"
    #expect(try await takes(url, client))
    let choices = "home/.local/state/deeplinkd/choices/plugins.json"
    try put(#"{"disabled": ["org.example.Echo"]}"#, choices)
    #expect(try await wait(client) { try await !takes(url, client) })
    try put("{}", choices)
    #expect(try await wait(client) { try await takes(url, client) })
    // A package's plugin that comes with another installation's folder.
    try shell("rm -r home/.local/state/deeplinkd/choices")
    try put(#"{"disabled": ["org.example.Echo"]}"#, choices)
    #expect(try await wait(client) { try await !takes(url, client) })
  }

  @Test @LoopActor func `settings change`() async throws {
    try put(Self.manifest(":x"), "\(Self.plugin)/plugin.json")
    let client = try Client(desktop)
    let url = "org.example.echo:" + String(repeating: "x", count: 300)
    #expect(try await takes(url, client))
    let settings = "home/.config/deeplinkd/settings.json"
    try put(#"{"maximumLength": 256}"#, settings)
    #expect(try await wait(client) { try await !takes(url, client) })
    try put(#"{"maximumLength": 1000,}"#, settings)
    #expect(try await wait(client) { try await takes(url, client) })
    try shell("rm \(settings)")
    let long = "org.example.echo:" + String(repeating: "x", count: 2000)
    #expect(try await wait(client) { try await takes(long, client) })
  }

  @Test @LoopActor func `settings that are a link are followed to where they lie`() async throws {
    try put(Self.manifest(":x"), "\(Self.plugin)/plugin.json")
    let client = try Client(desktop)
    let url = "org.example.echo:" + String(repeating: "x", count: 300)
    #expect(try await takes(url, client))
    try put(#"{"maximumLength": 256}"#, "dot/settings.json")
    try shell(
      "mkdir home/.config/deeplinkd; ln -s ../../../dot/settings.json home/.config/deeplinkd/")
    #expect(try await wait(client) { try await !takes(url, client) })
    try put("{}", "dot/settings.json")
    #expect(try await wait(client) { try await takes(url, client) })
  }
}
