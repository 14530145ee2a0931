/// Why a text is no JSON5, and where.
public struct JSONError: Error, Sendable, Hashable {
  public var reason: String
  /// Both count from 1; the column counts bytes.
  public var line: Int
  public var column: Int
}

/// How much of a file is read, and how deep it may nest.
public struct JSONLimits: Sendable, Hashable {
  public var bytes: Int
  public var depth: Int

  public init(bytes: Int = 1 << 20, depth: Int = 64) {
    self.bytes = bytes
    self.depth = depth
  }
}

extension JSONValue {
  /// Reads JSON5 (spec.json5.org): JSON with comments, trailing commas, unquoted keys, single
  /// quotes and the numbers of ECMAScript.
  ///
  /// Stricter than the specification in two points: a key that stands twice in one object is an
  /// error, because readers disagree about which one counts, and so are `NaN` and `Infinity`.
  public init(json5 bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    guard bytes.count <= limits.bytes else {
      throw JSONError(reason: "longer than \(limits.bytes) bytes", line: 1, column: 1)
    }
    var reader = JSON5Reader(bytes: bytes, depthLimit: limits.depth)
    self = try reader.document()
  }

  public init(json5 text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    self = try JSONValue(json5: Array(text.utf8), limits: limits)
  }
}
