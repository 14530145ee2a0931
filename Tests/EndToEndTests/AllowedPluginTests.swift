import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

/// What a person agrees to when a plugin is added holds when its links come.
@Suite(.timeLimit(.minutes(2))) struct AllowedPluginTests {
  let desktop: Desktop

  init() throws { desktop = try Desktop() }

  /// Whether `--allow` was given, and what becomes of a link, where nobody can be asked.
  @Test(arguments: [([String](), "consent-unavailable"), (["--allow"], "delivered")])
  @LoopActor func `a route that may change something is asked about unless it was allowed`(
    options: [String], outcome: String
  ) async throws {
    let folder = desktop.world.root.appending(path: "downloads/com.example.change")
    try desktop.world.write(
      """
      {"id": "com.example.change", "name": "Change", "schemes": ["com.example.change"],
       "routes": [
         {"name": "all", "match": ":what", "effect": "change",
          "action": {"command": {"run": ["printf", "%s", "--", "{what}"], "sandbox": "none"}}}]}
      """, to: "downloads/com.example.change/plugin.json")
    let added = try desktop.world.run(
      [Repository.program("deeplink"), "plugin", "add", "--yes"] + options + [folder.path])
    #expect(added.status == 0, "\(added.errors)")
    let client = try Client(desktop)
    #expect(try await client.open("com.example.change:a").outcome == outcome)
    // What was agreed to was this action.
    try desktop.world.write(
      """
      {"id": "com.example.change", "name": "Change", "schemes": ["com.example.change"],
       "routes": [
         {"name": "all", "match": ":what", "effect": "change",
          "action": {"command": {"run": ["echo", "--", "{what}"], "sandbox": "none"}}}]}
      """, to: "home/.local/share/deeplinkd/plugins/com.example.change/plugin.json")
    _ = try await client.call("Reload")
    #expect(try await client.open("com.example.change:a").outcome == "consent-unavailable")
  }
}
