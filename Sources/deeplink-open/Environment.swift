import CDeeplinkDBus
import CDeeplinkLinux

/// What the opener left in the environment that a launched app needs.
enum Environment {
  /// The variables that launches use: a daemon started by a service manager may have none of them.
  private static func forEachName(_ body: (StaticString) -> Void) {
    body("DISPLAY")
    body("WAYLAND_DISPLAY")
    body("XAUTHORITY")
    body("XDG_CURRENT_DESKTOP")
    body("LANG")
  }

  /// Activation token and startup id, each under its option; set but empty counts as none.
  static func forEachToken(_ body: (StaticString, UnsafePointer<CChar>) -> Void) {
    if let token = unsafe value("XDG_ACTIVATION_TOKEN") {
      unsafe body(Contract.Option.activationToken, token)
    }
    if let id = unsafe value("DESKTOP_STARTUP_ID") {
      unsafe body(Contract.Option.startupID, id)
    }
  }

  /// Adds the option `environment`, an `a{ss}`.
  static func append(to options: inout DBusMessageIter) -> Bool {
    unsafe Dictionary.entry(Contract.Option.environment, "a{ss}", in: &options) { inner in
      unsafe Dictionary.container("a", "{ss}", in: &inner) { pairs in
        var done = true
        forEachName { name in
          guard done, let value = unsafe value(name) else { return }
          done = unsafe Dictionary.container("e", nil, in: &pairs) { pair in
            unsafe Dictionary.append(name.cString, to: &pair)
              && Dictionary.append(value, to: &pair)
          }
        }
        return done
      }
    }
  }

  /// Nil where it is unset, empty, or no text that D-Bus can carry.
  private static func value(_ name: StaticString) -> UnsafePointer<CChar>? {
    guard let value = unsafe getenv(name.cString), unsafe value[0] != 0,
      unsafe dbus_validate_utf8(value, nil) != 0
    else { return nil }
    return unsafe UnsafePointer(value)
  }
}
