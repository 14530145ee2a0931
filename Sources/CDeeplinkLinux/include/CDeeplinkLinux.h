// What Swift's Glibc module does not show of Linux.
#ifndef CDEEPLINKLINUX_H
#define CDEEPLINKLINUX_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma clang assume_nonnull begin

// A descriptor that becomes readable when the process ends, or -1 with errno (pidfd_open(2)).
int deeplink_pidfd_open(pid_t pid);

// Blocks `signals` in the calling thread and gives a descriptor that reads them, or -1 with errno.
int deeplink_signal_fd(const int *signals, size_t count);

// Nanoseconds of CLOCK_MONOTONIC: for waits.
int64_t deeplink_monotonic_nanoseconds(void);

// Nanoseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps: for expiry.
int64_t deeplink_boottime_nanoseconds(void);

// epoll_ctl with the descriptor itself as the event's data, and its counterpart for waiting.
int deeplink_epoll_control(int epoll, int operation, int descriptor, uint32_t events);
int deeplink_epoll_descriptor(const struct epoll_event *event);

// A pipe whose ends no child inherits: the end to read, then the end to write. 0, or -1 with errno.
int deeplink_pipe(int *ends);

// How many bytes of a pipe nobody has read yet, asked at either end; 0 where that is not known.
int deeplink_unread_bytes(int descriptor);

// From now on all threads take their memory from one heap (mallopt(3), M_ARENA_MAX).
void deeplink_use_one_heap(void);

// A nameless file of `size` bytes of memory that cannot grow: writing past its end fails with EPERM
// and no signal (memfd_create(2)). -1 with errno.
int deeplink_bounded_file(size_t size);

// glibc's own additions to posix_spawn(3): all descriptors from `first` on are closed in the child,
// and it starts in the folder `path`. 0, or an error number.
int deeplink_spawn_close_from(posix_spawn_file_actions_t *actions, int first);
int deeplink_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path);

// Sets the soft limit of descriptors, at most to the hard one; gives the former, or 0 on failure.
uint64_t deeplink_set_descriptor_limit(uint64_t soft);

// The flag that gives the child a session of its own.
short deeplink_spawn_setsid(void);

// What started this program: glibc hands both to a constructor, as Embedded Swift has no
// `CommandLine`.
int deeplink_argument_count(void);
const char *_Nullable deeplink_argument(int index);

#pragma clang assume_nonnull end

#endif
