#define _GNU_SOURCE
#include "CLinuxHelper.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int spawn(int program, char *const words[], int channel, pid_t *process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel, 0);
  posix_spawn_file_actions_adddup2(&actions, channel, 1);
  posix_spawn_file_actions_adddup2(&actions, program, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  // The file that was looked at, not the one that has its name now.
  int problem = posix_spawn(process, "/proc/self/fd/2", &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return problem;
}

pid_t clinux_spawn_helper(int program, const char *name, const char *word, int channel) {
  char *const words[] = {(char *)name, (char *)word, NULL};
  pid_t process = -1;
  // Out of the way of 0, 1 and 2, which this process may have closed.
  int moved_program = fcntl(program, F_DUPFD_CLOEXEC, 3), moved_channel = fcntl(channel, F_DUPFD_CLOEXEC, 3);
  int problem = errno;
  if (moved_program >= 0 && moved_channel >= 0) problem = spawn(moved_program, words, moved_channel, &process);
  if (moved_program >= 0) close(moved_program);
  if (moved_channel >= 0) close(moved_channel);
  errno = problem;
  return problem == 0 ? process : -1;
}

int clinux_name_process(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

int clinux_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

int clinux_watch_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

void clinux_replace_environment(char *variables[]) { environ = variables; }
