/// A URL pattern, its typed parameters, and one action.
public struct Route: Sendable, Hashable {
  public enum AdditionalParameters: String, Sendable, Hashable, CaseIterable {
    case drop, refuse, pass
  }

  public enum Preset: String, Sendable, Hashable, CaseIterable {
    case oauthRedirect = "oauth-redirect"
  }

  public enum Confirmation: String, Sendable, Hashable, CaseIterable {
    case always
  }

  /// Unique in its plugin.
  public var name: String
  /// For people: `Show the album {album}`.
  public var title: Template?
  /// The alternatives of `match`, at least one.
  public var patterns: [RoutePattern]
  /// Nil: the fragment is not looked at.
  public var fragment: FragmentPattern?
  /// By name; captured names that are not declared are among them.
  public var parameters: [Parameter]
  public var additionalParameters: AdditionalParameters
  /// `+` in the query is a space.
  public var isFormEncoded: Bool
  public var action: Action
  public var effect: Effect
  /// Ask each time, whatever was granted.
  public var confirm: Confirmation?
  /// Nil: the settings' `timeout`.
  public var timeout: Duration?
  public var isIdempotent: Bool
  /// Takes `x-success`, `x-error`, `x-cancel` and `x-source`.
  public var takesCallback: Bool
  public var callbackHosts: [String]
  /// Nil: every source may use it.
  public var sources: [String]?
  public var preset: Preset?
  /// The `action` object as the manifest has it.
  public var actionSource: JSONValue

  public func parameter(_ name: String) -> Parameter? { parameters.first { $0.name == name } }

  /// Also of names that are not declared and passed on.
  public func isSensitive(_ name: String) -> Bool {
    parameter(name)?.isSensitive ?? SensitiveNames.contains(name)
  }

  /// What a person's grant is for: the same text means the same action, effect and sandbox.
  public var grantText: String {
    JSONValue.object(["action": actionSource, "effect": .string(effect.rawValue)]).description
  }

  /// Whether the person is asked before the action runs.
  public var consent: Consent {
    if confirm == .always { return .always }
    return effect == .change ? .atFirstUse : .notAsked
  }

  public enum Consent: String, Sendable, Hashable {
    case notAsked = "not asked"
    case atFirstUse = "asked at first use"
    case always = "asked always"
  }
}

/// A folder with a manifest: an identity, the schemes it claims, its routes.
public struct Plugin: Sendable, Hashable {
  public static let maximumRoutes = 100_000

  public var id: PluginID
  public var name: LocalizedText
  /// An icon name or an absolute path.
  public var icon: String?
  /// At least one, each once.
  public var schemes: [Scheme]
  public var routes: [Route]
  public var allowsCredentials: Bool
  /// The plugins whose routes count on the schemes that this one owns.
  public var sharedWith: Set<PluginID>
  /// `applinks:example.com`, as written.
  public var associatedDomains: [String]
  public var appIDs: [String]
  /// Where the manifest lies: relative programs are looked up there first.
  ///
  /// Nil for a plugin that
  /// was read from memory.
  public var folder: String?

  public func route(_ name: String) -> Route? { routes.first { $0.name == name } }
}
