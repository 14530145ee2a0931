import DeeplinkRouting

/// URLs of x-callback-url 1.0: a target that a link named, with what it is to be told.
public enum CallbackURL {
  /// `target` with `parameters` added to its query; nil where the target is no URL.
  public static func url(_ target: String, adding parameters: [(String, String)]) -> ParsedURL? {
    guard let url = try? ParsedURL.parse(target) else { return nil }
    let added = parameters.map { name, value in
      "\(PercentEncoding.encodeComponent(name))=\(PercentEncoding.encodeComponent(value))"
    }
    guard !added.isEmpty else { return url }
    // The query stands before the fragment, and may be there or not.
    let fragment = url.fragment.map { "#\($0)" } ?? ""
    let before = String(url.href.dropLast(fragment.count))
    let separator = url.query == nil ? "?" : url.query?.isEmpty == true ? "" : "&"
    return try? ParsedURL.parse(before + separator + added.joined(separator: "&") + fragment)
  }

  /// The members of a result as parameters, in the order of their names: strings as they are,
  /// everything else as JSON.
  public static func parameters(_ result: [String: JSONValue]) -> [(String, String)] {
    result.sorted { $0.key < $1.key }.map { ($0.key, $0.value.string ?? $0.value.description) }
  }
}
