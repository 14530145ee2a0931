// How a manifest becomes a plugin: each object is read by an `ObjectReader`, which reports what is
// wrong with a member and goes on; what can be said only about the whole is checked afterwards
// (`RouteChecks.swift`). A manifest with one error gives no plugin.

extension Plugin {
  static let keys = [
    "id", "name", "icon", "schemes", "routes", "allowsCredentials", "sharedWith",
    "associatedDomains", "appIDs",
  ]

  /// Schemes whose links are not a plugin's to take, and why.
  private static func reservation(of scheme: Scheme) -> String? {
    if scheme.isSpecial && scheme != "file" {
      return "web addresses are claimed with \"associatedDomains\""
    }
    if URLTemplate.forbiddenSchemes.contains(scheme) { return "no plugin can have it" }
    return scheme == "org.deeplinkd" ? "it is the daemon's own" : nil
  }

  /// Reads a manifest; nil where it has an error.
  ///
  /// The diagnostics also hold the warnings.
  ///
  /// - Parameters:
  ///   - file: The path that diagnostics name.
  ///   - folder: Where it lies, see `folder`.
  public static func read(
    _ bytes: [UInt8], file: String, folder: String? = nil
  ) -> (plugin: Plugin?, diagnostics: [Diagnostic]) {
    let diagnostics = Diagnostics(file: file)
    do throws(JSONError) {
      let document = try JSONValue(json5: bytes)
      let plugin = Plugin(document, folder: folder, in: diagnostics)
      return (diagnostics.hasErrors ? nil : plugin, diagnostics.list)
    } catch {
      diagnostics.error("$", "line \(error.line), column \(error.column): \(error.reason)")
      return (nil, diagnostics.list)
    }
  }

  private init?(_ document: JSONValue, folder: String?, in diagnostics: Diagnostics) {
    guard let reader = ObjectReader(document, at: "$", keys: Self.keys, in: diagnostics) else {
      return nil
    }
    let id = reader.pluginID("id", reader.string("id", required: true))
    let name = reader.required("name").flatMap {
      LocalizedText($0, at: "$.name", in: diagnostics)
    }
    let icon = reader.string("icon")
    if let icon, !Self.isIcon(icon) {
      reader.error("icon", "expected the name of an icon, or the absolute path of a picture")
    }
    let schemes = Self.readSchemes(reader)
    let routes = Self.readRoutes(reader)
    let shared = reader.strings("sharedWith") ?? []
    let sharedWith = shared.indices.compactMap {
      reader.pluginID("sharedWith", index: $0, shared[$0])
    }
    Self.checkRedirects(routes, schemes: schemes, in: diagnostics)
    guard let id, let name else { return nil }
    self.init(
      id: id, name: name, icon: icon, schemes: schemes, routes: routes,
      allowsCredentials: reader.boolean("allowsCredentials") ?? false,
      sharedWith: Set(sharedWith), associatedDomains: Self.readDomains(reader),
      appIDs: reader.strings("appIDs") ?? [], folder: folder)
    if associatedDomains.isEmpty != appIDs.isEmpty {
      let (there, missing) =
        appIDs.isEmpty ? ("associatedDomains", "appIDs") : ("appIDs", "associatedDomains")
      reader.error(there, "means nothing without '\(missing)'")
    }
  }

  /// The words and paths that a desktop entry's `Icon=` takes.
  private static func isIcon(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 1_000
      && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
      && (text.hasPrefix("/") || !text.contains("/"))
  }

  private static func readSchemes(_ reader: ObjectReader) -> [Scheme] {
    var schemes: [Scheme] = []
    let texts = reader.strings("schemes", required: true)
    for (index, text) in (texts ?? []).enumerated() {
      let path = "$.schemes[\(index)]"
      guard text.utf8.count <= 100, let scheme = Scheme(text) else {
        reader.diagnostics.error(
          path, "'\(text)' is no scheme",
          hint: text.contains(":")
            ? "write it without the colon and what follows"
            : "a letter, then letters, digits, '+', '-' and '.'")
        continue
      }
      if scheme.text != text {
        reader.diagnostics.error(
          path, "a scheme is written in lower case", hint: "'\(scheme)'")
      } else if schemes.contains(scheme) {
        reader.diagnostics.error(path, "'\(scheme)' stands here twice")
      } else if let reason = reservation(of: scheme) {
        reader.diagnostics.error(path, "'\(scheme)' can not be claimed: \(reason)")
      } else {
        warn(about: scheme, at: path, in: reader.diagnostics)
        schemes.append(scheme)
      }
    }
    if texts?.isEmpty == true { reader.error("schemes", "names no scheme") }
    return schemes
  }

