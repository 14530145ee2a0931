// What Swift's Glibc module does not show of Linux, as plain functions.
#ifndef CDEEPLINKLINUX_H
#define CDEEPLINKLINUX_H
#endif
