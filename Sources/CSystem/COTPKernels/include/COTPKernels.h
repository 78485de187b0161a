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

// Whether this processor can go this way with this hash.
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

// How many entries more than `count` the lists of otp_compare have, so that whole groups of lanes can be computed.
enum { otp_spare = 64 };

// equal[i] = 1 if the value of counters[i] under midstate pair pairs[i] is wanted[i] (modulo modulus), else 0.
// The spare entries are overwritten in `pairs` and `equal`, and read in the others.
void otp_compare(enum otp_lanes lanes, enum otp_hash hash, const void *midstates, uint32_t *pairs,
                 const uint64_t *counters, const uint32_t *wanted, size_t count, uint32_t modulus, uint32_t *equal);
