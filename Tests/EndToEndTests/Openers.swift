import DeeplinkTesting
import Foundation
import Testing

/// One of the ways a link takes from a program to the daemon.
struct Opener: Sendable, CustomTestStringConvertible {
  let id: String
  /// What has to be installed.
  let programs: [String]
  var environment: [String: String] = [:]
  /// Whether it needs an X server; most want `DISPLAY` set at best.
  var needsDisplay = false
  /// Whether the bus has to start portals.
  var needsPortal = false
  /// Texts of `LinkCase` that it does not take to be URLs.
  var refuses: Set<String> = []
  /// Its command line for a URL.
  let command: @Sendable (String) -> [String]

  var testDescription: String { id }

  static let all = viaXDGOpen + viaGLib + viaOthers + viaBus

  private static let viaXDGOpen = [
    Opener(id: "xdg-open", programs: ["xdg-open"], environment: ["DISPLAY": ":none"]) {
      ["xdg-open", $0]
    },
    Opener(
      id: "xdg-open, a desktop nobody knows", programs: ["xdg-open"],
      environment: ["DISPLAY": ":none", "XDG_CURRENT_DESKTOP": "X-Generic"]
    ) { ["xdg-open", $0] },
    Opener(
      id: "xdg-open, GNOME", programs: ["xdg-open", "gio"],
      environment: ["XDG_CURRENT_DESKTOP": "GNOME"]
    ) { ["xdg-open", $0] },
    Opener(
      id: "xdg-open, XFCE", programs: ["xdg-open", "exo-open"],
      environment: ["XDG_CURRENT_DESKTOP": "XFCE"], needsDisplay: true, refuses: notForExo
    ) { ["xdg-open", $0] },
    Opener(
      id: "xdg-open, KDE", programs: ["xdg-open", "kde-open5"],
      environment: ["XDG_CURRENT_DESKTOP": "KDE", "KDE_SESSION_VERSION": "5"].merging(offscreen) {
        $1
      }
    ) { ["xdg-open", $0] },
  ]

  private static let viaGLib = [
    Opener(id: "gio open", programs: ["gio"]) { ["gio", "open", $0] },
    Opener(id: "gio launch", programs: ["gio"]) { url in
      ["sh", "-c", #"exec gio launch "$XDG_DATA_HOME/applications/$1" "$2""#, "sh", entry, url]
    },
    Opener(id: "gtk-launch", programs: ["gtk-launch"], needsDisplay: true) {
      ["gtk-launch", entry, $0]
    },
    Opener(id: "a program that calls GLib and exits at once", programs: ["python3"]) {
      [
        "/usr/bin/python3", "-c",
        "import sys; from gi.repository import Gio; Gio.AppInfo.launch_default_for_uri(sys.argv[1])",
        $0,
      ]
    },
  ]

  private static let viaOthers = [
    Opener(id: "exo-open", programs: ["exo-open"], needsDisplay: true, refuses: notForExo) {
      ["exo-open", $0]
    },
    Opener(id: "kde-open5", programs: ["kde-open5"], environment: offscreen) { ["kde-open5", $0] },
    Opener(id: "the portal", programs: ["gdbus"], needsDisplay: true, needsPortal: true) {
      [
        "gdbus", "call", "--session", "-d", "org.freedesktop.portal.Desktop", "-o",
        "/org/freedesktop/portal/desktop", "-m", "org.freedesktop.portal.OpenURI.OpenURI", "''",
        quoted($0), "{}",
      ]
    },
    Opener(id: "deeplink-open", programs: []) { [Repository.program("deeplink-open"), "--", $0] },
  ]

  private static let viaBus = [
    Opener(id: "Dispatcher1.Open, gdbus", programs: ["gdbus"]) {
      gdbus("org.deeplinkd.Dispatcher1.Open", quoted($0), "{}")
    },
    Opener(id: "Dispatcher1.Submit, gdbus", programs: ["gdbus"]) {
      gdbus("org.deeplinkd.Dispatcher1.Submit", quoted($0), "{}")
    },
    Opener(id: "Dispatcher1.Submit, busctl", programs: ["busctl"]) {
      busctl("org.deeplinkd.Dispatcher1", "Submit", "sa{sv}", $0, "0")
    },
    Opener(id: "Application.Open, gdbus", programs: ["gdbus"]) {
      gdbus("org.freedesktop.Application.Open", "[\(quoted($0))]", "{}")
    },
    Opener(id: "Application.Open, busctl", programs: ["busctl"]) {
      busctl("org.freedesktop.Application", "Open", "asa{sv}", "1", $0, "0")
    },
  ]

  private static let entry = "com.example.demo.Deeplinks.desktop"
  private static let offscreen = ["QT_QPA_PLATFORM": "offscreen"]

  /// It shows a dialog instead, and never ends.
  private static let notForExo: Set = ["%u%f%i%c%k%%", "%zz%"]

  private static func gdbus(_ arguments: String...) -> [String] {
    [
      "gdbus", "call", "--session", "-d", Desktop.busName, "-o", "/org/deeplinkd/Deeplinkd", "-m",
    ] + arguments
  }

  private static func busctl(_ arguments: String...) -> [String] {
    ["busctl", "--user", "call", Desktop.busName, "/org/deeplinkd/Deeplinkd"] + arguments
  }

  /// As GVariant's text format has strings; gdbus reads backslashes as escapes.
  private static func quoted(_ text: String) -> String {
    let escaped = text.map { #"\'"#.contains($0) ? "\\\($0)" : String($0) }
    return "'\(escaped.joined())'"
  }
}
