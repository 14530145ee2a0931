import CDeeplinkRE2

/// A parameter's `pattern`: RE2's syntax, matched against a whole value in linear time.
///
/// Both the compiled program and the matcher's cache stay within 1 MiB, so that no manifest costs
/// the daemon more.
@safe public final class RegularExpression: Sendable {
  public struct Invalid: Error, Sendable, Hashable {
    public var reason: String
  }

  public static let maximumLength = 1_000
  private static let memory: Int64 = 1 << 20

  public let text: String
  // An RE2 object is immutable to its users and locks its cache itself (re2.h: "thread-safe"); it
  // is freed with the only object that holds it.
  private nonisolated(unsafe) let compiled: OpaquePointer

  public init(_ text: String) throws(Invalid) {
    guard text.utf8.count <= Self.maximumLength else {
      throw Invalid(reason: "a pattern longer than \(Self.maximumLength) bytes")
    }
    var copy = text
    let compiled = copy.withUTF8 { bytes in
      unsafe deeplink_re2_compile(bytes.baseAddress, bytes.count, Self.memory)
    }
    guard let compiled = unsafe compiled else { throw Invalid(reason: "out of memory") }
    if let error = unsafe deeplink_re2_error(compiled) {
      let reason = unsafe String(cString: error)
      unsafe deeplink_re2_free(compiled)
      throw Invalid(reason: reason)
    }
    self.text = text
    unsafe self.compiled = compiled
  }

  deinit { unsafe deeplink_re2_free(compiled) }

  public func matches(_ value: String) -> Bool {
    var copy = value
    return copy.withUTF8 { bytes in
      unsafe deeplink_re2_matches(compiled, bytes.baseAddress, bytes.count)
    }
  }
}

extension RegularExpression: Hashable {
  public static func == (first: RegularExpression, second: RegularExpression) -> Bool {
    first.text == second.text
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
