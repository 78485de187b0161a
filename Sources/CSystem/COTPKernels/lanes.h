// The lanes of one vector width, included once per width.  The includer defines
//   SUFFIX  the name of the width,  TARGET  the attribute that allows its instructions,  WIDTH  its bytes.
// Vectors are those of the compiler (GCC's and Clang's vector extension), so the portable width is plain C.
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME(a) PASTE(a, SUFFIX)
#define W32 NAME(w32)
#define W64 NAME(w64)
#define INLINE static inline __attribute__((always_inline)) TARGET
enum { NAME(lanes32) = WIDTH / 4, NAME(lanes64) = WIDTH / 8 };
typedef uint32_t W32 __attribute__((vector_size(WIDTH)));
typedef uint64_t W64 __attribute__((vector_size(WIDTH)));

// SHA-1 (FIPS 180-4, 6.1.2)
INLINE void NAME(sha1)(W32 s[5], W32 w[16]) {
  W32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];
  UNROLL
  for (int t = 0; t < 80; t++) {
    if (t >= 16) {
      W32 x = w[(t - 3) & 15] ^ w[(t - 8) & 15] ^ w[(t - 14) & 15] ^ w[t & 15];
      w[t & 15] = ROL32(x, 1);
    }
    W32 f = t < 20   ? (d ^ (b & (c ^ d))) + 0x5a827999u
            : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
            : t < 60 ? ((b & c) | (d & (b | c))) + 0x8f1bbcdcu
                     : (b ^ c ^ d) + 0xca62c1d6u;
    W32 x = ROL32(a, 5) + f + (e + w[t & 15]);
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
INLINE void NAME(load32)(const struct job *job, size_t base, int count, W32 *words) {
  UNROLL
  for (size_t l = 0; l < NAME(lanes32); l++) {
    const uint32_t *from = (const uint32_t *)job->midstates + pair_of(job, base + l) * count;
    UNROLL
    for (int i = 0; i < count; i++) words[i][l] = from[i];
  }
}

INLINE void NAME(load64)(const struct job *job, size_t base, int count, W64 *words) {
  UNROLL
  for (size_t l = 0; l < NAME(lanes64); l++) {
    const uint64_t *from = (const uint64_t *)job->midstates + pair_of(job, base + l) * count;
    UNROLL
    for (int i = 0; i < count; i++) words[i][l] = from[i];
  }
}

// The block of a counter under 32-bit words: two words, and the length of key block and counter in bits.
INLINE void NAME(counters32)(const struct job *job, size_t base, W32 w[16]) {
  UNROLL
  for (int i = 3; i < 15; i++) w[i] = (W32){0};
  UNROLL
  for (size_t l = 0; l < NAME(lanes32); l++) {
    uint64_t counter = counter_of(job, base + l);
    w[0][l] = (uint32_t)(counter >> 32), w[1][l] = (uint32_t)counter;
  }
  w[2] = (W32){0} + 0x80000000u, w[15] = (W32){0} + (64 + 8) * 8;
}

// The block of an inner hash value of `count` words, which are moved there, and the outer chaining words.
INLINE void NAME(outer32)(W32 *s, const W32 *outer, int count, W32 w[16]) {
  UNROLL
  for (int i = 0; i < 15; i++) w[i] = i < count ? s[i] : (W32){0};
  w[count] = (W32){0} + 0x80000000u, w[15] = (W32){0} + (uint32_t)(64 + 4 * count) * 8;
  UNROLL
  for (int i = 0; i < count; i++) s[i] = outer[i];
}

INLINE void NAME(store32)(const struct job *job, size_t base, W32 results, uint32_t *values) {
  UNROLL
  for (size_t l = 0; l < NAME(lanes32) && base + l < job->count; l++) values[base + l] = results[l];
}

static __attribute__((noinline)) TARGET void NAME(run_sha1)(const struct job *job, uint32_t *values) {
  W32 keyed[10], s[5], w[16];
  for (size_t base = 0; base < job->count; base += NAME(lanes32)) {
    if (base == 0 || job->pairs) NAME(load32)(job, base, 10, keyed);
    UNROLL
    for (int i = 0; i < 5; i++) s[i] = keyed[i];
    NAME(counters32)(job, base, w);
    NAME(sha1)(s, w);
    NAME(outer32)(s, keyed + 5, 5, w);
    NAME(sha1)(s, w);
    NAME(store32)(job, base, NAME(truncate32)(s, s[4]), values);
  }
}

static __attribute__((noinline)) TARGET void NAME(run_sha256)(const struct job *job, uint32_t *values) {
  W32 keyed[16], s[8], w[16];
  for (size_t base = 0; base < job->count; base += NAME(lanes32)) {
    if (base == 0 || job->pairs) NAME(load32)(job, base, 16, keyed);
    UNROLL
    for (int i = 0; i < 8; i++) s[i] = keyed[i];
    NAME(counters32)(job, base, w);
    NAME(sha256)(s, w);
    NAME(outer32)(s, keyed + 8, 8, w);
    NAME(sha256)(s, w);
    NAME(store32)(job, base, NAME(truncate32)(s, s[7]), values);
  }
}

static __attribute__((noinline)) TARGET void NAME(run_sha512)(const struct job *job, uint32_t *values) {
  W64 keyed[16], s[8], w[16];
  for (size_t base = 0; base < job->count; base += NAME(lanes64)) {
    if (base == 0 || job->pairs) NAME(load64)(job, base, 16, keyed);
    UNROLL
    for (int i = 0; i < 8; i++) s[i] = keyed[i];
    UNROLL
    for (int i = 2; i < 15; i++) w[i] = (W64){0};
    UNROLL
  for (size_t l = 0; l < NAME(lanes64); l++) w[0][l] = counter_of(job, base + l);
    w[1] = (W64){0} + (1ull << 63), w[15] = (W64){0} + (128 + 8) * 8;
    NAME(sha512)(s, w);
    UNROLL
    for (int i = 0; i < 8; i++) w[i] = s[i], s[i] = keyed[8 + i];
    UNROLL
    for (int i = 9; i < 15; i++) w[i] = (W64){0};
    w[8] = (W64){0} + (1ull << 63), w[15] = (W64){0} + (128 + 64) * 8;
    NAME(sha512)(s, w);
    W64 results = NAME(truncate64)(s, s[7]);
    UNROLL
  for (size_t l = 0; l < NAME(lanes64) && base + l < job->count; l++) values[base + l] = (uint32_t)results[l];
  }
}

#undef INLINE
#undef W64
#undef W32
#undef NAME
#undef PASTE
#undef PASTE2
#undef WIDTH
#undef TARGET
#undef SUFFIX
