"""Waits until no link is on its way any more, at most a minute."""

import sys

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
if not bus.name_has_owner("org.deeplinkd.Deeplinkd"):
    sys.exit()
daemon = bus.get_object("org.deeplinkd.Deeplinkd", "/org/deeplinkd/Deeplinkd")
loop = GLib.MainLoop()


def look(*_):
    if daemon.Get(
        "org.deeplinkd.Dispatcher1", "Pending",
        dbus_interface="org.freedesktop.DBus.Properties") == 0:
        loop.quit()


daemon.connect_to_signal("DeliveryChanged", look, dbus_interface="org.deeplinkd.Dispatcher1")
daemon.Follow(dbus_interface="org.deeplinkd.Dispatcher1")
GLib.idle_add(look)
late = []
GLib.timeout_add_seconds(60, lambda: late.append(True) or loop.quit())
loop.run()
if late:
    sys.exit("links are still on their way")
