/* Starts a program N times with posix_spawn, reads what it prints and waits
 * for it: the least that starting a plugin can cost. Prints the microseconds
 * of processor time that it used itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char buffer[4096];
	char *args[] = {argv[1], NULL};
	char *env[] = {"LC_ALL=C", NULL};
	struct rusage used;
	int status, n = argc > 2 ? atoi(argv[2]) : 1;

	for (int i = 0; i < n; i++) {
		posix_spawn_file_actions_t actions;
		int ends[2];
		pid_t pid;

		if (pipe2(ends, O_CLOEXEC) != 0)
			return 1;
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
		if (posix_spawn(&pid, argv[1], &actions, NULL, args, env) != 0)
			return 1;
		posix_spawn_file_actions_destroy(&actions);
		close(ends[1]);
		while (read(ends[0], buffer, sizeof buffer) > 0)
			;
		close(ends[0]);
		waitpid(pid, &status, 0);
	}
	getrusage(RUSAGE_SELF, &used);
	printf("%ld\n", (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	return 0;
}
