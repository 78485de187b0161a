// What the Glibc module lacks, each as one small function with a reason.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "CLinuxAgent.h"
#include "CLinuxFiles.h"
#include "CLinuxHelper.h"
#include "CLinuxProcesses.h"
#include "CLinuxProgram.h"
#include "CLinuxSockets.h"
#include "CLinuxTerminal.h"

/// prctl is variadic, which Swift cannot call. Returns 0, or -1 with errno set.
int clinux_set_not_dumpable(void);

/// glibc has no memfd_secret and syscall is variadic. Close-on-exec. Returns a descriptor, or -1 with errno set.
int clinux_memfd_secret(void);

/// As getentropy, which the Glibc module has; where the kernel or a filter of system calls denies it, the same bytes from the kernel's
/// device. At most 256 bytes. Returns 0, or -1 with errno set: then nothing of `bytes` is to be used.
int clinux_random(void *bytes, size_t count);

/// The Glibc module has no strerrordesc_np. What an error number means, in English; NULL for a number that has no meaning.
const char *clinux_error_text(int number);

/// The Glibc module has no gettid. The id of the calling thread in the kernel.
pid_t clinux_thread_id(void);

/// syscall is variadic. Milliseconds since boot, asked of the kernel itself: a library that fakes clocks, such as libfaketime,
/// replaces clock_gettime. Returns -1 with errno set where that fails.
int64_t clinux_kernel_boot_milliseconds(void);

/// The length of a pool in bytes.
enum { clinux_random_pool_size = 32 << 10 };

/// Swift has no thread-local storage. The unused random bytes of the calling thread: the first `left` of `bytes`, valid
/// while `mark` is that of this process. All zero at the start of the thread, wiped at its end.
typedef struct {
  size_t left;
  size_t refills;
  const void *mark;
  uint8_t bytes[clinux_random_pool_size];
} clinux_random_pool;

/// NULL without memory.
clinux_random_pool *clinux_thread_random_pool(void);
