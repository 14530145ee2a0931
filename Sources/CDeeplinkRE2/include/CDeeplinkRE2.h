// A C face for RE2, the regular expression library that matches in linear time.
#ifndef CDEEPLINKRE2_H
#define CDEEPLINKRE2_H
#endif
