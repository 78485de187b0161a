#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int clinux_set_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int clinux_memfd_secret(void) { return (int)syscall(SYS_memfd_secret, O_CLOEXEC); }

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
