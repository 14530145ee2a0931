import DeeplinkRouting

/// The messages between daemon and worker: JSON-RPC 2.0, one object a line.
enum WorkerProtocol {
  /// The version that `initialize` names.
  static let version: Int64 = 1

  /// The longest line that a worker may write, in bytes.
  static let maximumLine = 1 << 20

  static func request(_ method: String, id: UInt64, _ parameters: JSONValue) -> String {
    JSONValue.object([
      "jsonrpc": .string("2.0"), "id": .integer(Int64(clamping: id)), "method": .string(method),
      "params": parameters,
    ]).description + "\n"
  }

  /// What a worker writes.
  enum Incoming: Sendable, Hashable {
    case answer(id: UInt64, JSONValue)
    case error(id: UInt64, String)
    /// Its notification `log`.
    case log(level: String, message: String)
    /// Valid JSON that is none of these: passed over, as JSON-RPC asks of notifications.
    case other
  }

  /// Nil for a line that is no JSON object: a program that prints other things does not speak this.
  static func incoming(_ line: ArraySlice<UInt8>) -> Incoming? {
    guard let value = try? JSONValue(json5: Array(line)), value.object != nil else { return nil }
    guard let id = value["id"]?.integer.flatMap(UInt64.init(exactly:)) else {
      guard value["method"]?.string == "log", let text = value["params"]?["message"]?.string else {
        return .other
      }
      return .log(level: value["params"]?["level"]?.string ?? "info", message: text)
    }
    if let result = value["result"] { return .answer(id: id, result) }
    if let error = value["error"] {
      return .error(id: id, error["message"]?.string ?? "an error without a message")
    }
    return .other
  }
}
