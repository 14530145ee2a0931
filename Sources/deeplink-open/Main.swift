import CDeeplinkDBus
@main struct Main {
  static func main() {
    var e = DBusError(); unsafe dbus_error_init(&e);
    let c = unsafe dbus_bus_get_private(DBUS_BUS_SESSION, &e);
    if unsafe c == nil { print("no bus") }
  }
}
