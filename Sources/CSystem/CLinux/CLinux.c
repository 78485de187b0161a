#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int clinux_set_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int clinux_memfd_secret(void) { return (int)syscall(SYS_memfd_secret, O_CLOEXEC); }

/// All bytes of `/dev/urandom`, once the kernel's generator is seeded.
static int read_random_device(unsigned char *bytes, size_t count) {
  // /dev/random can be read once it is.
  struct pollfd seeded = {.fd = open("/dev/random", O_RDONLY | O_CLOEXEC | O_NOCTTY), .events = POLLIN};
  if (seeded.fd < 0) return -1;
  while (poll(&seeded, 1, -1) < 0 && errno == EINTR) continue;
  close(seeded.fd);
  int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  struct stat about;
  // In a container, something else can have the name.
  bool is_random = file >= 0 && fstat(file, &about) == 0 && S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 9);
  while (is_random && count > 0) {
    ssize_t got = read(file, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes += got;
    count -= (size_t)got;
  }
  if (file >= 0) close(file);
  if (is_random && count == 0) return 0;
  errno = ENOSYS;
  return -1;
}

int clinux_random(void *bytes, size_t count) {
  if (getentropy(bytes, count) == 0) return 0;
  // A filter of system calls denies getrandom; an old one says so by EPERM.
  if (errno != ENOSYS && errno != EPERM) return -1;
  return read_random_device(bytes, count);
}

const char *clinux_error_text(int number) { return strerrordesc_np(number); }

pid_t clinux_thread_id(void) { return gettid(); }

int64_t clinux_kernel_boot_milliseconds(void) {
  struct timespec time;
  if (syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &time)) return -1;
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Thread-local memory is on the stack of every thread of the program, so only a pointer is kept there.
static _Thread_local clinux_random_pool *pool;
static pthread_key_t pool_end;
static int has_pool_end;

static void end_pool(void *ended) {
  pool = NULL;
  explicit_bzero(ended, sizeof *pool);
  free(ended);
}

static void make_pool_end(void) { has_pool_end = pthread_key_create(&pool_end, end_pool) == 0; }

static __attribute__((noinline)) clinux_random_pool *make_pool(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_pool_end);
  clinux_random_pool *made = has_pool_end ? calloc(1, sizeof *made) : NULL;
  if (made && pthread_setspecific(pool_end, made) != 0) {
    free(made);
    made = NULL;
  }
  return pool = made;
}

clinux_random_pool *clinux_thread_random_pool(void) { return pool ? pool : make_pool(); }
