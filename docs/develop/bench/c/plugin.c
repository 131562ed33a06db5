/* The plugin that every engine runs: prints one line with perfdata, exits 0.
 * It also appends a record of 16 bytes to RECORDS, which is how the harness
 * counts checks and sees when they started, for every engine alike: a hash of
 * its arguments and the time in nanoseconds. Two system calls of some hundred. */
#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t rec[2] = {14695981039346656037ull, (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec};
  for (int i = 1; i < argc; i++) {
    for (const char *c = argv[i]; *c; c++) rec[0] = (rec[0] ^ (unsigned char)*c) * 1099511628211ull;
    rec[0] = (rec[0] ^ '!') * 1099511628211ull;
  }
  int fd = open(RECORDS, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0 || write(fd, rec, sizeof rec) != sizeof rec) return 3;
  static const char line[] = "OK - x | a=1;2;3;0;10\n";
  return write(1, line, sizeof line - 1) == sizeof line - 1 ? 0 : 3;
}
