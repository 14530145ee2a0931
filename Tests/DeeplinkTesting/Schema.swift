import Foundation

/// One of the schemas in `data/`, as Debian's `python3-jsonschema` understands it.
public struct Schema: Sendable {
  private let path: String
  private static let python = "/usr/bin/python3"

  /// - Parameter name: Of the file, without `.schema.json`.
  public init(_ name: String) {
    path = Repository.root.appending(path: "data/\(name).schema.json").path
  }

  public static let isInstalled: Bool =
    Requirement.mayNotSkip
    || (try? run([python, "-c", "import jsonschema"], environment: [:]))?.status == 0

  /// For each document, which is JSON, its first error; empty where it is valid.
  ///
  /// The schema itself is checked against the schema of schemas.
  public func errors(in documents: [String]) throws -> [String] {
    let program = """
      import json, sys, jsonschema
      schema = json.load(open(sys.argv[1]))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      print(json.dumps([next((e.json_path + ': ' + e.message for e in validator.iter_errors(d)), '')
                        for d in json.load(sys.stdin)]))
      """
    let done = try run(
      [Self.python, "-c", program, path], environment: [:],
      input: Data("[\(documents.joined(separator: ","))]".utf8))
    guard done.status == 0 else { throw TestingError(done.errors) }
    return try JSONDecoder().decode([String].self, from: Data(done.output.utf8))
  }
}
