// measure RUNS , PROGRAM [ARGUMENT…] [, PROGRAM [ARGUMENT…]]…
//
// Runs each program RUNS times, in turns, so that what else happens on the machine meets them all
// alike. Prints a line for each: median wall time and mean CPU time in microseconds, peak memory in
// KiB. A program of its own because a child's peak counts its parent's memory at the time of
// exec(2): this one is smaller than anything it measures.

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { MAXIMUM_RUNS = 10000, MAXIMUM_PROGRAMS = 4 };
extern char **environ;

static struct {
  char **arguments;
  double wall[MAXIMUM_RUNS], cpu;
  long memory;
} programs[MAXIMUM_PROGRAMS];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static double microseconds(struct timeval time) { return time.tv_sec * 1e6 + time.tv_usec; }

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 0, count = 0;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], ",") != 0) continue;
    argv[i] = NULL;
    if (count < MAXIMUM_PROGRAMS && i + 1 < argc) programs[count++].arguments = &argv[i + 1];
  }
  if (runs < 1 || runs > MAXIMUM_RUNS || count == 0) {
    fprintf(stderr, "measure: 1 to %d runs and up to %d programs are needed\n", MAXIMUM_RUNS,
            MAXIMUM_PROGRAMS);
    return 1;
  }
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  for (int run = 0; run < runs; run++) {
    for (int i = 0; i < count; i++) {
      pid_t child;
      int status;
      struct rusage usage;
      double started = now();
      int failed =
          posix_spawn(&child, programs[i].arguments[0], &quiet, NULL, programs[i].arguments, environ);
      if (failed || wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "measure: %s failed\n", programs[i].arguments[0]);
        return 1;
      }
      programs[i].wall[run] = now() - started;
      programs[i].cpu += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
      if (usage.ru_maxrss > programs[i].memory) programs[i].memory = usage.ru_maxrss;
    }
  }
  for (int i = 0; i < count; i++) {
    qsort(programs[i].wall, runs, sizeof(double), compare);
    printf("%.0f %.0f %ld\n", programs[i].wall[runs / 2], programs[i].cpu / runs,
           programs[i].memory);
  }
}
