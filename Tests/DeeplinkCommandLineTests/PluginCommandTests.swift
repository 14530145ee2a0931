import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// `deeplink plugin` and `deeplink schemes`, which read the plugins themselves.
@Suite(.timeLimit(.minutes(2))) struct PluginCommandTests {
  let person: Person
  init() throws { person = try Person() }

  private func objects(_ output: Finished) throws -> [JSONValue] {
    try output.lines.map { try JSONValue(json5: Array($0.utf8)) }
  }

  @Test func `the list has a line for each plugin, also for one with errors`() throws {
    try person.write("{", to: "data/deeplinkd/plugins/com.example.Broken/plugin.json")
    let list = try person.deeplink("plugin", "list")
    #expect(list.status == 0)
    let folder = person.plugins.path
    #expect(
      list.lines == [
        "com.example.Photos\tPhotos\tenabled\tcom.example.photos myphotoapp\t"
          + "\(folder)/com.example.Photos",
        "com.example.demo\tdeeplinkd demonstration\tenabled\tcom.example.demo\t"
          + "\(folder)/com.example.demo",
        "com.example.Broken\t\tinvalid\t\t\(folder)/com.example.Broken",
      ])
    let json = try objects(try person.deeplink("plugin", "list", "--json"))
    #expect(json.map { $0["state"] } == ["enabled", "enabled", "invalid"])
    #expect(json[0]["schemes"] == ["com.example.photos", "myphotoapp"])
  }

  @Test func `without plugins the list is empty and no error`() throws {
    for command in [["plugin", "list"], ["schemes"], ["plugin", "check"]] {
      let done = try Person(plugins: []).run([Person.program] + command)
      #expect(done.status == 0 && done.output == "" && done.errors == "", "\(command)")
    }
  }

  @Test func `a plugin is shown with its routes, for people and as JSON`() throws {
    let text = try person.deeplink("plugin", "show", "com.example.Photos")
    #expect(text.status == 0)
    #expect(text.output.hasPrefix("plugin       com.example.Photos\nname         Photos\n"))
    #expect(text.output.contains("\n\nimport\n  match      /import\n"))
    #expect(text.output.contains("  parameter  from: string (uri), required\n"))
    let json = try objects(try person.deeplink("plugin", "show", "--json", "com.example.Photos"))
    #expect(json.count == 1)
    #expect(json[0]["routes"]?.array?.count == 7)
    let route = json[0]["routes"]?.array?[1]
    #expect(route?["match"] == ["/import"])
    #expect(route?["consent"] == "asked at first use")
    #expect(
      route?["parameters"] == [
        ["name": "from", "type": "string (uri)", "required": true, "sensitive": false]
      ])
  }

  @Test func `a plugin with errors is not shown, its errors are`() throws {
    try person.write("{", to: "data/deeplinkd/plugins/com.example.Broken/plugin.json")
    let done = try person.deeplink("plugin", "show", "com.example.Broken")
    #expect(done.status == 1 && done.output == "")
    #expect(done.errors.contains("com.example.Broken/plugin.json: line 1, column 2"))
  }

  @Test func `check gives every error and warning with its place`() throws {
    try person.write(
      """
      {"id": "com.example.Bad", "name": "Bad", "schemes": ["bad", "UPPER"],
       "routes": [{"name": "a", "mtach": "/x", "action": {"worker": {"run": []}}}]}
      """, to: "elsewhere/plugin.json")
    let folder = person.root.appending(path: "elsewhere").path
    for path in [folder, folder + "/", folder + "/plugin.json"] {
      let text = try person.deeplink("plugin", "check", path)
      #expect(text.status == 1)
      for part in [
        "$.schemes[0]: warning: ", "$.schemes[1]: error: ", "$.routes[0].mtach: error: ",
        "hint: did you mean 'match'?", "$.routes[0].action.worker.run: error: ",
      ] { #expect(text.output.contains(part), "\(part) in \(text.output)") }
    }
    let json = try objects(try person.deeplink("plugin", "check", "--json", folder))
    #expect(
      json.allSatisfy {
        $0.object?.keys.sorted() == ["file", "hint", "path", "reason", "severity"]
      })
    #expect(Set(json.compactMap { $0["severity"]?.string }) == ["error", "warning"])
  }

  @Test func `check looks at installed plugins too, and warnings are no failure`() throws {
    let one = try person.deeplink("plugin", "check", "--start", "no", "com.example.Photos")
    #expect(one.status == 0)
    #expect(one.output.contains("$.schemes[1]: warning: 'myphotoapp' has no dot"))
    let all = try person.deeplink("plugin", "check", "--start", "no")
    #expect(all.status == 0 && all.output == one.output)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o666],
      ofItemAtPath: person.plugins.appending(path: "com.example.demo/plugin.json").path)
    let open = try person.deeplink("plugin", "check")
    #expect(open.status == 1)
    #expect(open.output.contains("can be written by others"))
  }

  @Test func `a scheme that two claim has the first as its owner`() throws {
    try person.write(
      """
      {"id": "com.example.Albums", "name": "Albums", "schemes": ["com.example.photos"],
       "sharedWith": ["com.example.Photos"],
       "routes": [{"name": "a", "match": "/albums", "action": {"notify": {"title": "A"}}}]}
      """, to: "data/deeplinkd/plugins/com.example.Albums/plugin.json")
    let done = try person.deeplink("schemes")
    #expect(
      done.lines == [
        "com.example.demo\tcom.example.demo\tdeeplinkd demonstration\t\t\t\t",
        "com.example.photos\tcom.example.Albums\tAlbums\tcom.example.Photos\t\t\t",
        "myphotoapp\tcom.example.Photos\tPhotos\t\t\t\t",
      ])
    let json = try objects(try person.deeplink("schemes", "--json"))
    #expect(json[1]["owner"] == "com.example.Albums")
    #expect(json[1]["sharedWith"] == ["com.example.Photos"])
  }
}
