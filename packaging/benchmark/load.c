// load [-d DEPTH] COUNT NAME PATH INTERFACE MEMBER KIND URL
// load -s COUNT NAME PATH INTERFACE MEMBER KIND URL
//
// Calls a method of a service COUNT times with DEPTH calls under way (1 unless given), and prints
// calls a second and the service's CPU time a call in microseconds. With -s the service is ended
// before each call, so that the bus starts it; prints the medians of the time to the reply and of the
// CPU time that the service has taken by then, in microseconds.
//
// KIND says what the method takes and when a call is over:
//   url     s              its reply
//   urls    as             its reply
//   open    as, a{sv}      its reply
//   submit  s, a{sv}       its reply, and the signal that the link was delivered
//
// One client for all services, so that what it costs itself is the same for each.

#include <dbus/dbus.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static DBusConnection *bus;
static const char *name, *path, *interface, *member, *kind, *url;

static void fail(const char *what) {
  fprintf(stderr, "load: %s.%s: %s\n", interface, member, what);
  exit(1);
}

static double seconds(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) fail("the service ended");
  return time.tv_sec + time.tv_nsec / 1e9;
}

static DBusMessage *call(void) {
  DBusMessage *message = dbus_message_new_method_call(name, path, interface, member);
  DBusMessageIter arguments, list;
  dbus_message_iter_init_append(message, &arguments);
  if (strcmp(kind, "urls") == 0 || strcmp(kind, "open") == 0) {
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "s", &list);
    dbus_message_iter_append_basic(&list, DBUS_TYPE_STRING, &url);
    dbus_message_iter_close_container(&arguments, &list);
  } else {
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &url);
  }
  if (strcmp(kind, "submit") == 0 || strcmp(kind, "open") == 0) {
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &list);
    dbus_message_iter_close_container(&arguments, &list);
  }
  return message;
}

// Whether the message ends a call; a refusal, an error and a bad outcome end the program.
static int ends(DBusMessage *message) {
  int type = dbus_message_get_type(message), waits = strcmp(kind, "submit") == 0;
  if (type == DBUS_MESSAGE_TYPE_ERROR) {
    const char *text = "";
    dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
    fail(text);
  }
  if (!waits || type != DBUS_MESSAGE_TYPE_SIGNAL)
    return !waits && type == DBUS_MESSAGE_TYPE_METHOD_RETURN;
  if (!dbus_message_is_signal(message, interface, "DeliveryChanged")) return 0;
  DBusMessageIter arguments;
  const char *state = "";
  dbus_message_iter_init(message, &arguments);
  dbus_message_iter_next(&arguments);
  dbus_message_iter_get_basic(&arguments, &state);
  if (strcmp(state, "delivered") == 0) return 1;
  static const char *const known[] = {"accepted", "starting", "waiting", "handing-over"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(state, known[i]) == 0) return 0;
  fail(state);
  return 0;
}

static void run(long count, long depth) {
  long sent = 0, done = 0;
  while (done < count) {
    for (; sent < count && sent - done < depth; sent++) {
      DBusMessage *message = call();
      dbus_connection_send(bus, message, NULL);
      dbus_message_unref(message);
    }
    if (!dbus_connection_read_write(bus, -1)) fail("the bus ended");
    for (DBusMessage *message; (message = dbus_connection_pop_message(bus));) {
      done += ends(message);
      dbus_message_unref(message);
    }
  }
}

// The service's process; 0 where it does not run.
static dbus_uint32_t process(void) {
  dbus_uint32_t pid = 0;
  DBusMessage *question = dbus_message_new_method_call(
      DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "GetConnectionUnixProcessID");
  dbus_message_append_args(question, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
  DBusMessage *answer = dbus_connection_send_with_reply_and_block(bus, question, -1, NULL);
  if (answer) {
    dbus_message_get_args(answer, NULL, DBUS_TYPE_UINT32, &pid, DBUS_TYPE_INVALID);
    dbus_message_unref(answer);
  }
  dbus_message_unref(question);
  return pid;
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void measure_starts(long count) {
  double *times = calloc(count, sizeof *times), *work = calloc(count, sizeof *work);
  clockid_t clock;
  for (long i = 0; i < count; i++) {
    dbus_uint32_t pid = process();
    if (pid) kill(pid, SIGTERM);
    // Not only its name: a process that still ends would take time of the next one's start.
    while (pid && kill(pid, 0) == 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    while (process()) continue;
    double started = seconds(CLOCK_MONOTONIC);
    run(1, 1);
    times[i] = seconds(CLOCK_MONOTONIC) - started;
    if (clock_getcpuclockid(process(), &clock) != 0) fail("its process is not known");
    work[i] = seconds(clock);
  }
  qsort(times, count, sizeof *times, compare);
  qsort(work, count, sizeof *work, compare);
  printf("%.0f %.0f\n", times[count / 2] * 1e6, work[count / 2] * 1e6);
}

int main(int argc, char **argv) {
  long depth = 1, starts = 0;
  for (int option; (option = getopt(argc, argv, "d:s")) != -1;) {
    if (option == 'd') depth = atol(optarg);
    if (option == 's') starts = 1;
  }
  if (argc - optind != 7 || depth < 1 || atol(argv[optind]) < 1) {
    fprintf(stderr, "load: COUNT NAME PATH INTERFACE MEMBER KIND URL are needed\n");
    return 1;
  }
  long count = atol(argv[optind]);
  name = argv[optind + 1], path = argv[optind + 2], interface = argv[optind + 3];
  member = argv[optind + 4], kind = argv[optind + 5], url = argv[optind + 6];
  bus = dbus_bus_get(DBUS_BUS_SESSION, NULL);
  if (!bus) fail("there is no bus");
  if (starts) return measure_starts(count), 0;

  // What is measured is a service that runs and is warm.
  run(count / 20 + 1, depth);
  clockid_t clock;
  if (clock_getcpuclockid(process(), &clock) != 0) fail("its process is not known");
  double started = seconds(CLOCK_MONOTONIC), worked = seconds(clock);
  run(count, depth);
  printf("%.0f %.2f\n", count / (seconds(CLOCK_MONOTONIC) - started),
         (seconds(clock) - worked) * 1e6 / count);
}
