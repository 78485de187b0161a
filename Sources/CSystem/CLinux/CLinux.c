#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int clinux_set_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int clinux_memfd_secret(void) { return (int)syscall(SYS_memfd_secret, O_CLOEXEC); }

clinux_random_pool *clinux_thread_random_pool(void) {
  static _Thread_local clinux_random_pool pool;
  return &pool;
}