  private static func warn(about scheme: Scheme, at path: String, in diagnostics: Diagnostics) {
    if !scheme.text.contains(".") {
      diagnostics.warning(
        path, "'\(scheme)' has no dot, so other apps may choose the same (RFC 7595, section 3.8)",
        hint: "use a domain of yours in reverse, such as com.example.\(scheme)")
    }
    if scheme.text.utf8.contains(where: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      diagnostics.warning(
        path, "'\(scheme)' has a digit: xdg-open 1.1.3 (Debian 12) takes such links for file names"
      )
    }
  }

  private static func readRoutes(_ reader: ObjectReader) -> [Route] {
    guard let value = reader.required("routes") else { return [] }
    guard let elements = value.array else {
      reader.error("routes", "expected a list of routes, found \(value.kind)")
      return []
    }
    if elements.isEmpty { reader.error("routes", "has no route") }
    if elements.count > maximumRoutes {
      reader.error("routes", "has more than \(maximumRoutes) routes")
      return []
    }
    var places: [String: Int] = [:]
    let routes = elements.enumerated().compactMap { index, element -> (index: Int, route: Route)? in
      let path = "$.routes[\(index)]"
      if let name = element["name"]?.string {
        if let first = places[name] {
          reader.diagnostics.error(
            "\(path).name", "'\(name)' is the name of $.routes[\(first)] already")
        } else {
          places[name] = index
        }
      }
      return Route(element, at: path, in: reader.diagnostics).map { (index, $0) }
    }
    RouteConflicts.check(routes, in: reader.diagnostics)
    return routes.map(\.route)
  }

  /// `applinks:` and a domain, which may begin with `*.` and end with a `?mode=` (section 11).
  private static func readDomains(_ reader: ObjectReader) -> [String] {
    let domains = reader.strings("associatedDomains") ?? []
    for (index, text) in domains.enumerated() {
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let path = "$.associatedDomains[\(index)]"
      guard parts.count == 2, parts[0] == "applinks" else {
        reader.diagnostics.error(
          path, "'\(text)' is no associated domain", hint: "such as applinks:example.com")
        continue
      }
      let halves = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      let isDeveloper = halves.count == 2 && halves[1] == "mode=developer"
      let domain = halves[0].hasPrefix("*.") ? halves[0].dropFirst(2) : halves[0]
      // A developer's own server may have a port; Apple's has none.
      let host = isDeveloper ? domain.prefix { $0 != ":" } : domain
      if !HostName.isValid(String(host)) || (halves.count == 2 && !isDeveloper) {
        reader.diagnostics.error(
          path, "'\(text)' is no associated domain",
          hint: "a domain in lower case, or '*.' and one; '?mode=developer' may follow")
      }
    }
    return domains
  }

  /// RFC 8252, section 7.1: whoever claims a redirect's scheme can take the code.
  private static func checkRedirects(
    _ routes: [Route], schemes: [Scheme], in diagnostics: Diagnostics
  ) {
    guard routes.contains(where: { $0.preset == .oauthRedirect }) else { return }
    for scheme in schemes where !scheme.text.contains(".") {
      diagnostics.warning(
        "$.schemes",
        "sign-in answers come on '\(scheme)', which any other app may claim: a code that lands "
          + "there can be stolen (RFC 8252, section 7.1)",
        hint: "redirect to a scheme in reverse DNS that you own")
    }
  }
}

extension ObjectReader {
  /// A plugin's identity in a member, or in an element of one.
  fileprivate func pluginID(_ key: String, index: Int? = nil, _ text: String?) -> PluginID? {
    guard let text else { return nil }
    do throws(PluginID.Invalid) { return try PluginID(text) } catch {
      diagnostics.error(path(of: key) + (index.map { "[\($0)]" } ?? ""), error.reason)
      return nil
    }
  }
}

/// Names of hosts as manifests write them.
enum HostName {
  /// Labels of letters, digits and hyphens in lower case (RFC 1123, section 2.1).
  static func isValid(_ text: String) -> Bool {
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return text.utf8.count <= 253
      && labels.allSatisfy { label in
        (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
          && label.last != UInt8(ascii: "-")
          && label.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
              || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
          }
      }
  }
}
