// echo NAME
//
// What libdbus alone can do: a service that answers CanOpen with true, and org.deeplinkd.Handler1's
// Open with "handled". It ends with the bus.

#include <dbus/dbus.h>
#include <stdio.h>

int main(int argc, char **argv) {
  DBusConnection *bus = dbus_bus_get(DBUS_BUS_SESSION, NULL);
  if (argc != 2 || !bus) {
    fprintf(stderr, "echo: a bus and a name are needed\n");
    return 1;
  }
  if (dbus_bus_request_name(bus, argv[1], DBUS_NAME_FLAG_DO_NOT_QUEUE, NULL) !=
      DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)
    return 1;
  // What came while the name was asked for is there already, and nothing would wake a wait for more.
  do {
    for (DBusMessage *message; (message = dbus_connection_pop_message(bus));) {
      if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL) {
        DBusMessage *reply = dbus_message_new_method_return(message);
        DBusMessageIter values, result;
        dbus_bool_t yes = TRUE;
        dbus_message_iter_init_append(reply, &values);
        dbus_message_iter_append_basic(&values, DBUS_TYPE_BOOLEAN, &yes);
        if (dbus_message_has_member(message, "Open")) {
          dbus_message_iter_open_container(&values, DBUS_TYPE_ARRAY, "{sv}", &result);
          dbus_message_iter_close_container(&values, &result);
        }
        dbus_connection_send(bus, reply, NULL);
        dbus_message_unref(reply);
      }
      dbus_message_unref(message);
    }
  } while (dbus_connection_read_write(bus, -1));
}
