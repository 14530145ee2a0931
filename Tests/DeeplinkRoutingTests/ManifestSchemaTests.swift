import DeeplinkRouting
import Foundation
import Testing

/// `data/plugin.schema.json`, held against python's `jsonschema` and our loader.
@Suite(.enabled(if: SchemaValidator.isInstalled, "python3-jsonschema is not installed"))
struct ManifestSchemaTests {
  @Test func `the schema is a schema`() throws {
    #expect(try SchemaValidator.errors(in: []).isEmpty)
  }

  @Test func `the schema accepts what the loader accepts`() throws {
    let errors = try SchemaValidator.errors(in: ValidManifest.all.map(\.document))
    for (row, error) in zip(ValidManifest.all, errors) {
      #expect(error.isEmpty, "\(row.id)")
    }
    #expect(errors.count == 30)
  }

  @Test func `the schema refuses what it can see, and nothing that the loader takes`() throws {
    let errors = try SchemaValidator.errors(in: InvalidManifest.all.map(\.document))
    for (row, error) in zip(InvalidManifest.all, errors) {
      #expect(error.isEmpty != row.isSeenBySchema, "\(row.id): \(error)")
    }
    #expect(errors.count == InvalidManifest.all.count)
  }

  /// Each document is a right one with one value replaced, removed or added somewhere.
  @Test func `the schema never refuses what the loader takes`() throws {
    var generator = SplitMix(state: 11)
    let right = try ValidManifest.all.map(\.document) + [Photos.document()]
    let documents = (0..<3_000).map { _ in
      (right.randomElement(using: &generator) ?? .null).mutated(using: &generator)
    }
    let errors = try SchemaValidator.errors(in: documents)
    var taken = 0
    for (document, error) in zip(documents, errors) {
      let (plugin, diagnostics) = Plugin.read(Array(document.description.utf8), file: "p")
      if plugin != nil {
        taken += 1
        #expect(error.isEmpty, "\(error) in \(document)")
      } else if !error.isEmpty {
        #expect(diagnostics.contains { $0.severity == .error })
      }
    }
    #expect(errors.count == 3_000 && taken > 300)
  }

  @Test func `every manifest in the repository is valid for both`() throws {
    let root = SchemaValidator.root
    let skipped = [".build", ".git"]
    let names = FileManager.default.enumerator(atPath: root.path)
    var documents: [JSONValue] = []
    while let name = names?.nextObject() as? String {
      if skipped.contains(name) { names?.skipDescendants() }
      guard name.hasSuffix("/plugin.json"), !name.contains("invalid") else { continue }
      let bytes = try [UInt8](Data(contentsOf: root.appending(path: name)))
      let (plugin, diagnostics) = Plugin.read(bytes, file: name)
      #expect(plugin != nil, "\(diagnostics)")
      documents.append(try JSONValue(json5: bytes))
    }
    #expect(documents.count >= 1)
    let errors = try SchemaValidator.errors(in: documents)
    #expect(errors.allSatisfy { $0.isEmpty }, "\(errors)")
  }
}

/// Debian's `python3-jsonschema`, run once for many documents.
enum SchemaValidator {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let python = "/usr/bin/python3"

  static let isInstalled: Bool =
    (try? run(["-c", "import jsonschema; jsonschema.Draft202012Validator"], input: ""))?.status == 0

  /// For each document the first error, empty where it is valid.
  static func errors(in documents: [JSONValue]) throws -> [String] {
    let program = """
      import json, sys, jsonschema
      schema = json.load(open(sys.argv[1]))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      print(json.dumps([next((e.json_path + ': ' + e.message for e in validator.iter_errors(d)), '')
                        for d in json.load(sys.stdin)]))
      """
    let schema = root.appending(path: "data/plugin.schema.json").path
    let (status, output) = try run(
      ["-c", program, schema], input: JSONValue.array(documents).description)
    guard status == 0 else { throw Failed() }
    return try JSONValue(json5: output).array?.compactMap(\.string) ?? []
  }

  struct Failed: Error {}

  private static func run(
    _ arguments: [String], input: String
  ) throws -> (status: Int32, output: [UInt8]) {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "input")
    try Data(input.utf8).write(to: file)
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: file)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, [UInt8](output))
  }
}
