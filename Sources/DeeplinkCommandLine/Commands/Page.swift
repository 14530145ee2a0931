import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting

extension Option {
  fileprivate static let output = Option(
    "output", value: "FILE", completion: .files, "write the page there")
}

extension Command {
  static let page = Command(
    name: "page",
    summary: "write an HTML page with a link for each route",
    details: [
      "The links are made from the routes, with made-up values, and are clicked through in a "
        + "browser. Without --output the page goes to standard output. A route whose values cannot "
        + "be made up is listed without a link."
    ],
    arguments: [
      Argument(
        name: "PLUGIN", help: "only the routes of these plugins", completion: .pluginIDs,
        isRequired: false, isRepeated: true)
    ],
    options: [.json, .output],
    examples: [
      Example(
        command: "deeplink page --output links.html && xdg-open links.html",
        meaning: "every link of every plugin, to click")
    ],
    exitStatuses: [
      ExitStatus(status: 0, meaning: "done"),
      ExitStatus(status: 1, meaning: "there is no such plugin, or the page cannot be written"),
    ],
    run: { invocation throws(CommandError) in
      let catalog = invocation.context.plugins()
      catalog.noteErrors(invocation.context.errors)
      let table = invocation.context.table(of: catalog)
      for word in invocation.arguments
      where !table.plugins.contains(where: { $0.id.text == word.text }) {
        throw .unknownPlugin(word.text, known: table.plugins.map(\.id.text))
      }
      let wanted = Set(invocation.arguments.map(\.text))
      let plugins = table.plugins.filter { wanted.isEmpty || wanted.contains($0.id.text) }
      let text =
        invocation.wantsJSON
        ? plugins.flatMap(table.samples).map { "\($0.json)\n" }.joined()
        : page(plugins.map { ($0, table.samples(of: $0)) })
      if let path = invocation.value(.output)?.text {
        try CommandError.files { () throws(PersonFile.Failure) in
          try PersonFile(path).write(Array(text.utf8))
        }
      } else {
        invocation.output.write(text)
      }
      return ExitCode.accepted
    })

  private static func page(_ plugins: [(plugin: Plugin, samples: [SampleLink])]) -> String {
    var html = """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <title>Deep links</title>
      <style>
      body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
      td { padding: .2rem 1rem .2rem 0; vertical-align: top }
      a { overflow-wrap: anywhere }
      </style>
      <h1>Deep links</h1>

      """
    for (plugin, samples) in plugins {
      html += "<h2>\(plugin.name.standard.html)</h2>\n<p>\(plugin.id.text.html)</p>\n<table>\n"
      for sample in samples {
        let link = sample.url.map { "<a href=\"\($0.html)\">\($0.html)</a>" }
        html +=
          "<tr><td>\(sample.route.html)<td>\(link ?? "\(sample.pattern.html): by hand, its values cannot be made up")\n"
      }
      html += "</table>\n"
    }
    return html
  }
}

extension SampleLink {
  fileprivate var json: JSONValue {
    [
      "plugin": .string(plugin.text), "route": .string(route), "match": .string(pattern),
      "url": JSONValue(url),
    ]
  }
}

extension String {
  /// As text or in the value of an attribute (HTML Standard, section 13.1.2).
  fileprivate var html: String {
    var result = ""
    for character in self {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }
}
