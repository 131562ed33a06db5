/* The floor of plugin checks: start a plugin with posix_spawn, read what it
 * prints, wait for it, N times. Prints user+system seconds of itself, of the
 * plugins, and the wall time. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double cpu(int who) {
  struct rusage u;
  getrusage(who, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int n = atoi(argv[1]);
  char *plugin[] = {argv[2], "host", "service", NULL};
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < n; i++) {
    int p[2], status;
    pid_t pid;
    char buf[4096];
    if (pipe(p)) return 1;
    posix_spawn_file_actions_t fa;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, p[1], 1);
    posix_spawn_file_actions_addclose(&fa, p[0]);
    posix_spawn_file_actions_addclose(&fa, p[1]);
    if (posix_spawn(&pid, argv[2], &fa, NULL, plugin, environ)) return 1;
    posix_spawn_file_actions_destroy(&fa);
    close(p[1]);
    while (read(p[0], buf, sizeof buf) > 0) {
    }
    close(p[0]);
    if (waitpid(pid, &status, 0) != pid || status) return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%f %f %f\n", cpu(RUSAGE_SELF), cpu(RUSAGE_CHILDREN),
         (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
  return 0;
}
