#include "support.h"
#include <dlfcn.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <time.h>
#include <unistd.h>

volatile uint64_t peer_sink;
void peer_keep(uint64_t value) { peer_sink += value; }

double peer_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

void peer_mark(void) { getpgid(0); }

void *peer_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }

void *peer_symbol(const char *library, const char *name) {
  void *handle = peer_library(library);
  return handle ? dlsym(handle, name) : NULL;
}

const char *peer_openssl_version(void) { return OpenSSL_version(OPENSSL_VERSION); }
const char *peer_sqlite_version(void) { return sqlite3_libversion(); }
