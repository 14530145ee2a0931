#define _GNU_SOURCE
#include "CDeeplinkLinux.h"

#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

int deeplink_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int deeplink_signal_fd(const int *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < count; i++)
    sigaddset(&set, signals[i]);
  int failed = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (failed) {
    errno = failed;
    return -1;
  }
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t deeplink_monotonic_nanoseconds(void) { return nanoseconds(CLOCK_MONOTONIC); }
int64_t deeplink_boottime_nanoseconds(void) { return nanoseconds(CLOCK_BOOTTIME); }

int deeplink_epoll_control(int epoll, int operation, int descriptor, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = descriptor};
  return epoll_ctl(epoll, operation, descriptor, &event);
}

int deeplink_epoll_descriptor(const struct epoll_event *event) { return event->data.fd; }

int deeplink_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

int deeplink_unread_bytes(int descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}

void deeplink_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

int deeplink_bounded_file(size_t size) {
  int file = memfd_create("deeplinkd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0)
    return -1;
  if (ftruncate(file, (off_t)size) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
    return file;
  int failed = errno;
  close(file);
  errno = failed;
  return -1;
}

int deeplink_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int deeplink_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

uint64_t deeplink_set_descriptor_limit(uint64_t soft) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 0;
  uint64_t former = limit.rlim_cur;
  limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? former : 0;
}

short deeplink_spawn_setsid(void) { return POSIX_SPAWN_SETSID; }

static int argument_count;
static char **arguments;

__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  argument_count = count;
  arguments = values;
}

int deeplink_argument_count(void) { return argument_count; }

const char *deeplink_argument(int index) {
  return index >= 0 && index < argument_count ? arguments[index] : NULL;
}
