#define _GNU_SOURCE
#include "CUnistring.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static struct {
  int (*canonical_decomposition)(uint32_t, uint32_t *);
  int (*combining_class)(uint32_t);
  uint32_t (*composition)(uint32_t, uint32_t);
} uc;

static int loaded = -ELIBACC;
static pthread_once_t loading = PTHREAD_ONCE_INIT;

// A pointer to an object from dlsym becomes one to a function: the cast that POSIX promises to work.
#define FIND(name) (*(void **)(&(uc.name)) = dlsym(library, "uc_" #name))

static void load(void) {
  // Debian 12, and Debian 13. These functions are the same in both.
  static const char *const names[] = {"libunistring.so.2", "libunistring.so.5"};
  for (size_t index = 0; loaded < 0 && index < sizeof names / sizeof *names; index++) {
    void *library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    if (library && FIND(canonical_decomposition) && FIND(combining_class) && FIND(composition)) loaded = 0;
  }
}

int cunistring_load(void) {
  pthread_once(&loading, load);
  return loaded;
}

int cunistring_decompose(uint32_t character, uint32_t *into) { return uc.canonical_decomposition(character, into); }
int cunistring_combining_class(uint32_t character) { return uc.combining_class(character); }
uint32_t cunistring_compose(uint32_t starter, uint32_t character) { return uc.composition(starter, character); }
