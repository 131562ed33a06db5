/* The plugin of the test of faults: it writes down that it runs, and by which process, and
   says the state that stands in a file. A shell would take several times the CPU, and 200 of
   them a second are more than two cores. DIR is the folder, set by -D. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char line[512];
	struct timeval now;
	int state = 0, n, fd;
	char digit;

	if (argc != 2 || gettimeofday(&now, NULL) != 0)
		return 3;
	n = snprintf(line, sizeof line, "%s %ld.%06ld %d\n", argv[1], (long)now.tv_sec, (long)now.tv_usec, (int)getppid());
	fd = open(DIR "/runs", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (n >= (int)sizeof line || fd < 0 || write(fd, line, n) != n)
		return 3;

	n = snprintf(line, sizeof line, DIR "/state/%s", argv[1]);
	if (n >= (int)sizeof line)
		return 3;
	fd = open(line, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, &digit, 1) == 1)
		state = digit - '0';
	n = snprintf(line, sizeof line, "state %d | s=%d\n", state, state);
	if (write(1, line, n) != n)
		return 3;
	return state;
}
