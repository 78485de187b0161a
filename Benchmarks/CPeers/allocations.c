// Every allocation of the process goes through here, also those of shared libraries: a program's own malloc comes
// before libc's. Nothing is preloaded.
#include "support.h"
#include <errno.h>
#include <stdatomic.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_int is_counting;
static atomic_uint_fast64_t count, bytes;

static inline void note(size_t size) {
  if (__builtin_expect(atomic_load_explicit(&is_counting, memory_order_relaxed), 0)) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
  }
}

void *malloc(size_t size) { note(size); return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { note(n * size); return __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { note(size); return __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { note(size); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { note(size); return __libc_memalign(alignment, size); }
int posix_memalign(void **out, size_t alignment, size_t size) {
  note(size);
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}
void free(void *old) { __libc_free(old); }

void peer_count_start(void) {
  atomic_store(&count, 0);
  atomic_store(&bytes, 0);
  atomic_store(&is_counting, 1);
}

peer_allocations peer_count_stop(void) {
  atomic_store(&is_counting, 0);
  return (peer_allocations){atomic_load(&count), atomic_load(&bytes)};
}
