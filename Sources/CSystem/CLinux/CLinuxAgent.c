#define _GNU_SOURCE
#include "CLinuxAgent.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/// The length of the address, or 0 with errno set when the path is too long.
static socklen_t address_of(const char *path, struct sockaddr_un *address) {
  size_t length = strlen(path);
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  if (length == 0 || length >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return 0;
  }
  memcpy(address->sun_path, path, length);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

static int closed(int descriptor) {
  int problem = errno;
  close(descriptor);
  errno = problem;
  return -1;
}

int clinux_listen_packets(const char *path) {
  struct sockaddr_un address;
  socklen_t length = address_of(path, &address);
  if (length == 0) return -1;
  int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  // The mode of the socket before it is bound becomes that of its file; the umask can only take more away.
  if (fchmod(made, 0600) != 0 || bind(made, (struct sockaddr *)&address, length) != 0) return closed(made);
  if (chmod(path, 0600) != 0 || listen(made, 128) != 0) {
    int problem = errno;
    unlink(path);
    errno = problem;
    return closed(made);
  }
  return made;
}

int clinux_accept(int listening) { return accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

static bool is_option(int descriptor, int option, int expected) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

int clinux_is_listening_packets(int descriptor) {
  return is_option(descriptor, SO_DOMAIN, AF_UNIX) && is_option(descriptor, SO_TYPE, SOCK_SEQPACKET) &&
         is_option(descriptor, SO_ACCEPTCONN, 1);
}

int clinux_boot_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int clinux_set_boot_timer(int timer, uint64_t milliseconds) {
  struct itimerspec at = {
    .it_value = {.tv_sec = (time_t)(milliseconds / 1000), .tv_nsec = (long)(milliseconds % 1000) * 1000000}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

int clinux_notify(const char *path, const char *text) {
  struct sockaddr_un address;
  socklen_t length = address_of(path, &address);
  if (length == 0) return -1;
  if (address.sun_path[0] == '@') {
    address.sun_path[0] = 0;
    // Every byte of an abstract name counts, so the one that ends the path is left out.
    length--;
  }
  int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  ssize_t sent =
      sendto(made, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, length);
  closed(made);
  return sent < 0 ? -1 : 0;
}

/// 0, 1 and 2 are /dev/null, 3 is `ready`; `program` has another number and ends with the old program.
static int arrange(int program, int ready) {
  int moved_program = fcntl(program, F_DUPFD_CLOEXEC, 5), moved_ready = fcntl(ready, F_DUPFD_CLOEXEC, 5);
  int null = open("/dev/null", O_RDWR);
  if (moved_program < 0 || moved_ready < 0 || null < 0) return -1;
  for (int standard = 0; standard < 3; standard++)
    if (dup2(null, standard) < 0) return -1;
  if (dup2(moved_ready, 3) < 0 || dup3(moved_program, 4, O_CLOEXEC) < 0) return -1;
  if (close_range(5, ~0U, 0) != 0) {
    // Before Linux 5.9.
    long most = sysconf(_SC_OPEN_MAX);
    for (int other = 5; other < (most > 0 ? most : 1024); other++) close(other);
  }
  return 4;
}

static void become_detached(int program, char *const words[], int ready) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigset_t none;
  sigemptyset(&none);
  int place = arrange(program, ready);
  if (place < 0 || chdir("/") != 0) return;
  for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve("/proc/self/fd/4", words, environ);
}

int clinux_start_detached(int program, char *const words[], int ready) {
  pid_t first = fork();
  if (first == 0) {
    if (setsid() < 0) _exit(1);
    pid_t second = fork();
    if (second != 0) _exit(second > 0 ? 0 : 1);
    become_detached(program, words, ready);
    _exit(127);
  }
  if (first < 0) return -1;
  int status = 0;
  while (waitpid(first, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  errno = EAGAIN;
  return -1;
}
