/// The names whose values are secrets whatever the manifest says.
public enum SensitiveNames {
  public static let all: Set<String> = [
    "code", "token", "access_token", "id_token", "refresh_token", "state", "secret",
    "client_secret", "password", "key", "api_key", "sig", "signature", "assertion", "otp", "nonce",
    "session",
  ]

  // `accessToken` and `API-Key` are the same secrets.
  private static let folded = Set(all.map(fold))

  private static func fold(_ name: String) -> String {
    name.lowercased().filter { $0 != "_" && $0 != "-" }
  }

  public static func contains(_ name: String) -> Bool { folded.contains(fold(name)) }

  /// What is shown in a secret's place.
  public static func redacted(_ text: String) -> String {
    let count = text.count
    return "secret, \(count) \(count == 1 ? "character" : "characters")"
  }
}
