#define _GNU_SOURCE
#include "CLinuxProgram.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "CLinuxEnvironment.h"

/// The program that signals are sent on to; 0 for none.
static volatile pid_t relayed_to;
/// What is sent on.
static sigset_t relayed;

/// Async-signal-safe. Keeps errno.
static void relay(int number, siginfo_t *about, void *context) {
  (void)context;
  int kept = errno;
  pid_t process = relayed_to;
  // The terminal sends its signals to the whole group, and the program is in it.
  if (process > 0 && about->si_code != SI_KERNEL) kill(process, number);
  errno = kept;
}

static bool is_relayed(int number) {
  switch (number) {
    case SIGKILL: case SIGSTOP: case SIGCHLD: case SIGPIPE: case SIGXFSZ:
    // Faults of this process.
    case SIGILL: case SIGTRAP: case SIGABRT: case SIGBUS: case SIGFPE: case SIGSEGV: case SIGSYS:
      return false;
    default:
      return true;
  }
}

static void start_relaying(pid_t process) {
  struct sigaction action = {.sa_sigaction = relay, .sa_flags = SA_SIGINFO | SA_RESTART}, before;
  sigfillset(&action.sa_mask);
  sigemptyset(&relayed);
  relayed_to = process;
  for (int number = 1; number < NSIG; number++) {
    if (!is_relayed(number) || sigaction(number, NULL, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    if (sigaction(number, &action, NULL) == 0) sigaddset(&relayed, number);
  }
}

static void stop_relaying(void) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  relayed_to = 0;
  for (int number = 1; number < NSIG; number++)
    if (sigismember(&relayed, number) == 1) sigaction(number, &usual, NULL);
}

/// In the child: what this process handles must not run there, and not in the program.
static void reset_signals(const clinux_program *program) {
  struct sigaction usual = {.sa_handler = SIG_DFL}, present;
  for (int number = 1; number < NSIG; number++) {
    if (sigaction(number, NULL, &present) != 0) continue;
    bool stays = present.sa_handler == SIG_IGN;
    if (number == SIGPIPE) stays = program->ignores_broken_pipes;
    if (number == SIGXFSZ) stays = program->ignores_file_sizes;
    if (!stays) sigaction(number, &usual, NULL);
  }
}

/// In the child. The number is that of the /proc that is mounted, which can be another one than that of getpid().
static bool write_own_paths(const clinux_program *program) {
  char digits[clinux_most_digits + 1];
  if (program->path_count == 0) return true;
  ssize_t count = readlink("/proc/self", digits, sizeof digits);
  if (count <= 0 || count > clinux_most_digits) return false;
  for (size_t index = 0; index < program->path_count; index++) {
    char *rest = program->paths[index].variable + program->paths[index].place;
    memmove(rest + count, rest, strlen(rest) + 1);
    memcpy(rest, digits, (size_t)count);
  }
  return true;
}

/// In the child of vfork. Returns only when the program does not start.
static void become_program(
    const clinux_program *program, char **variables, pid_t parent, const sigset_t *mask, volatile size_t *problem) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  // The parent may have ended before that.
  if (getppid() != parent) _exit(127);
  reset_signals(program);
  if (program->output >= 0 && dup2(program->output, 1) < 0) return;
  if (program->error >= 0 && dup2(program->error, 2) < 0) return;
  for (size_t index = 0; index < program->passed_count; index++) {
    const clinux_passed *passed = &program->passed[index];
    *problem = index;
    if (passed->number < 0 ? fcntl(passed->descriptor, F_SETFD, 0) < 0 : dup2(passed->descriptor, passed->number) < 0)
      return;
  }
  *problem = program->passed_count;
  if (!write_own_paths(program)) return;
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvpe(program->words[0], program->words, variables);
}

pid_t clinux_start_program(const clinux_program *program, size_t *problem) {
  char **variables = clinux_environment_with(program->added);
  *problem = program->passed_count;
  if (variables == NULL) return -1;
  sigset_t all, before;
  // The child shares the memory of this process until it becomes another program.
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int code = 0;
  volatile size_t step = program->passed_count;
  pid_t parent = getpid();
  pid_t child = vfork();
  if (child == 0) {
    become_program(program, variables, parent, &before, &step);
    code = errno;
    _exit(127);
  }
  if (child < 0) code = errno;
  // Before a signal can come.
  if (child > 0 && code == 0) start_relaying(child);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  free(variables);
  if (code == 0) return child;
  if (child > 0)
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  *problem = step;
  errno = code;
  return -1;
}

int clinux_await_program(pid_t process, int *status) {
  siginfo_t about;
  while (true) {
    // The end is not taken yet, so that no signal is sent on to another process of this number.
    if (waitid(P_PID, (id_t)process, &about, WEXITED | WSTOPPED | WNOWAIT) < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    if (about.si_code != CLD_STOPPED) break;
    siginfo_t taken = {0};
    waitid(P_PID, (id_t)process, &taken, WSTOPPED | WNOHANG);
    // It may go on already. What somebody has stopped by SIGSTOP alone, nobody would continue here.
    if (taken.si_pid == process && taken.si_status != SIGSTOP) kill(getpid(), SIGSTOP);
  }
  stop_relaying();
  while (waitpid(process, status, 0) < 0)
    if (errno != EINTR) return -1;
  return 0;
}

static void close_if_inherited(int descriptor) {
  int flags = fcntl(descriptor, F_GETFD);
  if (flags >= 0 && (flags & FD_CLOEXEC) == 0) close(descriptor);
}

void clinux_close_inherited(void) {
  DIR *folder = opendir("/proc/self/fd");
  if (folder == NULL) {
    for (int descriptor = 3; descriptor < 1024; descriptor++) close_if_inherited(descriptor);
    return;
  }
  struct dirent *entry;
  while ((entry = readdir(folder)) != NULL) {
    int descriptor = atoi(entry->d_name);
    if (descriptor > 2 && descriptor != dirfd(folder)) close_if_inherited(descriptor);
  }
  closedir(folder);
}
