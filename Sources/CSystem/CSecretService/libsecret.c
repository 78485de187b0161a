#include <sys/types.h>
#include "libsecret.h"
#include "CSecretService.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static libsecret_functions functions;
static atomic_bool is_loaded;
static bool is_complete;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  atomic_store(&is_loaded, true);
  // A search in libsecret also finds its dependencies: GIO, GObject, GLib. Never closed: GLib has threads.
  is_complete = true;
#define FIND(result, name, parameters) \
  *(void **)&functions.name = dlsym(library, #name); \
  if (!functions.name) is_complete = false;
  FUNCTIONS(FIND)
#undef FIND
}

const libsecret_functions *libsecret(void) {
  pthread_once(&once, load);
  return is_complete ? &functions : NULL;
}

bool secret_service_is_loaded(void) { return atomic_load(&is_loaded); }
