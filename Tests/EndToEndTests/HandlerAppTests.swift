import DeeplinkTesting
import Foundation
import Testing

/// Apps on the bus: `org.deeplinkd.Handler1` and `org.freedesktop.Application`.
@Suite(.timeLimit(.minutes(5))) struct BusAppTests {
  let desktop: Desktop
  let record: URL

  init() throws {
    desktop = try Desktop()
    record = desktop.world.home.appending(path: "record.jsonl")
    try desktop.world.write(FakeApp.source, to: "fake-app", executable: true)
  }

  private func addPlugin(launch: Bool = false, route: String = "", action: String = "") throws {
    let program = desktop.world.root.appending(path: "fake-app").path
    let start = launch ? #", "launch": ["\#(program)", "--handler"]"# : ""
    try desktop.addPlugin(
      id: "org.example.App",
      manifest: """
        {"id": "org.example.App", "name": "App", "schemes": ["org.example.app"],
         "routes": [{"name": "show", "match": ":album",
           "parameters": {"index": {"type": "integer", "default": 1}, "flag": {"type": "boolean"}},
           "action": {"handler": {"busName": "org.example.App"\(start)\(action)}}\(route)}]}
        """)
    guard !launch else { return }
    try desktop.world.write(
      "[D-BUS Service]\nName=org.example.App\nExec=\(program) --handler\n",
      to: "services/org.example.App.service")
  }

  private func records() throws -> [[String: Any]] {
    try lines(of: record).compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
  }

  @Test(arguments: [false, true])
  func `launch and running give the same method with the same parameters`(launch: Bool) throws {
    try addPlugin(launch: launch)
    for _ in 1...2 {
      let done = try desktop.open("--wait", "org.example.app:Vacation%20%C3%A9?index=7&flag")
      #expect(done.status == 0, "\(done.errors)")
    }
    let records = try records()
    #expect(records.map { $0["delivery"] as? String } == ["launch", "running"])
    #expect(records.allSatisfy { $0["route"] as? String == "show" })
    #expect(
      records.allSatisfy {
        $0["url"] as? String == "org.example.app:Vacation%20%C3%A9?index=7&flag"
      })
    for parameters in records.compactMap({ $0["parameters"] as? [String: Any] }) {
      #expect(parameters["album"] as? String == "Vacation é")
      #expect(parameters["index"] as? Int == 7)
      #expect(parameters["flag"] as? Bool == true)
    }
  }
}

/// A small app in Python with the ways of real ones, good and bad, by its arguments.
enum FakeApp {
  static let source = """
    #!/usr/bin/python3
    import json, os, sys
    import dbus, dbus.service, dbus.mainloop.glib
    from gi.repository import GLib

    def plain(value):
        if isinstance(value, dbus.Boolean): return bool(value)
        if isinstance(value, dict): return {str(k): plain(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)): return [plain(v) for v in value]
        if isinstance(value, int): return int(value)
        if isinstance(value, float): return float(value)
        return str(value)

    def note(**facts):
        with open(os.path.expanduser("~/record.jsonl"), "a") as file:
            file.write(json.dumps({"pid": os.getpid(), **facts}) + "\\n")

    class App(dbus.service.Object):
        @dbus.service.method("org.deeplinkd.Handler1", in_signature="tssa{sv}a{sv}", out_signature="ba{sv}")
        def Open(self, id, url, route, parameters, context):
            note(id=int(id), url=str(url), route=str(route), parameters=plain(parameters), **plain(context))
            return True, {"shown": dbus.String(route)}

    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    app = App(bus, "/org/example/App")
    name = dbus.service.BusName("org.example.App", bus, do_not_queue=True)
    GLib.MainLoop().run()
    """
}
