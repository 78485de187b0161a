#define _DEFAULT_SOURCE
#include "COTPKernels.h"
#include <string.h>

#include "constants.h"

// What one call computes: the values of counters, consecutive from `first` on or listed, under the first midstate
// pair or under listed ones.  Lists are readable up to a whole group of lanes.
struct job {
  const void *midstates;
  const uint32_t *pairs;
  const uint64_t *counters;
  uint64_t first;
};

// values[i] for i from `from` to below `to`, in whole groups of lanes: there is room for one more.
#define RUN_ARGUMENTS const struct job *job, size_t from, size_t to, uint32_t *values

// The remainder of numbers below 2^31 by one multiplication: exact, because `factor` exceeds
// 2^(32 + shift) / modulus by less than 2^(1 + shift) / modulus.
struct divisor {
  uint32_t factor, modulus, shift;
};

static struct divisor divisor(uint32_t modulus) {
  uint32_t shift = 31 - (uint32_t)__builtin_clz(modulus - 1);
  return (struct divisor){(uint32_t)(((1ull << (32 + shift)) + modulus - 1) / modulus), modulus, shift};
}

// The index of nothing.
enum { none = 0x7fffffff };

#define FIRST_ARGUMENTS \
  const uint32_t *values, size_t count, struct divisor by, const uint32_t *wanted, int words
#define EQUAL_ARGUMENTS const uint32_t *values, size_t count, struct divisor by, const uint32_t *wanted

#define UNROLL _Pragma("clang loop unroll(full)")
#define ROL32(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define ROR32(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define ROR64(x, n) ((x) >> (n) | (x) << (64 - (n)))

// The numbers a b c d, plus k, and again plus s, 2 s, 3 s and so on; and quarters put together.
#define LIST1(a, b, c, d, k, s) (a) + (k), (b) + (k), (c) + (k), (d) + (k)
#define LIST2(a, b, c, d, k, s) LIST1(a, b, c, d, k, s), LIST1(a, b, c, d, (k) + (s), s)
#define LIST4(a, b, c, d, k, s) LIST2(a, b, c, d, k, s), LIST2(a, b, c, d, (k) + 2 * (s), s)
#define JOINED1(q) (q)[0]
#define JOINED2(q) __builtin_shufflevector((q)[0], (q)[1], LIST2(0, 1, 2, 3, 0, 4))
#define JOINED4(q) __builtin_shufflevector(JOINED2(q), JOINED2((q) + 2), LIST4(0, 1, 2, 3, 0, 4))

#define SUFFIX portable
#define TARGET
#define WIDTH 16
#include "lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "shani.h"

#define SUFFIX avx2
#define TARGET __attribute__((target("avx2")))
#define WIDTH 32
#include "lanes.h"

#define SUFFIX avx512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define WIDTH 64
#include "lanes.h"
#endif

// One way to compute.
struct way {
  void (*run[3])(RUN_ARGUMENTS);
  uint32_t (*first)(FIRST_ARGUMENTS);
  uint32_t (*equal)(EQUAL_ARGUMENTS);
};

static const struct way ways[] = {
  {{run_sha1_portable, run_sha256_portable, run_sha512_portable}, first_portable, equal_portable},
#if defined(__x86_64__)
  {{run_sha1_shani, run_sha256_shani, NULL}, first_portable, equal_portable},
  {{run_sha1_avx2, run_sha256_avx2, run_sha512_avx2}, first_avx2, equal_avx2},
  {{run_sha1_avx512, run_sha256_avx512, run_sha512_avx512}, first_avx2, equal_avx2},
#endif
};

int otp_lanes_supported(enum otp_lanes lanes, enum otp_hash hash) {
#if defined(__x86_64__)
  if (!ways[lanes].run[hash]) return 0;
  switch (lanes) {
  case otp_portable: return 1;
  case otp_shani: return __builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1");
  case otp_avx2: return __builtin_cpu_supports("avx2") != 0;
  case otp_avx512:
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
  }
  return 0;
#else
  return lanes == otp_portable;
#endif
}

size_t otp_midstates_size(enum otp_hash hash) {
  return hash == otp_sha1 ? 2 * 5 * 4 : hash == otp_sha256 ? 2 * 8 * 4 : 2 * 8 * 8;
}

#if defined(__x86_64__)
// The registers that only AVX-512 has, which vzeroall leaves alone.
static __attribute__((noinline, target("avx512f"))) void wipe_upper_registers(void) {
  __asm__ volatile(
    ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
    "vpxord %%zmm\\n, %%zmm\\n, %%zmm\\n\n"
    ".endr" ::
      : "memory", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
        "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}
#endif

// Overwrites what the kernels that ran before, at the same depth, have left on the stack and in vector registers:
// key schedules, states.  The deepest frame is that of SHA-512 under AVX2, 4.3 KiB.
__attribute__((noinline)) void otp_wipe(enum otp_lanes lanes) {
  unsigned char below[8 << 10];
  explicit_bzero(below, sizeof below);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroall" ::: "memory");
  if (lanes == otp_avx512) wipe_upper_registers();
#else
  (void)lanes;
#endif
}

// How many values are kept at once between computing and comparing them, and the room for a whole group more.
enum { chunk = 512, room = chunk + 16 };

void otp_window(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first, size_t count,
                uint32_t *values) {
  struct job job = {.midstates = midstates, .first = first};
  uint32_t some[room];
  for (size_t base = 0; base < count; base += chunk, job.first += chunk) {
    size_t size = count - base < chunk ? count - base : chunk;
    ways[lanes].run[hash](&job, 0, size, some);
    memcpy(values + base, some, size * sizeof *values);
  }
  explicit_bzero(some, sizeof some);
  otp_wipe(lanes);
}

// The first i with the `words` values from counter first + i on wanted.
static size_t find(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first, size_t count,
                   uint32_t modulus, const uint32_t *wanted, int words) {
  const struct way *way = &ways[lanes];
  const struct divisor by = divisor(modulus);
  struct job job = {.midstates = midstates, .first = first};
  uint32_t values[room];
  size_t found = count;
  if (words > 1) memset(values, 0, sizeof values);  // those after the last group are read
  for (size_t base = 0; base < count; base += chunk, job.first += chunk) {
    size_t size = count - base < chunk ? count - base : chunk;
    way->run[hash](&job, 0, size + (size_t)words - 1, values);
    size_t index = way->first(values, size, by, wanted, words);
    size_t mask = 0 - ((size_t)(index < size) & (size_t)(found == count));
    found = ((base + index) & mask) | (found & ~mask);
  }
  explicit_bzero(values, sizeof values);
  otp_wipe(lanes);
  return found;
}

size_t otp_find(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first, size_t count,
                uint32_t modulus, uint32_t wanted) {
  return find(lanes, hash, midstates, first, count, modulus, &wanted, 1);
}

size_t otp_find_pair(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first,
                     size_t count, uint32_t modulus, uint32_t wanted, uint32_t next) {
  const uint32_t both[2] = {wanted, next};
  return find(lanes, hash, midstates, first, count, modulus, both, 2);
}

uint32_t otp_compare(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, const struct otp_lot *lot,
                     size_t count, uint32_t modulus) {
  const struct way *way = &ways[lanes];
  const struct job job = {.midstates = midstates, .pairs = lot->pairs, .counters = lot->counters};
  uint32_t values[otp_lot_size];
  way->run[hash](&job, 0, count, values);
  return way->equal(values, count, divisor(modulus), lot->wanted) & (uint32_t)((1ull << count) - 1);
}
