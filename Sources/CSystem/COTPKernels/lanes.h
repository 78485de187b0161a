// The lanes of one vector width, included once per width.  The includer defines
//   SUFFIX  the name of the width,  TARGET  the attribute that allows its instructions,  WIDTH  its bytes.
// Vectors are those of the compiler (Clang's vector extension), so the portable width is plain C.
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME(a) PASTE(a, SUFFIX)
#define W32 NAME(w32)
#define W64 NAME(w64)
#define INLINE static inline __attribute__((always_inline)) TARGET
#define LANES (WIDTH / 4)
typedef uint32_t W32 __attribute__((vector_size(WIDTH)));
typedef uint64_t W64 __attribute__((vector_size(WIDTH)));
typedef int32_t NAME(s32) __attribute__((vector_size(WIDTH)));
typedef uint32_t NAME(half) __attribute__((vector_size(WIDTH / 2)));

#if WIDTH == 16
#define LIST LIST1
#define JOINED JOINED1
#elif WIDTH == 32
#define LIST LIST2
#define JOINED JOINED2
#else
#define LIST LIST4
#define JOINED JOINED4
#endif
#define QUARTERS (WIDTH / 16)
// The same four words of two vectors, in each quarter.
#define SHUFFLED(x, y, a, b, c, d) __builtin_shufflevector(x, y, LIST(a, b, c, d, 0, 4))
#define EVEN(x, y) __builtin_shufflevector(x, y, LIST(0, 2, 4, 6, 0, 8))
#define ODD(x, y) __builtin_shufflevector(x, y, LIST(1, 3, 5, 7, 0, 8))

// Keeps a sum together: the compiler would add in another order, with three additions after the round before instead
// of one.
INLINE W32 NAME(sum)(W32 x) {
#if defined(__x86_64__) && WIDTH < 64
  __asm__("" : "+x"(x));
#elif defined(__x86_64__) && WIDTH == 64
  __asm__("" : "+v"(x));
#endif
  return x;
}

// SHA-1 (FIPS 180-4, 6.1.2)
INLINE void NAME(sha1)(W32 s[5], W32 w[16]) {
  W32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];
  UNROLL
  for (int t = 0; t < 80; t++) {
    if (t >= 16) {
      W32 x = w[(t - 3) & 15] ^ w[(t - 8) & 15] ^ w[(t - 14) & 15] ^ w[t & 15];
      w[t & 15] = ROL32(x, 1);
    }
    W32 f = t < 20 ? d ^ (b & (c ^ d)) : t >= 40 && t < 60 ? (b & c) | (d & (b | c)) : b ^ c ^ d;
    uint32_t k = t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
    W32 x = ROL32(a, 5) + NAME(sum)(f + NAME(sum)(e + (w[t & 15] + k)));
    e = d, d = c, c = ROL32(b, 30), b = a, a = x;
  }
  s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e;
}

