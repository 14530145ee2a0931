#include "CDeeplinkRE2.h"
