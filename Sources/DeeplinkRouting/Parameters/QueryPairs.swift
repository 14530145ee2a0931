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
  /// The values by name where there are many pairs, so that a link of 65,536 bytes costs no more
  /// for a route with a hundred parameters than for one with none.
  private var values: [String: [ArraySlice<UInt8>?]] = [:]
  private var formValues: [String: [ArraySlice<UInt8>?]] = [:]
  private static let few = 16

  init(_ bytes: ArraySlice<UInt8>?) {
    pairs = (bytes ?? []).split(separator: UInt8(ascii: "&")).map { pair in
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
        return Pair(name: pair, value: nil)
      }
      return Pair(name: pair[..<equals], value: pair[(equals + 1)...])
    }
    guard pairs.count > Self.few else { return }
    for pair in pairs {
      if let name = Self.decode(pair.name, isFormEncoded: false) {
        values[name, default: []].append(pair.value)
      }
      if let name = Self.decode(pair.name, isFormEncoded: true) {
        formValues[name, default: []].append(pair.value)
      }
    }
  }

  /// The raw values that a name has, in order; nil for a flag.
  func values(named name: String, isFormEncoded: Bool) -> [ArraySlice<UInt8>?] {
    guard pairs.count <= Self.few else {
      return (isFormEncoded ? formValues : values)[name] ?? []
    }
    return pairs.lazy.filter { Self.matches($0.name, name, isFormEncoded: isFormEncoded) }
      .map(\.value)
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
  private static func matches(_ raw: ArraySlice<UInt8>, _ name: String, isFormEncoded: Bool) -> Bool
  {
    // Canonical form decodes what needs no escape, so most names compare as they are.
    if !raw.contains(UInt8(ascii: "%")), !raw.contains(UInt8(ascii: "+")) {
      return raw.elementsEqual(name.utf8)
    }
    return decode(raw, isFormEncoded: isFormEncoded) == name
  }
}
