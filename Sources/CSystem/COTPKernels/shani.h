// SHA-1 and SHA-256 by the SHA extensions of x86-64: four independent streams side by side, so that the latency of
// an instruction is filled with those of the other streams.
#define SHANI __attribute__((target("sha,sse4.1,ssse3")))
#define SHANI_INLINE static inline __attribute__((always_inline)) SHANI
enum { streams = 4 };
#define EACH UNROLL for (int s = 0; s < streams; s++)

// The midstate pair and the counter of stream s.
#define PAIR(words) ((const uint32_t *)job->midstates + (job->pairs ? job->pairs[base + s] : 0) * (size_t)(words))
#define COUNTER (job->counters ? job->counters[base + s] : job->first + base + s)

// Keeps the streams in step: left alone, the compiler puts one stream after the other, which costs 70 %.
#define IN_STEP(x) __asm__("" : "+x"(x[0]), "+x"(x[1]), "+x"(x[2]), "+x"(x[3]))

// Four rounds of SHA-1 with the words a and one of the four functions; `words` prepares words of later rounds.
#define ROUNDS4(a, ex, ey, function, words)                    \
  EACH {                                                       \
    ex[s] = _mm_sha1nexte_epu32(ex[s], a[s]);                  \
    ey[s] = state[s];                                          \
    state[s] = _mm_sha1rnds4_epu32(state[s], ex[s], function); \
    words;                                                     \
  }

// The same where b is finished, c and d are begun.
#define ROUNDS4_WORDS(a, b, c, d, ex, ey, function)                                 \
  ROUNDS4(a, ex, ey, function,                                                      \
          (b[s] = _mm_sha1msg2_epu32(b[s], a[s]), d[s] = _mm_sha1msg1_epu32(d[s], a[s]), \
           c[s] = _mm_xor_si128(c[s], a[s])))                                       \
  IN_STEP(state);

// One block per stream.  The first word is the highest lane: `state` holds A B C D, `e` holds E and three zeros,
// m0 to m3 hold the 16 words of the block.
SHANI_INLINE void sha1_streams(__m128i *state, __m128i *e, __m128i *m0, __m128i *m1, __m128i *m2, __m128i *m3) {
  __m128i startState[streams], startE[streams], f[streams];
  EACH {
    startState[s] = state[s], startE[s] = e[s];
    e[s] = _mm_add_epi32(e[s], m0[s]);
    f[s] = state[s];
    state[s] = _mm_sha1rnds4_epu32(state[s], e[s], 0);
  }
  ROUNDS4(m1, f, e, 0, m0[s] = _mm_sha1msg1_epu32(m0[s], m1[s]))
  ROUNDS4(m2, e, f, 0, (m1[s] = _mm_sha1msg1_epu32(m1[s], m2[s]), m0[s] = _mm_xor_si128(m0[s], m2[s])))
  ROUNDS4_WORDS(m3, m0, m1, m2, f, e, 0)
  ROUNDS4_WORDS(m0, m1, m2, m3, e, f, 0)
  ROUNDS4_WORDS(m1, m2, m3, m0, f, e, 1)
  ROUNDS4_WORDS(m2, m3, m0, m1, e, f, 1)
  ROUNDS4_WORDS(m3, m0, m1, m2, f, e, 1)
  ROUNDS4_WORDS(m0, m1, m2, m3, e, f, 1)
  ROUNDS4_WORDS(m1, m2, m3, m0, f, e, 1)
  ROUNDS4_WORDS(m2, m3, m0, m1, e, f, 2)
  ROUNDS4_WORDS(m3, m0, m1, m2, f, e, 2)
  ROUNDS4_WORDS(m0, m1, m2, m3, e, f, 2)
  ROUNDS4_WORDS(m1, m2, m3, m0, f, e, 2)
  ROUNDS4_WORDS(m2, m3, m0, m1, e, f, 2)
  ROUNDS4_WORDS(m3, m0, m1, m2, f, e, 3)
  ROUNDS4_WORDS(m0, m1, m2, m3, e, f, 3)
  ROUNDS4(m1, f, e, 3, (m2[s] = _mm_sha1msg2_epu32(m2[s], m1[s]), m3[s] = _mm_xor_si128(m3[s], m1[s])))
  ROUNDS4(m2, e, f, 3, m3[s] = _mm_sha1msg2_epu32(m3[s], m2[s]))
  ROUNDS4(m3, f, e, 3, (void)0)
  EACH {
    e[s] = _mm_sha1nexte_epu32(e[s], startE[s]);
    state[s] = _mm_add_epi32(state[s], startState[s]);
  }
}

// The 31 bits at byte (last & 15) of a hash value that begins with the words of `first`, the first one in the
// highest lane, and then `next`.
SHANI_INLINE uint32_t truncate_words(__m128i first, uint32_t next, uint32_t last) {
  uint64_t h0 = (uint64_t)_mm_extract_epi64(first, 1), h1 = (uint64_t)_mm_extract_epi64(first, 0);
  uint64_t h2 = (uint64_t)next << 32, mask = 0 - (uint64_t)(last >> 3 & 1);
  uint64_t high = (h1 & mask) | (h0 & ~mask), low = (h2 & mask) | (h1 & ~mask);
  uint32_t shift = (last & 7) * 8;
  return (uint32_t)((high << shift | low >> 1 >> (63 - shift)) >> 32) & 0x7fffffff;
}

