/// The pairs of a query, or of a fragment that is written like one; nothing is decoded yet.
///
/// Pairs are split at `&` alone, and `+` is a plus: the rules of `application/x-www-form-urlencoded`
/// hold only where a route says `formEncoded`.
struct QueryPairs: Sendable {
  struct Pair: Sendable {
    var name: ArraySlice<UInt8>
    /// Nil for a flag: `a` has none, `a=` an empty one.
    var value: ArraySlice<UInt8>?
  }

  let pairs: [Pair]

  init(_ bytes: ArraySlice<UInt8>?) {
    pairs = (bytes ?? []).split(separator: UInt8(ascii: "&")).map { pair in
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
        return Pair(name: pair, value: nil)
      }
      return Pair(name: pair[..<equals], value: pair[(equals + 1)...])
    }
  }

  /// A component's text: escapes decoded once, and `+` turned into a space where it is one.
  static func decode(_ bytes: ArraySlice<UInt8>, isFormEncoded: Bool) -> String? {
    guard isFormEncoded, bytes.contains(UInt8(ascii: "+")) else {
      return PercentEncoding.decodeStrict(bytes)
    }
    return PercentEncoding.decodeStrict(
      bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
  }

  /// Whether a raw name is this name once it is decoded.
  static func matches(_ raw: ArraySlice<UInt8>, _ name: String, isFormEncoded: Bool) -> Bool {
    // Canonical form decodes what needs no escape, so most names compare as they are.
    if !raw.contains(UInt8(ascii: "%")), !raw.contains(UInt8(ascii: "+")) {
      return raw.elementsEqual(name.utf8)
    }
    return decode(raw, isFormEncoded: isFormEncoded) == name
  }
}
