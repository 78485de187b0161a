#include "support.h"
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/sha.h>

static const char KEY[] = "12345678901234567890";
static uint64_t counter;

static inline void be64(unsigned char *p, uint64_t v) { v = __builtin_bswap64(v); memcpy(p, &v, 8); }
static inline uint32_t truncated(const unsigned char *h) {
  uint32_t v;
  memcpy(&v, h + (h[19] & 15), 4);
  return __builtin_bswap32(v) & 0x7fffffff;
}
static void midstates(SHA_CTX *in, SHA_CTX *out) {
  unsigned char a[64], b[64];
  memset(a, 0x36, 64);
  memset(b, 0x5c, 64);
  for (int i = 0; i < 20; i++) { a[i] ^= KEY[i]; b[i] ^= KEY[i]; }
  SHA1_Init(in);
  SHA1_Update(in, a, 64);
  SHA1_Init(out);
  SHA1_Update(out, b, 64);
}

typedef struct { SHA_CTX in, out; } keyed;
static keyed *keyed_new(void) { keyed *k = malloc(sizeof *k); must(k); midstates(&k->in, &k->out); return k; }

// The floor: only the two calls. The code writes blocks with stores as wide as the loads of the compression function.
typedef uint32_t words4 __attribute__((vector_size(16)));
#define BE(x) __builtin_bswap32(x)
static inline uint32_t transform_pair(const keyed *k, uint64_t c) {
  words4 block[4] = {{BE((uint32_t)(c >> 32)), BE((uint32_t)c), BE(0x80000000), 0}, {0}, {0}, {0, 0, 0, BE(72 * 8)}};
  SHA_CTX a, b;
  memcpy(&a, &k->in, 20);
  SHA1_Transform(&a, (unsigned char *)block);
  words4 outer[4] = {{BE(a.h0), BE(a.h1), BE(a.h2), BE(a.h3)}, {BE(a.h4), BE(0x80000000), 0, 0}, {0}, {0, 0, 0, BE(84 * 8)}};
  memcpy(&b, &k->out, 20);
  SHA1_Transform(&b, (unsigned char *)outer);
  uint32_t h[6] = {b.h0, b.h1, b.h2, b.h3, b.h4, 0};
  unsigned o = h[4] & 15;
  uint64_t pair = (uint64_t)h[o / 4] << 32 | h[o / 4 + 1];
  return (uint32_t)(pair >> (32 - 8 * (o % 4))) & 0x7fffffff;
}
static void run_transform(peer *p, long n) {
  for (long i = 0; i < n; i++) peer_sink += transform_pair(p->context, counter++) % 1000000;
}
peer *peer_transform_pair(void) {
  keyed *k = keyed_new();
  must(transform_pair(k, 1) % 1000000 == 287082); // RFC 4226, appendix D
  return peer_new("two SHA1_Transform (floor)", run_transform, k, 0, 0);
}
static void run_transform_text(peer *p, long n) {
  char text[6];
  for (long i = 0; i < n; i++) {
    uint32_t v = transform_pair(p->context, counter++) % 1000000;
    for (int d = 5; d >= 0; d--) { text[d] = '0' + v % 10; v /= 10; }
    peer_sink += text[i % 6];
  }
}
peer *peer_transform_text(void) { return peer_new("two SHA1_Transform, six digits", run_transform_text, keyed_new(), 0, 0); }

static void run_oneshot(peer *p, long n) {
  unsigned char m[8], md[20];
  unsigned l;
  (void)p;
  for (long i = 0; i < n; i++) { be64(m, counter++); HMAC(EVP_sha1(), KEY, 20, m, 8, md, &l); peer_sink += truncated(md) % 1000000; }
}
peer *peer_hmac_oneshot(void) { return peer_new("OpenSSL HMAC()", run_oneshot, NULL, 0, 0); }

static EVP_MAC_CTX *mac_context(void) {
  static EVP_MAC *mac;
  if (!mac) mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *c = EVP_MAC_CTX_new(mac);
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", "SHA1", 0), OSSL_PARAM_construct_end()};
  must(c && EVP_MAC_init(c, (const unsigned char *)KEY, 20, params));
  return c;
}
static void run_mac_reused(peer *p, long n) {
  unsigned char m[8], md[64];
  size_t l;
  for (long i = 0; i < n; i++) {
    be64(m, counter++);
    EVP_MAC_init(p->context, NULL, 0, NULL);
    EVP_MAC_update(p->context, m, 8);
    EVP_MAC_final(p->context, md, &l, 64);
    peer_sink += truncated(md) % 1000000;
  }
}
peer *peer_evp_mac_reused(void) { return peer_new("EVP_MAC reused", run_mac_reused, mac_context(), 0, 0); }
static void run_mac_new(peer *p, long n) {
  unsigned char m[8], md[64];
  size_t l;
  (void)p;
  for (long i = 0; i < n; i++) {
    EVP_MAC_CTX *c = mac_context();
    be64(m, counter++);
    EVP_MAC_update(c, m, 8);
    EVP_MAC_final(c, md, &l, 64);
    EVP_MAC_CTX_free(c);
    peer_sink += truncated(md) % 1000000;
  }
}
peer *peer_evp_mac_new(void) { return peer_new("EVP_MAC, new context", run_mac_new, NULL, 0, 0); }