static __attribute__((noinline)) SHANI void run_sha1_shani(RUN_ARGUMENTS) {
  __m128i inner[streams], innerE[streams], outer[streams], outerE[streams];
  __m128i state[streams], e[streams], m0[streams], m1[streams], m2[streams], m3[streams];
  for (size_t base = from; base < to; base += streams) {
    if (base == from || job->pairs) EACH {
      const uint32_t *pair = PAIR(10);
      inner[s] = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)pair), 0x1b);
      innerE[s] = _mm_set_epi32((int)pair[4], 0, 0, 0);
      outer[s] = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(pair + 5)), 0x1b);
      outerE[s] = _mm_set_epi32((int)pair[9], 0, 0, 0);
    }
    EACH {
      state[s] = inner[s], e[s] = innerE[s];
      m0[s] = _mm_set_epi64x((long long)COUNTER, (long long)(1ull << 63));
      m1[s] = m2[s] = _mm_setzero_si128();
      m3[s] = _mm_set_epi32(0, 0, 0, (64 + 8) * 8);
    }
    sha1_streams(state, e, m0, m1, m2, m3);
    EACH {
      m0[s] = state[s];
      m1[s] = _mm_or_si128(e[s], _mm_set_epi32(0, (int)0x80000000, 0, 0));
      m2[s] = _mm_setzero_si128();
      m3[s] = _mm_set_epi32(0, 0, 0, (64 + 20) * 8);
      state[s] = outer[s], e[s] = outerE[s];
    }
    sha1_streams(state, e, m0, m1, m2, m3);
    EACH {
      uint32_t last = (uint32_t)_mm_extract_epi32(e[s], 3);
      values[base + s] = truncate_words(state[s], last, last);
    }
  }
}

// One block per stream.  Here the first word is the lowest lane; the state is kept as A B E F and C D G H.
SHANI_INLINE void sha256_streams(__m128i *abef, __m128i *cdgh, __m128i m[4][streams]) {
  __m128i startAbef[streams], startCdgh[streams];
  EACH startAbef[s] = abef[s], startCdgh[s] = cdgh[s];
  UNROLL
  for (int g = 0; g < 16; g++) {
    const __m128i k = _mm_loadu_si128((const __m128i *)(k256 + 4 * g));
    EACH {
      __m128i words = _mm_add_epi32(m[g & 3][s], k);
      cdgh[s] = _mm_sha256rnds2_epu32(cdgh[s], abef[s], words);
      abef[s] = _mm_sha256rnds2_epu32(abef[s], cdgh[s], _mm_shuffle_epi32(words, 0x0e));
    }
    IN_STEP(abef);
    if (g < 3 || g == 15) continue;
    EACH {
      __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(m[(g + 1) & 3][s], m[(g + 2) & 3][s]),
                                  _mm_alignr_epi8(m[g & 3][s], m[(g + 3) & 3][s], 4));
      m[(g + 1) & 3][s] = _mm_sha256msg2_epu32(sum, m[g & 3][s]);
    }
  }
  EACH abef[s] = _mm_add_epi32(abef[s], startAbef[s]), cdgh[s] = _mm_add_epi32(cdgh[s], startCdgh[s]);
}

SHANI_INLINE void load_state256(const uint32_t *from, __m128i *abef, __m128i *cdgh) {
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)from), 0xb1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(from + 4)), 0x1b);
  *abef = _mm_alignr_epi8(low, high, 8);
  *cdgh = _mm_blend_epi16(high, low, 0xf0);
}

SHANI_INLINE void words_of_state256(__m128i abef, __m128i cdgh, __m128i *first, __m128i *second) {
  __m128i low = _mm_shuffle_epi32(abef, 0x1b), high = _mm_shuffle_epi32(cdgh, 0xb1);
  *first = _mm_blend_epi16(low, high, 0xf0);
  *second = _mm_alignr_epi8(high, low, 8);
}

static __attribute__((noinline)) SHANI void run_sha256_shani(RUN_ARGUMENTS) {
  __m128i innerAbef[streams], innerCdgh[streams], outerAbef[streams], outerCdgh[streams];
  __m128i abef[streams], cdgh[streams], m[4][streams];
  for (size_t base = from; base < to; base += streams) {
    if (base == from || job->pairs) EACH {
      const uint32_t *pair = PAIR(16);
      load_state256(pair, &innerAbef[s], &innerCdgh[s]);
      load_state256(pair + 8, &outerAbef[s], &outerCdgh[s]);
    }
    EACH {
      uint64_t counter = COUNTER;
      abef[s] = innerAbef[s], cdgh[s] = innerCdgh[s];
      m[0][s] = _mm_set_epi32(0, (int)0x80000000, (int)(uint32_t)counter, (int)(uint32_t)(counter >> 32));
      m[1][s] = m[2][s] = _mm_setzero_si128();
      m[3][s] = _mm_set_epi32((64 + 8) * 8, 0, 0, 0);
    }
    sha256_streams(abef, cdgh, m);
    EACH {
      words_of_state256(abef[s], cdgh[s], &m[0][s], &m[1][s]);
      m[2][s] = _mm_set_epi32(0, 0, 0, (int)0x80000000);
      m[3][s] = _mm_set_epi32((64 + 32) * 8, 0, 0, 0);
      abef[s] = outerAbef[s], cdgh[s] = outerCdgh[s];
    }
    sha256_streams(abef, cdgh, m);
    EACH {
      words_of_state256(abef[s], cdgh[s], &m[0][s], &m[1][s]);
      uint32_t next = (uint32_t)_mm_extract_epi32(m[1][s], 0), last = (uint32_t)_mm_extract_epi32(m[1][s], 3);
      values[base + s] = truncate_words(_mm_shuffle_epi32(m[0][s], 0x1b), next, last);
    }
  }
}

#undef EACH
#undef PAIR
#undef COUNTER
#undef IN_STEP
#undef ROUNDS4
#undef ROUNDS4_WORDS
