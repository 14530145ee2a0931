import DeeplinkBus
import DeeplinkTesting
import DeeplinkWire
import Foundation
import Testing

extension DeliveryTests {
  /// Apps as transient units, against a stand-in of systemd's manager that really starts them.
  @Suite struct Units {
    let rig: DeliveryRig
    let systemd: RunningProcess

    init() async throws {
      rig = try await DeliveryRig()
      let program = try rig.world.write(Self.manager, to: "systemd", executable: true)
      systemd = try rig.world.start([program.path])
      // The stand-in says so once it has its name.
      let ready = rig.world.home.appending(path: "units.jsonl")
      try await offPool { _ = try waitForLines(1, in: ready) }
    }

    /// What the manager was asked for.
    private struct Unit: Decodable {
      var name: String
      var properties: [String: String]
      var environment: [String]
      var words: [String]
    }

    private func units() throws -> [Unit] {
      try lines(of: rig.world.home.appending(path: "units.jsonl")).dropFirst().map {
        try JSONDecoder().decode(Unit.self, from: Data($0.utf8))
      }
    }

    @Test func `what opens another URL is in no unit of the plugin's`() async throws {
      // A browser that xdg-open starts stays in the unit: its pages must not pass for the plugin.
      let url = "https://example.com/$HOME/$$/$"
      try rig.add("org.example.sender", action: #"{"open": {"url": "\#(url)"}}"#)
      _ = try await rig.open("org.example.sender:x")
      let units = try units()
      // Every byte of it: nothing of a link is a variable.
      #expect(units.count == 1 && units[0].words.last == url)
      #expect(units[0].name.hasPrefix("app-deeplinkd-org.deeplinkd.Open@"))
    }

    @Test func `a launched app is a unit of its own, named by the desktop's convention`()
      async throws
    {
      try rig.addApp(launch: true)
      var options = LinkOptions()
      options.activationToken = "token"
      options.environment = ["DISPLAY": ":7"]
      let values = try await rig.connection.call(
        rig.dispatcher("Open", .string("org.example.app:x"), options.value))
      #expect(values[1] == .string("delivered"))
      // systemd refuses the second Subscribe of a connection; the unit is started all the same.
      #expect(try await rig.open("org.example.app:x?do=leave").outcome == "delivered")
      try await waitForEnd(of: rig.notes()[0].pid)
      #expect(try await rig.open("org.example.app:x").outcome == "delivered")
      let units = try units()
      #expect(units.count == 2 && Set(units.map(\.name)).count == 2)
      let unit = units[0]
      #expect(unit.name.hasPrefix("app-deeplinkd-org.example.app@"))
      #expect(unit.name.hasSuffix(".service"))
      #expect(unit.properties["Type"] == "exec" && unit.properties["Slice"] == "app.slice")
      #expect(unit.properties["CollectMode"] == "inactive-or-failed")
      #expect(unit.words.suffix(1) == ["org.example.App"])
      #expect(
        unit.environment
          == [
            "DESKTOP_STARTUP_ID=", "DISPLAY=:7", "LANG=C.UTF-8", "XDG_ACTIVATION_TOKEN=token",
          ].filter { !$0.hasSuffix("=") })
      systemd.signal(SIGTERM)
    }

    @Test(arguments: [
      ("--fail-at-start", "it exited with status 7"), ("--die", "signal 15 ended it"),
    ])
    func `a unit that fails is told with its status and where its messages are`(
      option: String, words: String
    ) async throws {
      try rig.addApp([option], launch: true)
      let reply = try await rig.open("org.example.app:x")
      #expect(reply.outcome == "failed" && reply.reason == "launch")
      #expect(reply.message.hasPrefix(words), "\(reply.message)")
      #expect(reply.message.contains("journalctl --user -u"))
      systemd.signal(SIGTERM)
    }

    /// As much of org.freedesktop.systemd1(5) as is used.
    private static let manager = #"""
      #!/usr/bin/python3
      import json, os, re, subprocess
      import dbus, dbus.service, dbus.mainloop.glib
      from gi.repository import GLib

      def note(value):
          with open(os.path.expanduser("~/units.jsonl"), "a") as file:
              file.write(json.dumps(value) + "\n")

      def path(name):
          return "/org/freedesktop/systemd1/unit/" + "".join(
              c if c.isalnum() else "_%02x" % ord(c) for c in name)

      def expanded(word):  # as systemd does, where no such variable is set
          return re.sub(r"\$\$|\$\{\w+\}|^\$\w+$", lambda found: "$" if found[0] == "$$" else "", word)

      class Manager(dbus.service.Object):
          subscribed = set()

          @dbus.service.method("org.freedesktop.systemd1.Manager", sender_keyword="sender")
          def Subscribe(self, sender=None):
              if sender in self.subscribed:
                  raise dbus.DBusException("Client is already subscribed.",
                                           name="org.freedesktop.systemd1.AlreadySubscribed")
              self.subscribed.add(sender)

          @dbus.service.method("org.freedesktop.systemd1.Manager", in_signature="ssa(sv)a(sa(sv))",
                               out_signature="o")
          def StartTransientUnit(self, name, mode, properties, auxiliary):
              values = {str(key): value for key, value in properties}
              [(program, words, _)] = values["ExecStart"]
              words = [expanded(str(word)) for word in words]
              environment = [str(entry) for entry in values["Environment"]]
              note({"name": str(name), "words": [str(word) for word in words], "environment": environment,
                    "properties": {key: str(value) for key, value in values.items()}})
              variables = dict(os.environ)
              variables.update(entry.split("=", 1) for entry in environment)
              child = subprocess.Popen([str(word) for word in words], executable=str(program),
                                       env=variables, cwd=str(values["WorkingDirectory"]))
              GLib.child_watch_add(GLib.PRIORITY_DEFAULT, child.pid,
                                   lambda _, status: self.ended(str(name), status))
              return dbus.ObjectPath("/org/freedesktop/systemd1/job/1")

          def ended(self, name, status):
              code, value = (1, os.WEXITSTATUS(status)) if os.WIFEXITED(status) else (2, os.WTERMSIG(status))
              self.changed(name, "Service", {"ExecMainCode": dbus.Int32(code), "ExecMainStatus": dbus.Int32(value)})
              self.changed(name, "Unit", {"ActiveState": "inactive" if status == 0 else "failed"})

          def changed(self, name, kind, values):
              signal = dbus.lowlevel.SignalMessage(
                  path(name), "org.freedesktop.DBus.Properties", "PropertiesChanged")
              signal.append("org.freedesktop.systemd1." + kind, values, [], signature="sa{sv}as")
              bus.send_message(signal)

      import dbus.lowlevel
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      bus = dbus.SessionBus()
      Manager(bus, "/org/freedesktop/systemd1")
      bus.request_name("org.freedesktop.systemd1")
      note("ready")
      GLib.MainLoop().run()
      """#
  }
}
