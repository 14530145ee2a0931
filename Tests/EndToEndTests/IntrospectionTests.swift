import DeeplinkTesting
import Foundation
import FoundationXML
import Testing

/// The interface files are the contract: what the daemon says of itself is held against them.
@Suite(.timeLimit(.minutes(2))) struct IntrospectionTests {
  static let file = Repository.root.appending(path: "data/interfaces/org.deeplinkd.Dispatcher1.xml")

  @Test func `the daemon exports what the interface's file says, member by member`() throws {
    let written = try #require(
      InterfaceReader.interfaces(in: Data(contentsOf: Self.file))["org.deeplinkd.Dispatcher1"])
    let exported = try #require(try Self.exported()["org.deeplinkd.Dispatcher1"])
    // Methods, their arguments, and so on: a file that was not understood holds none.
    #expect(written.count == 49)
    #expect(exported.subtracting(written).sorted() == [])
    #expect(written.subtracting(exported).sorted() == [])
  }

  @Test func `org.freedesktop.Application is what the desktop entry specification says`() throws {
    let exported = try #require(try Self.exported()["org.freedesktop.Application"])
    #expect(
      exported == [
        "method Activate", "method Activate 0: in a{sv} platform_data",
        "method Open", "method Open 0: in as uris", "method Open 1: in a{sv} platform_data",
        "method ActivateAction", "method ActivateAction 0: in s action_name",
        "method ActivateAction 1: in av parameter",
        "method ActivateAction 2: in a{sv} platform_data",
      ])
  }

  @Test func `the standard interfaces are there, and an app's is not`() throws {
    #expect(
      Set(try Self.exported().keys) == [
        "org.deeplinkd.Dispatcher1", "org.freedesktop.Application",
        "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable",
        "org.freedesktop.DBus.Peer",
      ])
  }

  /// By another implementation than ours.
  private static func exported() throws -> [String: Set<String>] {
    let done = try Desktop().world.run([
      "gdbus", "introspect", "--session", "--xml", "-d", Desktop.busName, "-o",
      "/org/deeplinkd/Deeplinkd",
    ])
    guard done.status == 0 else { throw TestingError(done.errors) }
    return try InterfaceReader.interfaces(in: Data(done.output.utf8))
  }
}

/// Reads introspection data: each interface as a set of sentences, one for each thing that counts.
private final class InterfaceReader: NSObject, XMLParserDelegate {
  private var interfaces: [String: Set<String>] = [:]
  private var interface = ""
  private var member = ""
  private var arguments = 0

  static func interfaces(in data: Data) throws -> [String: Set<String>] {
    let parser = XMLParser(data: data)
    let reader = InterfaceReader()
    parser.delegate = reader
    guard parser.parse() else {
      throw TestingError("line \(parser.lineNumber): \(String(describing: parser.parserError))")
    }
    return reader.interfaces
  }

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    func attribute(_ name: String) -> String { attributes[name] ?? "without \(name)" }
    switch element {
    case "interface":
      interface = attribute("name")
      interfaces[interface] = []
    case "method", "signal", "property":
      member = "\(element) \(attribute("name"))"
      arguments = 0
      let property = element == "property" ? " \(attribute("type")) \(attribute("access"))" : ""
      interfaces[interface]?.insert(member + property)
    case "arg":
      // A signal's are out, whether it is said or not.
      let direction = attributes["direction"] ?? (member.hasPrefix("signal") ? "out" : "in")
      interfaces[interface]?.insert(
        "\(member) \(arguments): \(direction) \(attribute("type")) \(attribute("name"))")
      arguments += 1
    case "annotation":
      interfaces[interface]?.insert("\(member) \(attribute("name")) \(attribute("value"))")
    default: break
    }
  }
}
