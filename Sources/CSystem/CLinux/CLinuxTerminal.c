#define _GNU_SOURCE
#include "CLinuxTerminal.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { fatal_count = 7 };
static const int fatal[fatal_count] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};

static struct {
  volatile sig_atomic_t is_guarded;
  int descriptor;
  struct termios before;
  struct termios during;
  struct sigaction actions[fatal_count];
} guard;

// Async-signal-safe: tcgetattr, tcsetattr, sigaction and raise are.
static void restore_and_end(int number) {
  int kept = errno;
  struct termios now;
  if (guard.is_guarded && tcgetattr(guard.descriptor, &now) == 0 && now.c_lflag == guard.during.c_lflag)
    tcsetattr(guard.descriptor, TCSANOW, &guard.before);
  for (size_t index = 0; index < fatal_count; index++)
    if (fatal[index] == number) sigaction(number, &guard.actions[index], NULL);
  // The signal is blocked until this handler returns. A fault would recur by itself, a signal that was sent would not.
  raise(number);
  errno = kept;
}

void clinux_guard_terminal(int descriptor, const struct termios *before, const struct termios *during) {
  clinux_release_terminal();
  guard.descriptor = descriptor;
  guard.before = *before;
  guard.during = *during;
  struct sigaction action = {.sa_handler = restore_and_end};
  sigemptyset(&action.sa_mask);
  // A process in the background may set the mode while this signal is blocked.
  sigaddset(&action.sa_mask, SIGTTOU);
  for (size_t index = 0; index < fatal_count; index++) {
    sigaction(fatal[index], NULL, &guard.actions[index]);
    if (guard.actions[index].sa_handler != SIG_IGN) sigaction(fatal[index], &action, NULL);
  }
  guard.is_guarded = 1;
}

void clinux_release_terminal(void) {
  if (!guard.is_guarded) return;
  guard.is_guarded = 0;
  for (size_t index = 0; index < fatal_count; index++) sigaction(fatal[index], &guard.actions[index], NULL);
}

int clinux_terminal_number(int terminal, uint64_t *number) {
  unsigned found = 0;
  if (ioctl(terminal, TIOCGDEV, &found) != 0) return -1;
  *number = found;
  return 0;
}

int clinux_hang_up(int terminal) {
  pid_t child = fork();
  if (child == 0) {
    // The hangup signals the leader of the session.
    signal(SIGHUP, SIG_IGN);
    if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) != 0) _exit(1);
    // Where a root of fewer rights may not call it, the end of the leader does the same.
    vhangup();
    _exit(0);
  }
  if (child < 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  errno = EBUSY;
  return -1;
}
