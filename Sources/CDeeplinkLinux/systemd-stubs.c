// libdbus-1.a as Debian builds it refers to two functions of libsystemd, which has no archive.
// Only D-Bus *servers* that were handed a listening socket reach them; we are a client. Weak and
// hidden: a program that does link libsystemd, and the shared libdbus, keep the real ones.
#include <errno.h>

__attribute__((weak, visibility("hidden"))) int sd_listen_fds(int unset_environment) {
  (void)unset_environment;
  return -ENOSYS;
}

__attribute__((weak, visibility("hidden"))) int sd_is_socket(
    int fd, int family, int type, int listening) {
  (void)fd, (void)family, (void)type, (void)listening;
  return -ENOSYS;
}
