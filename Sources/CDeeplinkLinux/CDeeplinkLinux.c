#include "CDeeplinkLinux.h"