// SHA-256 (FIPS 180-4, 6.2.2)
INLINE void NAME(sha256)(W32 s[8], W32 w[16]) {
  W32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  UNROLL
  for (int t = 0; t < 64; t++) {
    if (t >= 16) {
      W32 x = w[(t - 15) & 15], y = w[(t - 2) & 15];
      w[t & 15] += w[(t - 7) & 15] + (ROR32(x, 7) ^ ROR32(x, 18) ^ (x >> 3)) +
                   (ROR32(y, 17) ^ ROR32(y, 19) ^ (y >> 10));
    }
    W32 x = h + (ROR32(e, 6) ^ ROR32(e, 11) ^ ROR32(e, 25)) + (g ^ (e & (f ^ g))) + k256[t] + w[t & 15];
    W32 y = (ROR32(a, 2) ^ ROR32(a, 13) ^ ROR32(a, 22)) + ((a & b) | (c & (a | b)));
    h = g, g = f, f = e, e = d + x, d = c, c = b, b = a, a = x + y;
  }
  s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

// SHA-512 (FIPS 180-4, 6.4.2)
INLINE void NAME(sha512)(W64 s[8], W64 w[16]) {
  W64 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  UNROLL
  for (int t = 0; t < 80; t++) {
    if (t >= 16) {
      W64 x = w[(t - 15) & 15], y = w[(t - 2) & 15];
      w[t & 15] += w[(t - 7) & 15] + (ROR64(x, 1) ^ ROR64(x, 8) ^ (x >> 7)) +
                   (ROR64(y, 19) ^ ROR64(y, 61) ^ (y >> 6));
    }
    W64 x = h + (ROR64(e, 14) ^ ROR64(e, 18) ^ ROR64(e, 41)) + (g ^ (e & (f ^ g))) + k512[t] + w[t & 15];
    W64 y = (ROR64(a, 28) ^ ROR64(a, 34) ^ ROR64(a, 39)) + ((a & b) | (c & (a | b)));
    h = g, g = f, f = e, e = d + x, d = c, c = b, b = a, a = x + y;
  }
  s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

// The 31 bits at byte (last & 15) of the hash value whose first words are h.
INLINE W32 NAME(truncate32)(const W32 h[5], W32 last) {
  W32 word = (last & 15) >> 2, shift = (last & 3) << 3, high = {0}, low = {0};
  UNROLL
  for (uint32_t i = 0; i < 4; i++) {
    W32 mask = (W32)(word == i);
    high |= h[i] & mask, low |= h[i + 1] & mask;
  }
  return (high << shift | low >> 1 >> (31 - shift)) & 0x7fffffffu;
}

INLINE W64 NAME(truncate64)(const W64 h[3], W64 last) {
  W64 mask = (W64)((last & 8) == 0), shift = (last & 7) << 3;
  W64 high = (h[0] & mask) | (h[1] & ~mask), low = (h[1] & mask) | (h[2] & ~mask);
  return (high << shift | low >> 1 >> (63 - shift)) >> 32 & 0x7fffffffu;
}

// The chaining words of a group of lanes: lane l of words[i] is word i of the lane's midstate pair.
//
// Listed pairs are read in quarters of 512 bits, which are four words of one pair (two under 64-bit words), and
// transposed.  The last quarter may overlap the one before.
typedef uint32_t NAME(quarter) __attribute__((vector_size(16)));

INLINE W32 NAME(row)(const struct job *job, size_t base, size_t step, size_t size, size_t offset) {
  NAME(quarter) q[QUARTERS];
  UNROLL
  for (size_t i = 0; i < QUARTERS; i++) {
    const char *pair = (const char *)job->midstates + job->pairs[base + i * step] * size;
    __builtin_memcpy(&q[i], pair + offset, sizeof q[i]);
  }
  return JOINED(q);
}

INLINE void NAME(load32)(const struct job *job, size_t base, int count, W32 *words) {
  const uint32_t *first = job->midstates;
  UNROLL
  for (int i = 0; i < count; i += 4) {
    int start = i + 4 <= count ? i : count - 4;
    if (job->pairs) {
      W32 r[4];
      UNROLL
      for (size_t j = 0; j < 4; j++) {
        r[j] = NAME(row)(job, base + j, 4, (size_t)count * 4, (size_t)start * 4);
      }
      W32 low01 = SHUFFLED(r[0], r[1], 0, LANES, 1, LANES + 1);
      W32 low23 = SHUFFLED(r[2], r[3], 0, LANES, 1, LANES + 1);
      W32 high01 = SHUFFLED(r[0], r[1], 2, LANES + 2, 3, LANES + 3);
      W32 high23 = SHUFFLED(r[2], r[3], 2, LANES + 2, 3, LANES + 3);
      words[start] = SHUFFLED(low01, low23, 0, 1, LANES, LANES + 1);
      words[start + 1] = SHUFFLED(low01, low23, 2, 3, LANES + 2, LANES + 3);
      words[start + 2] = SHUFFLED(high01, high23, 0, 1, LANES, LANES + 1);
      words[start + 3] = SHUFFLED(high01, high23, 2, 3, LANES + 2, LANES + 3);
    } else {
      UNROLL
      for (int j = start; j < start + 4; j++) words[j] = (W32){0} + first[j];
    }
  }
}

INLINE void NAME(load64)(const struct job *job, size_t base, int count, W64 *words) {
  const uint64_t *first = job->midstates;
  UNROLL
  for (int i = 0; i < count; i += 2) {
    if (job->pairs) {
      W32 r0 = NAME(row)(job, base, 2, (size_t)count * 8, (size_t)i * 8);
      W32 r1 = NAME(row)(job, base + 1, 2, (size_t)count * 8, (size_t)i * 8);
      words[i] = (W64)SHUFFLED(r0, r1, 0, 1, LANES, LANES + 1);
      words[i + 1] = (W64)SHUFFLED(r0, r1, 2, 3, LANES + 2, LANES + 3);
    } else {
      words[i] = (W64){0} + first[i], words[i + 1] = (W64){0} + first[i + 1];
    }
  }
}

// As many counters as a vector has 64-bit lanes.
INLINE W64 NAME(counters64)(const struct job *job, size_t base) {
  W64 counters = {0};
  if (job->counters) {
    __builtin_memcpy(&counters, job->counters + base, sizeof counters);
  } else {
    UNROLL
    for (size_t l = 0; l < LANES / 2; l++) counters[l] = l;
    counters += job->first + base;
  }
  return counters;
}

// The block of a counter under 32-bit words: two words, and the length of key block and counter in bits.
INLINE void NAME(counters32)(const struct job *job, size_t base, W32 w[16]) {
  W32 low = (W32)NAME(counters64)(job, base), high = (W32)NAME(counters64)(job, base + LANES / 2);
  w[0] = ODD(low, high), w[1] = EVEN(low, high), w[2] = (W32){0} + 0x80000000u;
  UNROLL
  for (int i = 3; i < 15; i++) w[i] = (W32){0};
  w[15] = (W32){0} + (64 + 8) * 8;
}

// The block of an inner hash value of `count` words, which are moved there, and the outer chaining words.
INLINE void NAME(outer32)(W32 *s, const W32 *outer, int count, W32 w[16]) {
  UNROLL
  for (int i = 0; i < 15; i++) w[i] = i < count ? s[i] : (W32){0};
  w[count] = (W32){0} + 0x80000000u, w[15] = (W32){0} + (uint32_t)(64 + 4 * count) * 8;
  UNROLL
  for (int i = 0; i < count; i++) s[i] = outer[i];
}

static __attribute__((noinline)) TARGET void NAME(run_sha1)(RUN_ARGUMENTS) {
  W32 keyed[10], s[5], w[16];
  for (size_t base = from; base < to; base += LANES) {
    if (base == from || job->pairs) NAME(load32)(job, base, 10, keyed);
    UNROLL
    for (int i = 0; i < 5; i++) s[i] = keyed[i];
    NAME(counters32)(job, base, w);
    NAME(sha1)(s, w);
    NAME(outer32)(s, keyed + 5, 5, w);
    NAME(sha1)(s, w);
    W32 results = NAME(truncate32)(s, s[4]);
    __builtin_memcpy(values + base, &results, sizeof results);
  }
}

static __attribute__((noinline)) TARGET void NAME(run_sha256)(RUN_ARGUMENTS) {
  W32 keyed[16], s[8], w[16];
  for (size_t base = from; base < to; base += LANES) {
    if (base == from || job->pairs) NAME(load32)(job, base, 16, keyed);
    UNROLL
    for (int i = 0; i < 8; i++) s[i] = keyed[i];
    NAME(counters32)(job, base, w);
    NAME(sha256)(s, w);
    NAME(outer32)(s, keyed + 8, 8, w);
    NAME(sha256)(s, w);
    W32 results = NAME(truncate32)(s, s[7]);
    __builtin_memcpy(values + base, &results, sizeof results);
  }
}

static __attribute__((noinline)) TARGET void NAME(run_sha512)(RUN_ARGUMENTS) {
  W64 keyed[16], s[8], w[16];
  for (size_t base = from; base < to; base += LANES / 2) {
    if (base == from || job->pairs) NAME(load64)(job, base, 16, keyed);
    UNROLL
    for (int i = 0; i < 8; i++) s[i] = keyed[i];
    w[0] = NAME(counters64)(job, base), w[1] = (W64){0} + (1ull << 63);
    UNROLL
    for (int i = 2; i < 15; i++) w[i] = (W64){0};
    w[15] = (W64){0} + (128 + 8) * 8;
    NAME(sha512)(s, w);
    UNROLL
    for (int i = 0; i < 8; i++) w[i] = s[i], s[i] = keyed[8 + i];
    w[8] = (W64){0} + (1ull << 63);
    UNROLL
    for (int i = 9; i < 15; i++) w[i] = (W64){0};
    w[15] = (W64){0} + (128 + 64) * 8;
    NAME(sha512)(s, w);
    NAME(half) results = __builtin_convertvector(NAME(truncate64)(s, s[7]), NAME(half));
    __builtin_memcpy(values + base, &results, sizeof results);
  }
}

// Not for 512 bits: multiplications of that width lower the clock, by 6 % here, and not only while they run.
#if WIDTH < 64
// Values modulo `by.modulus`.
INLINE W32 NAME(remainders)(W32 values, struct divisor by) {
  W64 even = (W64)values & 0xffffffff, odd = (W64)values >> 32;
  even -= (even * by.factor >> 32 >> by.shift) * by.modulus;
  odd -= (odd * by.factor >> 32 >> by.shift) * by.modulus;
  return (W32)(even | odd << 32);
}

// The first i below `count` with the values i and, if asked for, i + 1 wanted; otherwise a number from `count` on.
// Values are read up to the next whole vector, and one more.
static __attribute__((noinline)) TARGET uint32_t NAME(first)(FIRST_ARGUMENTS) {
  W32 index, first = (W32){0} + none;
  UNROLL
  for (uint32_t l = 0; l < LANES; l++) index[l] = l;
  for (uint32_t base = 0; base < count; base += LANES, index += LANES) {
    W32 here, after;
    __builtin_memcpy(&here, values + base, sizeof here);
    W32 differs = NAME(remainders)(here, by) ^ wanted[0];
    if (words == 2) {
      __builtin_memcpy(&after, values + base + 1, sizeof after);
      differs |= NAME(remainders)(after, by) ^ wanted[1];
    }
    W32 found = index | ((W32)(differs != 0) & none);
    first = (W32)__builtin_elementwise_min((NAME(s32))first, (NAME(s32))found);
  }
  return (uint32_t)__builtin_reduce_min((NAME(s32))first);
}

// Bit i is set for a value i that is wanted[i] modulo `by.modulus`, up to the next whole vector.
static __attribute__((noinline)) TARGET uint32_t NAME(equal)(EQUAL_ARGUMENTS) {
  W32 found = {0}, bit;
  UNROLL
  for (uint32_t l = 0; l < LANES; l++) bit[l] = 1u << l;
  for (size_t base = 0; base < count; base += LANES, bit <<= LANES) {
    W32 here, want;
    __builtin_memcpy(&here, values + base, sizeof here), __builtin_memcpy(&want, wanted + base, sizeof want);
    found |= (W32)(NAME(remainders)(here, by) == want) & bit;
  }
  return __builtin_reduce_or(found);
}
#endif

#undef ODD
#undef EVEN
#undef SHUFFLED
#undef QUARTERS
#undef JOINED
#undef LIST
#undef LANES
#undef INLINE
#undef W64
#undef W32
#undef NAME
#undef PASTE
#undef PASTE2
#undef WIDTH
#undef TARGET
#undef SUFFIX