static void run_midstate_window(peer *p, long n) {
  keyed *k = p->context;
  unsigned char m[8], md[20];
  for (long i = 0; i < n; i++) {
    long hit = -1;
    for (size_t j = 0; j < p->a; j++) {
      SHA_CTX a = k->in, b = k->out;
      be64(m, counter++);
      SHA1_Update(&a, m, 8); SHA1_Final(md, &a);
      SHA1_Update(&b, md, 20); SHA1_Final(md, &b);
      if (truncated(md) % 1000000 == 0) hit = j;
    }
    peer_sink += hit;
  }
}
peer *peer_midstate_window(size_t width) { return peer_new("OpenSSL on cached midstates", run_midstate_window, keyed_new(), width, 0); }

// The bytes of an OCRA code (RFC 6287, 5.1): suite, 0, and 128 bytes of the question; with a counter before it, and the
// hash of a PIN after it.
static void run_ocra_hmac(peer *p, long n) {
  static const char plain[] = "OCRA-1:HOTP-SHA1-6:QN08", counted[] = "OCRA-1:HOTP-SHA1-6:C-QN08-PSHA1";
  keyed *k = p->context;
  unsigned char m[256] = {0}, md[20];
  size_t suite = p->a ? sizeof counted : sizeof plain;
  size_t length = suite + 128 + (p->a ? 8 + 20 : 0);
  memcpy(m, p->a ? counted : plain, suite);
  for (long i = 0; i < n; i++) {
    SHA_CTX a = k->in, b = k->out;
    be64(m + suite, counter++);
    SHA1_Update(&a, m, length); SHA1_Final(md, &a);
    SHA1_Update(&b, md, 20); SHA1_Final(md, &b);
    peer_sink += truncated(md) % 1000000;
  }
}
peer *peer_ocra_hmac(int has_counter) {
  return peer_new("HMAC on cached midstates", run_ocra_hmac, keyed_new(), (size_t)has_counter, 0);
}

// liboath, loaded: its declarations of these three (oath.h, LGPL library, public interface).
#define OATH "liboath.so.0"
static int (*oath_init_)(void);
static int (*oath_generate)(const char *, size_t, uint64_t, unsigned, unsigned char, size_t, char *);
static int (*oath_validate)(const char *, size_t, uint64_t, size_t, const char *);
static int has_oath(void) {
  if (!oath_init_) {
    oath_init_ = peer_symbol(OATH, "oath_init");
    oath_generate = peer_symbol(OATH, "oath_hotp_generate");
    oath_validate = peer_symbol(OATH, "oath_hotp_validate");
    if (oath_init_ && oath_init_() != 0) oath_init_ = NULL;
  }
  return oath_init_ && oath_generate && oath_validate;
}
const char *peer_oath_version(void) {
  const char *(*version)(const char *) = peer_symbol(OATH, "oath_check_version");
  return version ? version(NULL) : NULL;
}
static void run_oath(peer *p, long n) {
  char otp[16];
  (void)p;
  for (long i = 0; i < n; i++) { oath_generate(KEY, 20, counter++, 6, 0, (size_t)-1, otp); peer_sink += otp[0]; }
}
peer *peer_oath_hotp(void) {
  char otp[16];
  if (!has_oath()) return NULL;
  must(oath_generate(KEY, 20, 1, 6, 0, (size_t)-1, otp) == 0 && strcmp(otp, "287082") == 0);
  return peer_new("liboath oath_hotp_generate", run_oath, NULL, 0, 0);
}
static void run_oath_window(peer *p, long n) {
  for (long i = 0; i < n; i++) { peer_sink += oath_validate(KEY, 20, counter, p->a, "000000"); counter += p->a; }
}
peer *peer_oath_window(size_t width) {
  // It tries the first counter and the next `window` counters.
  return has_oath() ? peer_new("liboath oath_hotp_validate", run_oath_window, NULL, width - 1, 0) : NULL;
}
