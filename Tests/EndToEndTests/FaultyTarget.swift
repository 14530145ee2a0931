/// Targets with the ways of real ones, good and bad.
///
/// They note what happens to them in `~/record.jsonl`. What a link's parameter `do` says is what they
/// do with it: `ok` (or nothing), `no`, `error`, `exit`, `hang`, `gate`, `leave` (answer, then exit),
/// and what is marked below.
enum FaultyTarget {
  private static let common = """
    #!/usr/bin/python3
    import json, os, sys

    home = os.environ["HOME"]
    options = sys.argv[1:]

    def note(event, **facts):
        with open(home + "/record.jsonl", "a") as record:
            record.write(json.dumps({"event": event, "pid": os.getpid(), **facts}) + "\\n")

    def gate(name="gate"):
        with open(home + "/" + name, "rb", 0) as file:
            file.read(1)

    def fail(status, words):
        print(words, file=sys.stderr, flush=True)
        os._exit(status)

    note("start", token=os.environ.get("XDG_ACTIVATION_TOKEN"))
    if "--fail-at-start" in options:
        fail(7, "reading\\ncannot find my data")
    if "--die" in options:
        os.kill(os.getpid(), 15)
    if "--hang-at-start" in options:
        import time
        time.sleep(600)
    if "--gate-at-start" in options:
        gate()

    """

  /// A worker; `--bytewise` reads no more of its input than it acts on.
  static let worker =
    common + """
      def send(value):
          sys.stdout.write(json.dumps({"jsonrpc": "2.0", **value}) + "\\n")
          sys.stdout.flush()

      def line():
          if "--bytewise" not in options:
              return sys.stdin.buffer.readline()
          bytes = b""
          while not bytes.endswith(b"\\n"):
              byte = os.read(0, 1)
              if not byte: return b""
              bytes += byte
          return bytes

      held = []
      while True:
          text = line()
          if not text:
              break
          request = json.loads(text)
          answer = {"id": request["id"], "result": {}}
          if request["method"] == "initialize":
              send(answer)
              if "--exit-when-ready" in options:
                  fail(5, "nobody loves me")
              continue
          if request["method"] == "shutdown":
              note("shutdown")
              continue
          link = request["params"]
          context = link["context"]
          do = link["parameters"].get("do", "ok")
          note("link", id=link["id"], n=link["parameters"].get("n"), delivery=context["delivery"],
               attempt=context["attempt"], token=context.get("activationToken"),
               source=context["source"], hops=context["hops"])
          if do == "hang":
              continue
          if do == "exit" or do == "exit-once" and context["attempt"] == 1:
              fail(3, "fell over")
          if do == "gate":
              gate()
          if do == "no":
              answer["result"] = {"handled": False}
          elif do == "error":
              answer = {"id": request["id"], "error": {"code": 1, "message": "cannot do that"}}
          elif do == "garbage":
              print("hello world", flush=True)
              continue
          elif do == "long":
              sys.stdout.write("x" * (2 << 20))
              sys.stdout.flush()
              continue
          else:
              answer["result"] = {"handled": True, "result": {"pid": os.getpid()}}
          if do == "last":  # answered after the next one
              held.append(answer)
              continue
          send(answer)
          note("answer", id=link["id"])
          for late in held:
              send(late)
          held = []
          if do == "leave":
              os._exit(0)
          if do == "deaf":  # goes on, and reads nothing any more
              os.close(0)
              import time
              time.sleep(600)
      note("end")
      """

  /// An app on the bus: its name is the first argument.
  static let app =
    common + """
      import dbus, dbus.lowlevel, dbus.service, dbus.mainloop.glib
      from gi.repository import GLib

      name = options[0]
      path = "/" + name.replace(".", "/")

      def at_gate(action, name="gate"):
          file = os.open(home + "/" + name, os.O_RDONLY)
          def opened(*_):
              os.read(file, 1)
              action()
              return False
          GLib.io_add_watch(file, GLib.IO_IN, opened)

      class App(dbus.service.Object):
          @dbus.service.method("org.deeplinkd.Handler1", in_signature="tssa{sv}a{sv}",
                               out_signature="ba{sv}", async_callbacks=("reply", "fail"))
          def Open(self, id, url, route, parameters, context, reply, fail):
              do = parameters.get("do", "ok")
              note("link", id=int(id), n=parameters.get("n"), delivery=context["delivery"],
                   attempt=int(context["attempt"]), token=context.get("activation-token"))
              def done():
                  reply(True, {"pid": dbus.Int64(os.getpid())})
                  note("answer", id=int(id))
              if do == "hang":
                  return
              if do == "exit" or do == "exit-once" and context["attempt"] == 1:
                  os._exit(3)
              if do == "gate":
                  return at_gate(done)
              if do == "no":
                  return reply(False, {})
              if do == "error":
                  return fail(dbus.DBusException("cannot do that", name="org.example.Error"))
              if do == "passes-on":  # an error of its own that is called as one of the bus's
                  return fail(dbus.DBusException(
                      "my database is gone", name="org.freedesktop.DBus.Error.ServiceUnknown"))
              done()
              if do == "retire":  # takes its object away, and leaves a while later
                  self.remove_from_connection()
                  at_gate(lambda: os._exit(0))
              if do == "leave":
                  bus.flush()
                  os._exit(0)

      def arrived(_, message):
          if message.get_member() == "Open":
              note("call")
          return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED

      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      bus = dbus.SessionBus()
      bus.add_message_filter(arrived)
      app = App() if "--late-object" in options else App(bus, path)
      bus.request_name(name)
      if "--late-object" in options:
          at_gate(lambda: app.add_to_connection(bus, path))
      GLib.MainLoop().run()
      """
}
