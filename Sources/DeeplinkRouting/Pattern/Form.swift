/// One way that a route's URLs can look: a route's pattern with each of its optional groups
/// either there or not.
///
/// Forms are what the table of routes holds. A form is matched against a canonical URL.
public struct Form: Hashable, Sendable {
  /// How a URL goes on after its scheme; no form takes more than one of them.
  public enum Kind: Hashable, Sendable {
    /// `s:a`, a path that no slash begins.
    case opaque
    /// `s:/a`, a path without an authority.
    case rooted
    /// `s://a` and, with an empty host, `s:///a`.
    case authority
  }

  public let kind: Kind
  /// The names of all groups, in the order of the pattern; nil for those that have none.
  let groupNames: [String?]
  /// What the form matches, whatever its names are.
  public let shape: FormShape
  private let host: PatternProgram
  private let port: PatternProgram
  private let path: PatternProgram

  init(kind: Kind, host: [PatternPart], port: [PatternPart], path: [PatternPart]) {
    self.kind = kind
    self.host = host.isEmpty ? .nothing : PatternProgram(host, .hostname)
    self.port = port.isEmpty ? .nothing : PatternProgram(port, .plain)
    self.path = path.isEmpty ? .nothing : PatternProgram(path, .pathname)
    shape = FormShape(
      kind: kind, host: FormShape.atoms(host), port: FormShape.atoms(port),
      path: FormShape.atoms(path))
    groupNames = (host + port + path).filter { $0.kind != .fixedText }
      .map { $0.isNamed ? $0.name : nil }
  }

  /// The groups with a name, in the order of the pattern.
  public var names: [String] { groupNames.compactMap(\.self) }

  /// The raw values of the names if the form fits a canonical URL, else nil.
  public func captures(in url: ParsedURL) -> [CapturedValue]? {
    groups(in: FormTarget(url)).map { CapturedValue.pair(groupNames, $0) }
  }

  /// What the groups hold if the form fits what a URL holds, else nil.
  func groups(in target: FormTarget) -> [ArraySlice<UInt8>]? {
    var steps = 0
    return groups(in: target, steps: &steps)
  }

  /// As `groups(in:)`, and counts the steps of the programs.
  func groups(in target: FormTarget, steps: inout Int) -> [ArraySlice<UInt8>]? {
    // `//host` means an empty path or a slash.
    let isEmpty = shape.takesEmptyOrRoot && target.path == [UInt8(ascii: "/")]
    let pathBytes = isEmpty ? [] : target.path
    guard kind == target.kind, let hosts = host.match(target.host, steps: &steps),
      let ports = port.match(target.port, steps: &steps),
      let paths = path.match(pathBytes, steps: &steps)
    else { return nil }
    // No group of a form is optional: each has a range.
    return hosts.map { target.host[$0 ?? 0..<0] } + ports.map { target.port[$0 ?? 0..<0] }
      + paths.map { pathBytes[$0 ?? 0..<0] }
  }

  /// The most steps that matching a URL of this length can take.
  func stepLimit(length: Int) -> Int {
    [host, port, path].reduce(0) { $0 + $1.stepLimit(length: length) }
  }
}

/// The parts of a canonical URL that forms look at.
struct FormTarget {
  let kind: Form.Kind
  let host: [UInt8]
  let port: [UInt8]
  let path: [UInt8]

  init(_ url: ParsedURL) {
    kind = url.host != nil ? .authority : url.hasOpaquePath ? .opaque : .rooted
    host = Array(url.bytes[url.hostRange])
    port = url.port.map { Array(String($0).utf8) } ?? []
    path = Array(url.bytes[url.pathRange])
  }
}
