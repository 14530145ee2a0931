import DeeplinkBus
import DeeplinkLoop
import DeeplinkTesting
import Foundation
import Testing

/// Windows that an app registers before it takes its name.
@Suite(.timeLimit(.minutes(2))) struct SceneTests {
  init() { EventLoop.shared.startThread() }

  /// An app that registers a window first, and notes which object a link went to.
  private static let app = """
    #!/usr/bin/python3
    import json, os, sys
    import dbus, dbus.service, dbus.mainloop.glib
    from gi.repository import GLib

    class Window(dbus.service.Object):
        @dbus.service.method("org.deeplinkd.Handler1", in_signature="tssa{sv}a{sv}",
                             out_signature="ba{sv}", path_keyword="path")
        def Open(self, id, url, route, parameters, context, path=None):
            return True, {"path": path}

    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    objects = [Window(bus, path) for path in ("/org/example/App", "/window/1")]
    bus.call_blocking("org.deeplinkd.Deeplinkd", "/org/deeplinkd/Deeplinkd",
                      "org.deeplinkd.Dispatcher1", "RegisterScene", "soas",
                      (sys.argv[1], dbus.ObjectPath("/window/1"), []))
    bus.request_name("org.example.App")
    GLib.MainLoop().run()

    """

  @Test @LoopActor func `an app that was launched for its plugin registers before it has its name`()
    async throws
  {
    let desktop = try Desktop()
    let program = try desktop.world.write(Self.app, to: "app", executable: true).path
    for id in ["org.example.app", "org.example.other"] {
      // Of the second one nothing was launched: its name is not the one that asks.
      let words = id == "org.example.app" ? [program, id] : [program, "org.example.app"]
      let launch = words.map { #""\#($0)""# }.joined(separator: ", ")
      try desktop.addPlugin(
        id: id,
        manifest: """
          {"id": "\(id)", "name": "App", "schemes": ["\(id)"], "routes": [
            {"name": "link", "match": ":x", "action": {"handler": {
              "busName": "\(id == "org.example.app" ? "org.example.App" : "org.example.Other")",
              "launch": [\(launch)]}}}]}
          """)
    }
    let client = try Client(desktop)
    let foreign = try await client.open("org.example.other:x")
    #expect(foreign.outcome == "failed")
    #expect(
      foreign.result["message"]?.string?.contains("AccessDenied") == true, "\(foreign.result)")
    let reply = try await client.open("org.example.app:x")
    #expect(reply.outcome == "delivered", "\(reply.result)")
    #expect(reply.result["path"] == .string("/window/1"))
  }
}
