// One-time codes for many counters at once: HMAC over 8 bytes from keyed midstates, and dynamic truncation
// (RFC 4226 5.2, 5.3; RFC 6238 1.2).  Several codes are made side by side in the lanes of vector registers, on
// the widest unit that the processor has.  Nothing here encrypts, and nothing hashes anything but counters.
//
// Every candidate is computed and compared, wherever the match is.  What is left on the stack is overwritten.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum otp_hash { otp_sha1 = 0, otp_sha256 = 1, otp_sha512 = 2 };

// Ways to compute the same values.
enum otp_lanes { otp_portable = 0, otp_shani = 1, otp_avx2 = 2, otp_avx512 = 3 };

// Whether this processor supports this way for this hash.
int otp_lanes_supported(enum otp_lanes lanes, enum otp_hash hash);

// A midstate pair: the chaining words after the inner and after the outer key block, in native order; 40, 64 or
// 128 bytes, aligned to 8.  `midstates` below is one pair or several in a row.
size_t otp_midstates_size(enum otp_hash hash);

// values[i] = the 31 bits of counter first + i (modulo 2^64).
void otp_window(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first, size_t count,
                uint32_t *values);

// The first i with the value of counter first + i = wanted (modulo modulus, 2 or more), else count.
size_t otp_find(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first, size_t count,
                uint32_t modulus, uint32_t wanted);

// The first i with that, and with the value of the counter after it = next, else count.
size_t otp_find_pair(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint64_t first,
                     size_t count, uint32_t modulus, uint32_t wanted, uint32_t next);

// What is computed and compared at once, in whole groups of lanes whatever their width: is the value of counters[i] under
// midstate pair pairs[i] wanted[i]?  All pairs are valid, also those of unused entries.
enum { otp_lot_size = 32 };
struct otp_lot {
  uint64_t counters[otp_lot_size];
  uint32_t pairs[otp_lot_size], wanted[otp_lot_size], tags[otp_lot_size];  // what the caller knows i by
};

static inline void otp_put(struct otp_lot *lot, size_t i, uint32_t pair, uint64_t counter, uint32_t wanted,
                           uint32_t tag) {
  lot->counters[i] = counter, lot->pairs[i] = pair, lot->wanted[i] = wanted, lot->tags[i] = tag;
}

static inline uint64_t otp_counter(const struct otp_lot *lot, size_t i) { return lot->counters[i]; }
static inline uint32_t otp_tag(const struct otp_lot *lot, size_t i) { return lot->tags[i]; }

// Asks for a midstate pair before it is needed: those of many credentials are in no cache.
static inline void otp_prefetch(const void *midstates, size_t pair, size_t bytes) {
  const char *start = (const char *)midstates + pair * bytes;
  __builtin_prefetch(start), __builtin_prefetch(start + bytes - 1);
}

// Bit i is set if the answer is yes (modulo modulus), for i below `count`.  What is left on the stack stays there until
// otp_wipe.
uint32_t otp_compare(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, const struct otp_lot *lot,
                     size_t count, uint32_t modulus);

// Overwrites what otp_compare has left, when the same function calls it.
void otp_wipe(enum otp_lanes lanes);
