"""The desktop's notification service: whoever sits before it allows once, and never for good.

The titles of what was shown stand in the file `notifications` of XDG_RUNTIME_DIR, one a line.
"""

import os

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


class Notifications(dbus.service.Object):
    shown = 0

    @dbus.service.method(NAME, "susssasa{sv}i", "u")
    def Notify(self, name, replaces, icon, summary, body, actions, hints, timeout):
        self.shown += 1
        with open(os.path.join(os.environ["XDG_RUNTIME_DIR"], "notifications"), "a") as file:
            print(summary, file=file)
        if "once" in actions:
            GLib.idle_add(self.ActionInvoked, dbus.UInt32(self.shown), "once")
        return self.shown

    @dbus.service.method(NAME, "u", "")
    def CloseNotification(self, number):
        pass

    @dbus.service.signal(NAME, "us")
    def ActionInvoked(self, number, action):
        pass

    @dbus.service.method(NAME, "", "as")
    def GetCapabilities(self):
        return ["actions", "body"]


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
service = Notifications(bus, "/org/freedesktop/Notifications")
name = dbus.service.BusName(NAME, bus)
GLib.MainLoop().run()
