// What one group of 16 lanes of AVX-512 does when the midstates of 16 keys are already transposed in memory and nothing
// is wiped. Hand-written intrinsics, for comparison only, not a floor: two groups in parallel are faster.
#include "support.h"
#if defined(__x86_64__)
#include <immintrin.h>
#include <openssl/sha.h>
#define WIDE static inline __attribute__((always_inline, target("avx512f")))
#define SET(x) _mm512_set1_epi32((int)(x))
#define ADD _mm512_add_epi32

WIDE void compress16(__m512i *s, __m512i *w) {
  __m512i a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];
#pragma clang loop unroll(full)
  for (int t = 0; t < 80; t++) {
    if (t >= 16) w[t & 15] = _mm512_rol_epi32(_mm512_xor_si512(_mm512_ternarylogic_epi32(w[(t - 3) & 15], w[(t - 8) & 15], w[(t - 14) & 15], 0x96), w[t & 15]), 1);
    __m512i f = t < 20 ? ADD(_mm512_ternarylogic_epi32(b, c, d, 0xca), SET(0x5a827999))
              : t < 40 ? ADD(_mm512_ternarylogic_epi32(b, c, d, 0x96), SET(0x6ed9eba1))
              : t < 60 ? ADD(_mm512_ternarylogic_epi32(b, c, d, 0xe8), SET(0x8f1bbcdc))
                       : ADD(_mm512_ternarylogic_epi32(b, c, d, 0x96), SET(0xca62c1d6));
    __m512i x = ADD(ADD(_mm512_rol_epi32(a, 5), f), ADD(e, w[t & 15]));
    e = d; d = c; c = _mm512_rol_epi32(b, 30); b = a; a = x;
  }
  s[0] = ADD(s[0], a); s[1] = ADD(s[1], b); s[2] = ADD(s[2], c); s[3] = ADD(s[3], d); s[4] = ADD(s[4], e);
}
typedef struct { __m512i in[5], out[5]; } group;
WIDE void codes16(const group *g, __m512i high, __m512i low, uint32_t *values) {
  __m512i s[5], w[16], zero = _mm512_setzero_si512();
  for (int i = 0; i < 5; i++) s[i] = g->in[i];
  w[0] = high; w[1] = low; w[2] = SET(0x80000000);
  for (int i = 3; i < 15; i++) w[i] = zero;
  w[15] = SET(72 * 8);
  compress16(s, w);
  for (int i = 0; i < 5; i++) w[i] = s[i];
  w[5] = SET(0x80000000);
  for (int i = 6; i < 15; i++) w[i] = zero;
  w[15] = SET(84 * 8);
  for (int i = 0; i < 5; i++) s[i] = g->out[i];
  compress16(s, w);
  __m512i offset = _mm512_and_si512(s[4], SET(15)), word = _mm512_srli_epi32(offset, 2), shift = _mm512_slli_epi32(_mm512_and_si512(offset, SET(3)), 3);
  __m512i hi = s[0], lo = s[1];
  for (int i = 1; i < 4; i++) {
    __mmask16 m = _mm512_cmpeq_epi32_mask(word, SET(i));
    hi = _mm512_mask_mov_epi32(hi, m, s[i]);
    lo = _mm512_mask_mov_epi32(lo, m, s[i + 1]);
  }
  __m512i v = _mm512_or_si512(_mm512_sllv_epi32(hi, shift), _mm512_srlv_epi32(lo, _mm512_sub_epi32(SET(32), shift)));
  _mm512_storeu_si512(values, _mm512_and_si512(v, SET(0x7fffffff)));
}
static __attribute__((target("avx512f"))) void run_lanes(peer *p, long n) {
  static uint64_t counter;
  const group *groups = p->context;
  uint32_t values[16];
  for (long i = 0; i < n; i++) {
    long hit = -1;
    for (size_t j = 0; j < p->a; j += 16) {
      __m512i low = _mm512_add_epi32(SET(counter += 16), _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
      codes16(&groups[p->b ? j / 16 : 0], _mm512_setzero_si512(), low, values);
      for (int l = 0; l < 16; l++) if (values[l] % 1000000 == 0) hit = j + l;
    }
    peer_sink += hit;
  }
}
static void midstate(const unsigned char *key, unsigned char pad, uint32_t out[5]) {
  unsigned char block[64];
  SHA_CTX c;
  memset(block, pad, 64);
  for (int i = 0; i < 20; i++) block[i] ^= key[i];
  SHA1_Init(&c);
  SHA1_Update(&c, block, 64);
  memcpy(out, &c, 20);
}
static __attribute__((target("avx512f"))) peer *lanes_new(const char *name, size_t width, int many) {
  if (!__builtin_cpu_supports("avx512f")) return NULL;
  size_t count = many ? width / 16 : 1;
  group *groups = aligned_alloc(64, count * sizeof *groups);
  must(groups);
  for (size_t g = 0; g < count; g++)
    for (int l = 0; l < 16; l++) {
      unsigned char key[20] = "12345678901234567890";
      uint32_t in[5], out[5];
      if (many) { uint32_t number = g * 16 + l; memcpy(key, &number, 4); }
      midstate(key, 0x36, in);
      midstate(key, 0x5c, out);
      for (int i = 0; i < 5; i++) { ((uint32_t *)&groups[g].in[i])[l] = in[i]; ((uint32_t *)&groups[g].out[i])[l] = out[i]; }
    }
  if (!many) {
    uint32_t values[16];
    codes16(groups, _mm512_setzero_si512(), SET(1), values);
    must(values[3] % 1000000 == 287082); // RFC 4226, appendix D
  }
  return peer_new(name, run_lanes, groups, width, many);
}
peer *peer_lanes_window(size_t width) { return lanes_new("16 lanes by hand", width, 0); }
peer *peer_lanes_bulk(size_t credentials) { return lanes_new("16 lanes by hand, transposed", credentials, 1); }
#else
peer *peer_lanes_window(size_t width) { (void)width; return NULL; }
peer *peer_lanes_bulk(size_t credentials) { (void)credentials; return NULL; }
#endif
