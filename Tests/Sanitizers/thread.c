// What `scripts/test --sanitize thread` links into every program that it builds: the options of the sanitizer, and the slow
// paths of Swift's Mutex. Most tests give the programs that they start an environment of their own, so the environment
// cannot carry the options. REPORTS, SUPPRESSIONS and SYMBOLIZER come from the command that compiles this file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

const char *__tsan_default_options(void) {
  return "exitcode=66:die_after_fork=0:log_path='" REPORTS "/thread':suppressions='" SUPPRESSIONS
         "':external_symbolizer_path='" SYMBOLIZER "'";
}

// The compiler inlines the fast path of Mutex into our code, where the sanitizer sees its atomic operation. A lock that has
// to wait calls libswiftSynchronization, which is built without the sanitizer: each such lock would be reported as a race.
// These functions take the place of the library's, call them, and tell the sanitizer what they order.
void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define MUTEX __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

SWIFT void lock_slow(uint32_t thread, MUTEX) __asm__(LOCK);
SWIFT void unlock_slow(MUTEX) __asm__(UNLOCK);
SWIFT bool try_lock_slow(MUTEX) __asm__(TRY_LOCK);

static void *library(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function) abort();
  return function;
}

SWIFT void lock_slow(uint32_t thread, MUTEX) {
  ((SWIFT void (*)(uint32_t, MUTEX))library(LOCK))(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT void unlock_slow(MUTEX) {
  __tsan_release(mutex);
  ((SWIFT void (*)(MUTEX))library(UNLOCK))(mutex);
}

SWIFT bool try_lock_slow(MUTEX) {
  bool locked = ((SWIFT bool (*)(MUTEX))library(TRY_LOCK))(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}
