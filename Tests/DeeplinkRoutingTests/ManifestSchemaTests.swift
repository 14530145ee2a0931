import DeeplinkRouting
import DeeplinkTesting
import Foundation
import Testing

/// `data/plugin.schema.json`, held against python's `jsonschema` and our loader.
@Suite(.enabled(if: Schema.isInstalled, "python3-jsonschema is not installed"))
struct ManifestSchemaTests {
  private func errors(in documents: [JSONValue]) throws -> [String] {
    try Schema("plugin").errors(in: documents.map(\.description))
  }

  @Test func `the schema accepts what the loader accepts`() throws {
    let errors = try errors(in: ValidManifest.all.map(\.document))
    for (row, error) in zip(ValidManifest.all, errors) {
      #expect(error.isEmpty, "\(row.id)")
    }
    #expect(errors.count == 30)
  }

  @Test func `the schema refuses what it can see, and nothing that the loader takes`() throws {
    let errors = try errors(in: InvalidManifest.all.map(\.document))
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
    let errors = try errors(in: documents)
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
    let root = Repository.root
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
    let errors = try errors(in: documents)
    #expect(errors.allSatisfy { $0.isEmpty }, "\(errors)")
  }
}
