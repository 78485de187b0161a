#define _GNU_SOURCE
#include "CLaneThreads.h"
#include <CArgon2.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

// A sanitizer has a `pthread_create` of its own, which must see each thread.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int cargon2_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  int result;
  if (cargon2_hand_over(thread, start, argument, &result)) return result;
  static _Atomic(create *) next;
  create *found = atomic_load_explicit(&next, memory_order_relaxed);
  if (found == NULL) {
    found = (create *)dlsym(RTLD_NEXT, "pthread_create");
    atomic_store_explicit(&next, found, memory_order_relaxed);
  }
  return found == NULL ? EAGAIN : found(thread, attributes, start, argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
    __attribute__((alias("cargon2_pthread_create")));

#endif
