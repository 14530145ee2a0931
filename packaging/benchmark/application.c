// application ID
//
// What an app gets from GIO: a GApplication that takes links by org.freedesktop.Application, and
// answers CanOpen, a method of its own, with true. It ends with the bus.

#include <gio/gio.h>

static const char description[] =
    "<node><interface name='org.deeplinkd.Dispatcher1'><method name='CanOpen'>"
    "<arg type='s' direction='in'/><arg type='b' direction='out'/></method></interface></node>";

static void answer(GDBusConnection *bus, const char *sender, const char *path,
                   const char *interface, const char *method, GVariant *arguments,
                   GDBusMethodInvocation *invocation, void *unused) {
  g_dbus_method_invocation_return_value(invocation, g_variant_new("(b)", TRUE));
}

static const GDBusInterfaceVTable methods = {.method_call = answer};

static void take(GApplication *application, GFile **files, int count, const char *hint) {}

int main(int argc, char **argv) {
  GApplication *application =
      g_application_new(argv[1], G_APPLICATION_IS_SERVICE | G_APPLICATION_HANDLES_OPEN);
  g_signal_connect(application, "open", G_CALLBACK(take), NULL);
  GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
  GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(description, NULL);
  // Before the name is asked for, which running does: the bus holds the first call until then.
  if (!bus || !g_dbus_connection_register_object(bus, "/org/deeplinkd/Deeplinkd",
                                                 node->interfaces[0], &methods, NULL, NULL, NULL))
    return 1;
  g_application_hold(application);
  return g_application_run(application, 1, argv);
}
