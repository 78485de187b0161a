#define _GNU_SOURCE
#include "CLinuxProcesses.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "CLinuxEnvironment.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int clinux_memory_file(void) {
  int file = memfd_create("vaultctl", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  // Before Linux 6.3 the last flag is unknown.
  if (file < 0 && errno == EINVAL) file = memfd_create("vaultctl", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return file;
}

int clinux_seal(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

static int argument_count;
static char **argument_list;

/// The loader gives it what it gives `main`.
__attribute__((constructor)) static void keep_arguments(int count, char *list[]) {
  argument_count = count;
  argument_list = list;
}

int clinux_argument_count(void) { return argument_count; }

const char *clinux_argument(int index) { return index < argument_count ? argument_list[index] : NULL; }

static const struct {
  const char *name;
  long number, first, second;
} probed_calls[] = {
    // Each fails for its arguments, if it comes to them.
    {"renameat2", SYS_renameat2, -1, 0},   {"memfd_create", SYS_memfd_create, 0, -1}, {"getrandom", SYS_getrandom, 0, 0},
    {"close_range", SYS_close_range, 1, 0}, {"clone3", SYS_clone3, 0, 0},              {"flock", SYS_flock, -1, 0},
    {"linkat", SYS_linkat, -1, 0},          {"faccessat", SYS_faccessat, -1, 0},       {"statx", SYS_statx, -1, 0},
};

int clinux_probed_calls(void) { return (int)(sizeof probed_calls / sizeof *probed_calls); }

const char *clinux_denied_call(int index) {
  long result = syscall(probed_calls[index].number, probed_calls[index].first, probed_calls[index].second, 0, 0, 0);
  return result < 0 && (errno == ENOSYS || errno == EPERM) ? probed_calls[index].name : NULL;
}

/// The length of "VAR=" when both begin with the same one, else 0.
static size_t same_variable(const char *one, const char *other) {
  const char *end = strchr(one, '=');
  size_t length = end == NULL ? 0 : (size_t)(end - one) + 1;
  return strncmp(one, other, length) == 0 ? length : 0;
}

static int is_replaced(const char *variable, char *const added[]) {
  for (size_t index = 0; added[index] != NULL; index++)
    if (same_variable(added[index], variable) > 0) return 1;
  return 0;
}

char **clinux_environment_with(char *const added[]) {
  size_t count = 1;
  for (size_t index = 0; added[index] != NULL; index++) count++;
  for (size_t index = 0; environ != NULL && environ[index] != NULL; index++) count++;
  char **variables = calloc(count, sizeof *variables);
  if (variables == NULL) return NULL;
  size_t next = 0;
  for (size_t index = 0; environ != NULL && environ[index] != NULL; index++)
    if (!is_replaced(environ[index], added)) variables[next++] = environ[index];
  for (size_t index = 0; added[index] != NULL; index++) variables[next++] = added[index];
  return variables;
}

int clinux_become(char *const words[], char *const added[]) {
  char **variables = clinux_environment_with(added);
  if (variables == NULL) return -1;
  execvpe(words[0], words, variables);
  int problem = errno;
  free(variables);
  errno = problem;
  return -1;
}

pid_t clinux_spawn(char *const words[], int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t ignored, none;
  pid_t process = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, 0);
  else posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, 1);
  else posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  sigaddset(&ignored, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  // The programs of X11 and Wayland serve what was copied as long as they live: the end of the terminal must not end them.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  int problem = posix_spawnp(&process, words[0], &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem == 0) return process;
  errno = problem;
  return -1;
}

/// The environment with these variables in place of its own; NULL if there is no memory. The caller frees it.
static char **changed_environment(char *const added[]) {
  size_t count = 1;
  for (size_t index = 0; added[index] != NULL; index++) count++;
  for (size_t index = 0; environ != NULL && environ[index] != NULL; index++) count++;
  char **variables = calloc(count, sizeof *variables);
  if (variables == NULL) return NULL;
  size_t next = 0;
  for (size_t index = 0; environ != NULL && environ[index] != NULL; index++)
    if (!is_replaced(environ[index], added)) variables[next++] = environ[index];
  for (size_t index = 0; added[index] != NULL; index++) {
    const char *equals = strchr(added[index], '=');
    if (equals != NULL && equals[1] != 0) variables[next++] = added[index];
  }
  return variables;
}

pid_t clinux_spawn_shown(char *const words[], char *const added[], int input, int output) {
  char **variables = changed_environment(added);
  if (variables == NULL) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t ignored, none;
  pid_t process = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (input != 0) posix_spawn_file_actions_adddup2(&actions, input, 0);
  if (output != 1) posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  sigaddset(&ignored, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  int problem = posix_spawn(&process, words[0], &actions, &attributes, words, variables);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  free(variables);
  if (problem == 0) return process;
  errno = problem;
  return -1;
}

static void close_from(int first) {
  if (close_range(first, ~0U, 0) == 0) return;
  // Before Linux 5.9.
  long most = sysconf(_SC_OPEN_MAX);
  for (int descriptor = first; descriptor < (most > 0 ? most : 1024); descriptor++) close(descriptor);
}

/// A program that ends with the thread that starts it.
struct bound {
  const char *path;
  char *const *words;
  char *const *variables;
  int input, output;
  /// The open file that `path` names as descriptor 3; -1 if `path` is an ordinary one.
  int program;
};

/// In the child of vfork: no handler, no other descriptor. Returns only when the program does not start.
static void become_bound(pid_t parent, const struct bound *start) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigset_t none;
  sigemptyset(&none);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  // The parent may have ended before that.
  if (getppid() != parent) _exit(127);
  for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
  bool is_file = start->program >= 0;
  if (is_file && setsid() < 0) return;
  // First out of the way of the numbers that they get.
  int moved_input = fcntl(start->input, F_DUPFD, 4), moved_output = fcntl(start->output, F_DUPFD, 4);
  int moved_program = is_file ? fcntl(start->program, F_DUPFD, 4) : -1;
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (moved_input < 0 || moved_output < 0 || null < 0 || (is_file && moved_program < 0)) return;
  if (dup2(moved_input, 0) < 0 || dup2(moved_output, 1) < 0) return;
  if (null == 2 ? fcntl(null, F_SETFD, 0) < 0 : dup2(null, 2) < 0) return;
  if (is_file && dup2(moved_program, 3) < 0) return;
  close_from(is_file ? 4 : 3);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(start->path, start->words, start->variables);
}

/// The group of the program that was started last with a session of its own; 0 for none.
static _Atomic pid_t bound_group;

void clinux_kill_bound_group(void) {
  pid_t group = bound_group;
  if (group > 0) kill(-group, SIGKILL);
}

void clinux_forget_bound_group(pid_t process) {
  atomic_compare_exchange_strong(&bound_group, &process, 0);
}

static int spawn_bound(pid_t *process, const struct bound *start) {
  sigset_t all, before;
  // The child shares the memory of this process until it becomes another program, so none of its handlers may run there.
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int problem = 0;
  pid_t parent = getpid();
  pid_t child = vfork();
  if (child == 0) {
    become_bound(parent, start);
    problem = errno;
    _exit(127);
  }
  if (child < 0) problem = errno;
  // Before a signal can come.
  if (child > 0 && problem == 0 && start->program >= 0) bound_group = child;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (child > 0 && problem != 0)
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  *process = child;
  return problem;
}

int clinux_spawn_bound(
    pid_t *process, const char *path, char *const words[], char *const variables[], int input, int output) {
  struct bound start = {path, words, variables, input, output, -1};
  return spawn_bound(process, &start);
}

int clinux_spawn_bound_file(pid_t *process, int program, const char *name, int input, int output) {
  char *const words[] = {(char *)name, NULL};
  struct bound start = {"/proc/self/fd/3", words, environ, input, output, program};
  return spawn_bound(process, &start);
}

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_pipe_room(int end, int byte_count) {
  if (fcntl(end, F_GETPIPE_SZ) >= byte_count) return 0;
  return fcntl(end, F_SETPIPE_SZ, byte_count) < 0 ? -1 : 0;
}

/// 0, 1 and 2 are /dev/null, 3 is `kept` (/dev/null for none), 4 is `ready`, and nothing else is open.
static bool arrange(int kept, int ready) {
  // First out of the way of the numbers that they get.
  int moved = kept >= 0 ? fcntl(kept, F_DUPFD, 5) : -1;
  int moved_ready = fcntl(ready, F_DUPFD, 5);
  int null = open("/dev/null", O_RDWR);
  if (moved_ready < 0 || null < 0 || (kept >= 0 && moved < 0)) return false;
  for (int standard = 0; standard < 3; standard++)
    if (dup2(null, standard) < 0) return false;
  if (dup2(kept >= 0 ? moved : 0, 3) < 0 || dup2(moved_ready, 4) < 0) return false;
  close_from(5);
  return true;
}

/// Whether the byte came that says "I am ready". The end of the pipe means that it will not come.
static bool is_ready(int pipe) {
  char byte = 0;
  ssize_t count;
  while ((count = read(pipe, &byte, 1)) < 0 && errno == EINTR) continue;
  return count == 1;
}

int clinux_detach(int kept, const sigset_t *blocked) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  pid_t first = fork();
  if (first != 0) {
    int problem = errno, status = 0;
    close(ends[1]);
    while (first > 0 && waitpid(first, &status, 0) < 0 && errno == EINTR) continue;
    bool has_begun = first > 0 && is_ready(ends[0]);
    close(ends[0]);
    errno = first < 0 ? problem : EAGAIN;
    return has_begun ? -2 : -1;
  }
  if (setsid() < 0) _exit(1);
  pid_t second = fork();
  if (second != 0) _exit(second > 0 ? 0 : 1);
  sigprocmask(SIG_BLOCK, blocked, NULL);
  if (!arrange(kept, ends[1]) || write(4, "", 1) != 1) _exit(1);
  close(4);
  if (kept < 0) close(3);
  return 3;
}

int clinux_become_user(
    uid_t user, gid_t group, int program, char *const words[], char *const environment[], const int kept[], int count) {
  if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return -1;
  // A kernel that had not given all of them up would say so here.
  if (setuid(0) == 0) {
    errno = EPERM;
    return -1;
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  // Who starts it may have blocked or ignored the signals by which it ends.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  struct sigaction usual = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
  if (count == 0) return fexecve(program, words, environment);
  // Above what is kept, so that no number is needed twice.
  int moved[8], last = 3 + count;
  if (count > 8) {
    errno = EINVAL;
    return -1;
  }
  for (int index = 0; index < count; index++)
    if ((moved[index] = fcntl(kept[index], F_DUPFD, last + 1)) < 0) return -1;
  int above = fcntl(program, F_DUPFD_CLOEXEC, last + 1);
  if (above < 0) return -1;
  for (int index = 0; index < count; index++)
    if (dup2(moved[index], 3 + index) < 0) return -1;
  if (dup3(above, last, O_CLOEXEC) < 0 || close_range((unsigned)last + 1, ~0U, 0) != 0) return -1;
  return fexecve(last, words, environment);
}
