import DeeplinkTesting
import Foundation
import Testing

/// Every fault is made, found, and mended where that needs no choice.
@Suite(
  .timeLimit(.minutes(3)),
  .enabled(
    if: Requirement.program("update-desktop-database", "desktop-file-validate", "gio", "xdg-open")))
struct DoctorTests {
  static let scheme = Patient.scheme
  static let entry = Patient.entry
  static let list = Patient.list

  struct Fault: Sendable, CustomTestStringConvertible {
    let id: String
    /// The check that finds it, and part of what it says.
    let check: String
    let found: String
    var isWarning = false
    var isMended = false
    /// The command that mends it, after `deeplink`, where `--repair` leaves it to the person.
    var command: [String] = []
    let make: @Sendable (Patient) throws -> Void
    var testDescription: String { id }
  }

  private static let take = ["plugin", "enable", "--make-default", scheme]

  private static func held(_ layer: String) -> Fault {
    Fault(
      id: "default held in \(layer)", check: "default", found: "gives it to other.desktop",
      command: take
    ) {
      try $0.otherApplication()
      try $0.remove(list)
      try $0.world.write(
        "[Default Applications]\nx-scheme-handler/\(scheme)=other.desktop\n", to: layer)
    }
  }

  static let faults = [
    Fault(id: "entry missing", check: "entry", found: "there is no entry", isMended: true) {
      try $0.remove(entry)
    },
    Fault(id: "no desktop entry", check: "entry", found: "is no desktop entry", isMended: true) {
      try $0.world.write("nonsense", to: entry)
    },
    Fault(id: "entry invalid", check: "valid", found: "error: ", isMended: true) {
      try $0.change(entry, "NoDisplay=true", to: "NoDisplay=perhaps")
    },
    Fault(id: "field code quoted", check: "field-code", found: "\"%u\"", isMended: true) {
      try $0.change(entry, " %u", to: " \"%u\"")
    },
    Fault(id: "field code missing", check: "field-code", found: "Exec=", isMended: true) {
      try $0.change(entry, " %u", to: "")
    },
    Fault(id: "program gone", check: "program", found: "'/gone' is not there", isMended: true) {
      try $0.change(entry, "Exec=\(Patient.opener)", to: "Exec=/gone")
    },
    Fault(id: "program stale", check: "program", found: "it starts '/bin/true'", isMended: true) {
      try $0.change(entry, "Exec=\(Patient.opener)", to: "Exec=/bin/true")
    },
    Fault(id: "token not passed", check: "token", found: "StartupNotify=false", isMended: true) {
      try $0.change(entry, "StartupNotify=true", to: "StartupNotify=false")
    },
    Fault(id: "cache missing", check: "cache", found: "has no mimeinfo.cache", isMended: true) {
      try $0.remove("home/.local/share/applications/mimeinfo.cache")
    },
    Fault(id: "cache old", check: "cache", found: "is old", isMended: true) {
      try $0.world.write(
        "[MIME Cache]\n", to: "home/.local/share/applications/mimeinfo.cache")
    },
    Fault(id: "list gone", check: "default", found: "no mimeapps.list names it", isMended: true) {
      try $0.remove(list)
    },
    Fault(id: "association removed", check: "association", found: "takes it out", isMended: true) {
      let text = try String(contentsOf: $0.world.root.appending(path: list), encoding: .utf8)
      try $0.world.write(
        text + "[Removed Associations]\nx-scheme-handler/\(scheme)=\(scheme).Deeplinks.desktop;\n",
        to: list)
    },
    Fault(
      id: "entry shadowed", check: "claim", found: "hides", isMended: true
    ) {
      let folder = try #require($0.world.environment["XDG_DATA_DIRS"])
      let file = URL(filePath: "\(folder)/applications/\(scheme).Deeplinks.desktop")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: $0.world.root.appending(path: entry), to: file)
      _ = try $0.world.run(["update-desktop-database", "\(folder)/applications"])
      try $0.change(entry, "MimeType=x-scheme-handler/\(scheme);\n", to: "")
    },
    held("home/.config/mimeapps.list"), held("home/.local/share/applications/mimeapps.list"),
    Fault(id: "two entries", check: "alone", found: "other.desktop too", command: take) {
      try $0.otherApplication()
    },
    Fault(
      id: "plugin disabled", check: "enabled", found: "is switched off",
      command: ["plugin", "enable", scheme]
    ) {
      _ = try $0.deeplink("plugin", "disable", scheme)
    },
    Fault(id: "manifest invalid", check: "manifest", found: "has an error") {
      try $0.world.write(
        "{", to: "home/.local/share/deeplinkd/plugins/\(scheme)/plugin.json")
    },
    Fault(
      id: "scheme of nobody", check: "plugin", found: "no enabled plugin",
      command: [
        "plugin", "add", "--yes", Repository.root.appending(path: "data/plugins/\(scheme)").path,
      ]
    ) {
      _ = try $0.deeplink("plugin", "remove", scheme)
    },
    Fault(id: "service unknown", check: "service", found: "the bus knows no") {
      try $0.remove("services/org.deeplinkd.Deeplinkd.service")
      let done = try $0.world.run([
        "gdbus", "call", "--session", "-d", "org.freedesktop.DBus", "-o", "/org/freedesktop/DBus",
        "-m", "org.freedesktop.DBus.ReloadConfig",
      ])
      guard done.status == 0 else { throw TestingError(done.errors) }
    },
    Fault(id: "service gone", check: "service-file", found: "which is not there") {
      try $0.world.write(
        "[D-BUS Service]\nName=org.deeplinkd.Deeplinkd\nExec=/gone\n",
        to: "home/.local/share/dbus-1/services/org.deeplinkd.Deeplinkd.service")
    },
    Fault(id: "service shadowed", check: "service-file", found: "hides") {
      for (folder, program) in [("home/.local/share", "/bin/true"), ("run", "/bin/false")] {
        try $0.world.write(
          "[D-BUS Service]\nName=org.deeplinkd.Deeplinkd\nExec=\(program)\n",
          to: "\(folder)/dbus-1/services/org.deeplinkd.Deeplinkd.service")
      }
    },
    Fault(id: "daemon does not start", check: "ping by D-Bus", found: "cannot be reached") {
      try $0.world.write(
        "[D-BUS Service]\nName=org.deeplinkd.Deeplinkd\nExec=/bin/false\n",
        to: "services/org.deeplinkd.Deeplinkd.service")
      _ = try $0.world.run([
        "gdbus", "call", "--session", "-d", "org.freedesktop.DBus", "-o", "/org/freedesktop/DBus",
        "-m", "org.freedesktop.DBus.ReloadConfig",
      ])
    },
    Fault(id: "no own entry", check: "ping by gio open", found: "did not arrive") {
      try $0.remove("home/.local/share/applications/org.deeplinkd.Deeplinkd.desktop")
      _ = try $0.world.run([
        "update-desktop-database", $0.world.dataHome.appending(path: "applications").path,
      ])
    },
    Fault(
      id: "no notifications", check: "notifications", found: "no service", isWarning: true
    ) { _ in },
  ]

  @Test func `where all is well every check passes, and links arrive by every way`() throws {
    let patient = try Patient()
    let done = try patient.deeplink("doctor", "--json")
    let found = try done.checks()
    #expect(found.filter { $0["state"] == "fault" } == [], "\(done.output)")
    #expect(done.status == 0)
    let names = found.compactMap { $0["check"] }
    for way in ["ping by D-Bus", "ping by gio open", "ping by xdg-open"] {
      #expect(names.contains(way))
    }
    let text = try patient.deeplink("doctor", Self.scheme)
    #expect(text.status == 0 && text.output.contains("ok       ping by xdg-open: it arrived"))
  }

  @Test(arguments: faults) func `a fault is found and mended`(_ fault: Fault) throws {
    let patient = try Patient()
    try fault.make(patient)
    let done = try patient.deeplink("doctor", "--json", Self.scheme)
    let found = try done.checks()
    let hit = found.first {
      $0["check"] == fault.check && $0["state"] != "ok"
        && $0["found"]?.contains(fault.found) == true
    }
    #expect(hit?["state"] == (fault.isWarning ? "warning" : "fault"), "\(done.output)")
    #expect(hit?["mend"] != nil)
    #expect(done.status == (fault.isWarning ? 0 : 1))
    guard !fault.isWarning else { return }
    let repaired = try patient.deeplink("doctor", "--json", "--repair", Self.scheme)
    if fault.isMended {
      #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
      #expect(repaired.output.contains(#""state":"mended""#) || fault.check == "association")
    } else {
      #expect(repaired.status == 1, "\(repaired.output)")
    }
    if !fault.command.isEmpty {
      let command = try patient.world.run([Repository.program("deeplink")] + fault.command)
      #expect(command.status == 0, "\(command.errors)")
      let again = try patient.deeplink("doctor", "--json", Self.scheme)
      #expect(again.status == 0, "\(again.output)")
    }
  }

  @Test func `a desktop's own list is looked at before the general one`() throws {
    let patient = try Patient()
    try patient.otherApplication()
    try patient.world.write(
      "[Default Applications]\nx-scheme-handler/\(Self.scheme)=other.desktop\n",
      to: "home/.config/lxqt-mimeapps.list")
    let done = try patient.deeplink("doctor", "--json", Self.scheme, desktop: "LXQt")
    #expect(done.output.contains("lxqt-mimeapps.list gives it to other.desktop"))
    #expect(!(try patient.deeplink("doctor", "--json", Self.scheme)).output.contains("lxqt"))
  }

  @Test func `names that other apps may choose, or xdg-open mistakes, are warned of`() throws {
    let patient = try Patient()
    try patient.world.write(
      """
      {"id": "org.example.A", "name": "A", "schemes": ["photos2"],
       "routes": [{"name": "a", "match": "/a", "action": {"notify": {"title": "A"}}}]}
      """, to: "source/plugin.json")
    let source = patient.world.root.appending(path: "source").path
    #expect(try patient.deeplink("plugin", "add", "--yes", source).status == 0)
    let warnings = try patient.deeplink("doctor", "--json", "photos2").checks()
      .filter { $0["state"] == "warning" && $0["scheme"] == "photos2" }.compactMap { $0["check"] }
    #expect(warnings == ["name", "digit"])
  }
}
