#define _DEFAULT_SOURCE
#include "COTPKernels.h"
#include <string.h>

#include "constants.h"

// What one call computes: values of `count` counters, consecutive from `first` or listed, under the first midstate
// pair or under listed ones.
struct job {
  const void *midstates;
  const uint32_t *pairs;
  const uint64_t *counters;
  uint64_t first;
  size_t count;
};

#define UNROLL _Pragma("clang loop unroll(full)")
#define ROL32(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define ROR32(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define ROR64(x, n) ((x) >> (n) | (x) << (64 - (n)))

// The last group of lanes is filled up with the last listed pair and counter; nobody reads what comes out.
static inline __attribute__((always_inline)) size_t pair_of(const struct job *job, size_t i) {
  return job->pairs ? job->pairs[i < job->count ? i : job->count - 1] : 0;
}

static inline __attribute__((always_inline)) uint64_t counter_of(const struct job *job, size_t i) {
  return job->counters ? job->counters[i < job->count ? i : job->count - 1] : job->first + i;
}

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

typedef void (*run)(const struct job *, uint32_t *);

static run find(enum otp_lanes lanes, enum otp_hash hash) {
  static const run runs[4][3] = {
    {run_sha1_portable, run_sha256_portable, run_sha512_portable},
#if defined(__x86_64__)
    {run_sha1_shani, run_sha256_shani, NULL},
    {run_sha1_avx2, run_sha256_avx2, run_sha512_avx2},
    {run_sha1_avx512, run_sha256_avx512, run_sha512_avx512},
#endif
  };
  return runs[lanes][hash];
}

int otp_lanes_supported(enum otp_lanes lanes, enum otp_hash hash) {
  if (!find(lanes, hash)) return 0;
#if defined(__x86_64__)
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

// Overwrites what the kernel that ran before, at the same depth, has left on the stack: key schedules, states.
static __attribute__((noinline)) void wipe_stack(void) {
  unsigned char below[8 << 10];
  explicit_bzero(below, sizeof below);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroall" ::: "memory");
#endif
}

void otp_window(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first, size_t count,
                uint32_t *values) {
  const struct job job = {.midstates = midstates, .first = first, .count = count};
  if (count == 0) return;
  find(lanes, hash)(&job, values);
  wipe_stack();
}

void otp_pairs(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, const uint32_t *pairs,
               const uint64_t *counters, size_t count, uint32_t *values) {
  const struct job job = {.midstates = midstates, .pairs = pairs, .counters = counters, .count = count};
  if (count == 0) return;
  find(lanes, hash)(&job, values);
  wipe_stack();
}

// The remainder of numbers below 2^31 by one multiplication: exact, because `factor` exceeds 2^shift / modulus by
// less than 2^(shift - 31) / modulus.
struct divisor {
  uint64_t factor;
  uint32_t modulus, shift;
};

static struct divisor divisor(uint32_t modulus) {
  uint32_t shift = 31 + 32 - (uint32_t)__builtin_clz(modulus);
  return (struct divisor){((1ull << shift) + modulus - 1) / modulus, modulus, shift};
}

static inline __attribute__((always_inline)) uint32_t remainder_of(uint32_t value, struct divisor by) {
  return value - (uint32_t)(value * by.factor >> by.shift) * by.modulus;
}

// How many values are kept at once between computing and comparing them.
enum { chunk = 512 };

size_t otp_find(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first, size_t count,
                uint32_t modulus, uint32_t wanted) {
  const struct divisor by = divisor(modulus);
  uint32_t values[chunk];
  size_t found = count;
  for (size_t base = 0; base < count; base += chunk) {
    size_t size = count - base < chunk ? count - base : chunk;
    otp_window(lanes, hash, midstates, first + base, size, values);
    for (size_t i = 0; i < size; i++) {
      size_t mask = 0 - ((size_t)(remainder_of(values[i], by) == wanted) & (size_t)(found == count));
      found = ((base + i) & mask) | (found & ~mask);
    }
  }
  explicit_bzero(values, sizeof values);
  return found;
}

size_t otp_find_pair(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first,
                     size_t count, uint32_t modulus, uint32_t wanted, uint32_t next) {
  const struct divisor by = divisor(modulus);
  uint32_t values[chunk + 1];
  size_t found = count;
  for (size_t base = 0; base < count; base += chunk) {
    size_t size = count - base < chunk ? count - base : chunk;
    otp_window(lanes, hash, midstates, first + base, size + 1, values);
    for (size_t i = 0; i < size; i++) {
      uint32_t difference = (remainder_of(values[i], by) ^ wanted) | (remainder_of(values[i + 1], by) ^ next);
      size_t mask = 0 - ((size_t)(difference == 0) & (size_t)(found == count));
      found = ((base + i) & mask) | (found & ~mask);
    }
  }
  explicit_bzero(values, sizeof values);
  return found;
}

// A run of candidates of one query.
struct run_of_query {
  struct otp_query *query;
  uint32_t start, size;
};

// The candidates of several queries, side by side.
struct batch {
  uint32_t size, runs;
  uint32_t pairs[chunk], values[chunk];
  uint64_t counters[chunk];
  struct run_of_query queries[chunk];
};

static void append(struct batch *batch, struct otp_query *query, uint64_t offset, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) {
    batch->pairs[batch->size + i] = query->pair;
    batch->counters[batch->size + i] = query->first + offset + i;
  }
  batch->queries[batch->runs++] = (struct run_of_query){query, batch->size, size};
  batch->size += size;
}

static void answer(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, struct divisor by,
                   struct batch *batch) {
  otp_pairs(lanes, hash, midstates, batch->pairs, batch->counters, batch->size, batch->values);
  for (uint32_t r = 0; r < batch->runs; r++) {
    const struct run_of_query run = batch->queries[r];
    uint64_t found = run.query->found, match = run.query->match;
    for (uint32_t i = run.start; i < run.start + run.size; i++) {
      uint64_t isFirst = (uint64_t)(remainder_of(batch->values[i], by) == run.query->wanted) & ~found & 1;
      match = (batch->counters[i] & (0 - isFirst)) | (match & (isFirst - 1));
      found |= isFirst;
    }
    run.query->found = found, run.query->match = match;
  }
  batch->size = batch->runs = 0;
}

void otp_find_all(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, struct otp_query *queries,
                  size_t count, uint32_t modulus) {
  const struct divisor by = divisor(modulus);
  const size_t size = otp_midstates_size(hash);
  struct batch batch;
  batch.size = batch.runs = 0;
  for (size_t q = 0; q < count; q++) {
    // Midstates of many credentials are in no cache; they are asked for while the batch is filled.
    const char *pair = (const char *)midstates + queries[q].pair * size;
    __builtin_prefetch(pair), __builtin_prefetch(pair + size - 1);
    for (uint64_t offset = 0; offset < queries[q].count;) {
      uint64_t rest = queries[q].count - offset, room = chunk - batch.size;
      uint32_t taken = (uint32_t)(rest < room ? rest : room);
      append(&batch, &queries[q], offset, taken);
      offset += taken;
      if (batch.size == chunk) answer(lanes, hash, midstates, by, &batch);
    }
  }
  answer(lanes, hash, midstates, by, &batch);
  explicit_bzero(batch.values, sizeof batch.values);
}
