import DeeplinkRouting

/// Programs that say little about who sent a link.
enum KnownPrograms {
  /// Shells and openers: who started them is of interest, not they themselves.
  private static let forwarders: Set<String> = [
    "sh", "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "ksh93", "mksh", "nu", "tcsh",
    "zsh", "bwrap", "deeplink", "deeplink-open", "env", "exo-open", "exo-helper-2", "gapplication",
    "gdbus", "gio", "gtk-launch", "gvfs-open", "handlr", "kde-open", "kde-open5", "kde-open6",
    "kioclient", "kioclient5", "busctl", "dbus-send", "qdbus", "setsid", "nohup", "sudo", "time",
    "timeout", "xdg-open", "xdg-desktop-portal",
  ]

  /// Where the way back ends: they start programs for everybody.
  private static let starters: Set<String> = [
    "dbus-broker", "dbus-broker-launch", "dbus-daemon", "init", "systemd", "systemd-executor",
  ]

  private static let browsers = [
    "brave", "browser", "chrome", "chromium", "edge", "epiphany", "falkon", "firefox", "floorp",
    "konqueror", "ladybird", "librewolf", "opera", "palemoon", "qutebrowser", "seamonkey",
    "vivaldi", "waterfox",
  ]

  private static let interpreters = [
    "java", "lua", "node", "perl", "php", "python", "ruby",
  ]

  static func isForwarder(_ path: String) -> Bool { forwarders.contains(lastPart(path)) }
  static func isStarter(_ path: String) -> Bool { starters.contains(lastPart(path)) }

  /// Of a path or an app's id; a name too many costs a sentence in a question.
  static func isBrowser(_ name: String) -> Bool {
    let name = lastPart(name).lowercased()
    return browsers.contains { name.holds($0) }
  }

  static func isInterpreter(_ name: String) -> Bool {
    let name = lastPart(name).lowercased()
    return interpreters.contains { name.hasPrefix($0) }
  }

  private static func lastPart(_ path: String) -> String {
    String(path.split(separator: "/").last ?? "")
  }
}
