// libdbus, and what its header leaves to macros.
#ifndef CDEEPLINKDBUS_SHIM_H
#define CDEEPLINKDBUS_SHIM_H

#include <dbus/dbus.h>

#endif
