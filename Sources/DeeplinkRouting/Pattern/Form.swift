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
  /// The groups with a name, in the order of the pattern.
  public let names: [String]
  /// What the form matches, whatever its names are.
  public let shape: FormShape
  private let host: PatternProgram
  private let port: PatternProgram
  private let path: PatternProgram
  /// For each group of host, port and path the index of its name, or nil if it has none.
  private let nameIndices: [Int?]

  init(kind: Kind, host: [PatternPart], port: [PatternPart], path: [PatternPart]) {
    self.kind = kind
    self.host = PatternProgram(host, .hostname)
    self.port = PatternProgram(port, .plain)
    self.path = PatternProgram(path, .pathname)
    shape = FormShape(
      kind: kind, host: FormShape.atoms(host), port: FormShape.atoms(port),
      path: FormShape.atoms(path))
    var names: [String] = []
    var nameIndices: [Int?] = []
    for part in host + port + path where part.kind != .fixedText {
      nameIndices.append(part.isNamed ? names.count : nil)
      if part.isNamed { names.append(part.name) }
    }
    self.names = names
    self.nameIndices = nameIndices
  }

  /// The raw values of the names if the form fits a canonical URL, else nil.
  public func captures(in url: ParsedURL) -> [CapturedValue]? {
    values(in: FormTarget(url)).map { zip(names, $0).map(CapturedValue.init) }
  }

  /// The raw values of `names` if the form fits what a URL holds, else nil.
  func values(in target: FormTarget) -> [String]? {
    guard kind == target.kind, let hosts = host.match(target.host),
      let ports = port.match(target.port)
    else { return nil }
    // `//host` means an empty path or a slash (our rule).
    let pathBytes = takesEmptyOrRoot && target.path == [0x2F] ? [] : target.path
    guard let paths = path.match(pathBytes) else { return nil }
    var values = [String](repeating: "", count: names.count)
    let groups =
      hosts.map { (target.host, $0) } + ports.map { (target.port, $0) }
      + paths.map { (pathBytes, $0) }
    for (nameIndex, (bytes, range)) in zip(nameIndices, groups) {
      guard let nameIndex, let range else { continue }
      values[nameIndex] = String(decoding: bytes[range], as: UTF8.self)
    }
    return values
  }

  /// Whether the form has an authority and no path.
  var takesEmptyOrRoot: Bool { shape.takesEmptyOrRoot }

  public static func == (left: Form, right: Form) -> Bool {
    left.shape == right.shape && left.names == right.names
      && left.nameIndices == right.nameIndices
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(shape)
    hasher.combine(names)
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
