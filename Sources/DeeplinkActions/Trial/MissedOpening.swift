import DeeplinkDesktop
import DeeplinkRouting

/// What a program that did not start looked for outside its sandbox, by its last words.
///
/// A sandbox does not tell what was not there; programs do, on standard error. A path that they name,
/// that is there outside and not inside, is what they missed.
enum MissedOpening: Hashable, Sendable {
  /// A file or folder, as `"read"` takes it.
  ///
  /// Looked for in the home that the sandbox gives it: what is opened is at its place in the person's.
  case path(String, inOwnHome: Bool)
  case network
  case session
  /// A library or a module, which the person's own folders may hold and the sandbox does not.
  case library(String)

  /// - Parameter lines: What it wrote to standard error, the last line last.
  init?(
    lines: [String], _ sandbox: Sandbox, _ place: PluginPlace, _ variables: [String: String]
  ) {
    guard case .confined(let openings) = sandbox else { return nil }
    // The last words are the nearest to the cause.
    for line in lines.reversed() where !Self.isPlaceInCode(line) {
      if !openings.network, Self.networkWords.contains(where: line.holds) {
        self = .network
        return
      }
      if !openings.session, Self.sessionWords.contains(where: line.holds) {
        self = .session
        return
      }
      if let name = Self.library(in: line) {
        self = .library(name)
        return
      }
      if let path = Self.path(in: line, openings, place, variables) {
        self = path
        return
      }
    }
    return nil
  }

  var hint: String {
    switch self {
    case .path(let path, let inOwnHome):
      #""sandbox": {"read": ["\#(path)"]} shows it that place, "write" lets it change it too"#
        + (inOwnHome ? "; it is there below $DEEPLINK_PERSON_HOME, as its HOME is its own" : "")
    case .network: #"it looks for the network: "sandbox": {"network": true} opens it"#
    case .session: #"it looks for the session or a display: "sandbox": {"session": true} opens it"#
    case .library(let name):
      "it misses '\(name)': put it beside the manifest, or install it for the whole system; what is "
        + "installed for one person alone is not in the sandbox"
    }
  }

  // The words of getaddrinfo(3), strerror(3), curl and the common runtimes.
  private static let networkWords = [
    "Name or service not known", "Temporary failure in name resolution", "Network is unreachable",
    "Could not resolve host", "getaddrinfo", "ENOTFOUND", "EAI_AGAIN",
  ]
  // Those of Xlib, GTK, Qt, GDBus, libdbus and sd-bus.
  private static let sessionWords = [
    "annot open display", "ould not connect to display", "Unable to init server",
    "ailed to connect to the bus", "Failed to connect to bus", "annot autolaunch D-Bus",
    "nable to autolaunch",
    "DBUS_SESSION_BUS_ADDRESS", "ailed to connect to socket", "WAYLAND_DISPLAY",
  ]

  /// A line of a stack trace, as Python's and node's are: what it names was found.
  private static func isPlaceInCode(_ line: String) -> Bool {
    let words = line.drop { $0 == " " }
    return words.hasPrefix("File \"") || words.hasPrefix("at ")
  }

  /// What ld.so, Python and node say of something that they did not find.
  private static func library(in line: String) -> String? {
    if let name = line.between("error while loading shared libraries: ", ":") { return name }
    if let name = line.between("No module named '", "'") { return name }
    return line.between("Cannot find module '", "'")
  }

  /// The first path of `line` that is there outside and not in the sandbox.
  private static func path(
    in line: String, _ openings: Sandbox.Openings, _ place: PluginPlace,
    _ variables: [String: String]
  ) -> MissedOpening? {
    let personHome = variables["HOME"] ?? "/"
    let visible =
      ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/proc", "/dev"]
      + [place.folder]
      + (openings.read + openings.write).map {
        $0.hasPrefix("~") ? personHome + $0.dropFirst() : $0
      }
    for word in line.split(whereSeparator: { " \t'\"`,;()[]<>".contains($0) }) {
      var path = String(word.drop { $0 != "/" })
      while path.count > 1, ":./".contains(path.last ?? " ") { path.removeLast() }
      guard path.count > 1 else { continue }
      // Its home is another one inside; what it looks for there is at the same place in the person's.
      let inOwnHome = Paths.isInside(path, place.home)
      if inOwnHome {
        let rest = Paths.parts(path).dropFirst(Paths.parts(place.home).count)
        guard !rest.isEmpty, !FileFacts.exists(path) else { continue }
        path = personHome + "/" + rest.joined(separator: "/")
      }
      guard !visible.contains(where: { Paths.isInside(path, $0) }), FileFacts.exists(path) else {
        continue
      }
      let isPersons = Paths.isInside(path, personHome) && personHome != "/"
      return .path(
        isPersons ? "~" + path.dropFirst(personHome.count) : path, inOwnHome: inOwnHome)
    }
    return nil
  }
}

extension String {
  /// What stands between the first `start` and the next `end`; nil where either is not there.
  fileprivate func between(_ start: String, _ end: Character) -> String? {
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(start) {
        let tail = rest.dropFirst(start.count)
        guard let stop = tail.firstIndex(of: end) else { return nil }
        return stop == tail.startIndex ? nil : String(tail[..<stop])
      }
      rest = rest.dropFirst()
    }
    return nil
  }
}
