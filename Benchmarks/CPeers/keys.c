#include "support.h"
#include <argon2.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <sys/mman.h>

typedef struct { uint32_t memory, passes, lanes; allocate_fptr allocate; deallocate_fptr release; } argon;

static int allocate_huge(uint8_t **memory, size_t size) {
  size_t huge = 2 << 20;
  uint8_t *outer = mmap(NULL, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (outer == MAP_FAILED) return -1;
  uint8_t *start = (uint8_t *)(((uintptr_t)outer + huge - 1) & ~(uintptr_t)(huge - 1));
  if (start > outer) munmap(outer, start - outer);
  munmap(start + size, outer + huge - start);
  madvise(start, size, MADV_HUGEPAGE);
  *memory = start;
  return 0;
}
static void release_huge(uint8_t *memory, size_t size) { munmap(memory, size); }

static void run_argon(peer *p, long n) {
  argon *a = p->context;
  uint8_t out[32], salt[16] = {0};
  for (long i = 0; i < n; i++) {
    argon2_context c = {.out = out, .outlen = 32, .pwd = (uint8_t *)"correct horse", .pwdlen = 13, .salt = salt, .saltlen = 16,
      .t_cost = a->passes, .m_cost = a->memory, .lanes = a->lanes, .threads = a->lanes, .version = ARGON2_VERSION_13,
      .allocate_cbk = a->allocate, .free_cbk = a->release, .flags = ARGON2_DEFAULT_FLAGS};
    must(argon2id_ctx(&c) == ARGON2_OK);
    peer_sink += out[0];
  }
}
static peer *argon_new(const char *name, uint32_t memory, uint32_t passes, uint32_t lanes, int is_huge) {
  argon *a = malloc(sizeof *a);
  must(a);
  *a = (argon){memory, passes, lanes, is_huge ? allocate_huge : NULL, is_huge ? release_huge : NULL};
  return peer_new(name, run_argon, a, 0, 0);
}
peer *peer_argon2(uint32_t memory, uint32_t passes, uint32_t lanes) { return argon_new("libargon2", memory, passes, lanes, 0); }
peer *peer_argon2_huge(uint32_t memory, uint32_t passes, uint32_t lanes) { return argon_new("libargon2 in 2 MiB pages", memory, passes, lanes, 1); }

static void run_hkdf(peer *p, long n) {
  unsigned char out[32];
  for (long i = 0; i < n; i++) { must(EVP_KDF_derive(p->context, out, 32, NULL) > 0); peer_sink += out[0]; }
}
peer *peer_hkdf(void) {
  static unsigned char key[32] = {1};
  EVP_KDF_CTX *c = EVP_KDF_CTX_new(EVP_KDF_fetch(NULL, "HKDF", NULL));
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", "SHA2-256", 0), OSSL_PARAM_construct_octet_string("key", key, 32),
    OSSL_PARAM_construct_octet_string("info", "vault/1/meta", 12), OSSL_PARAM_construct_end()};
  must(c && EVP_KDF_CTX_set_params(c, params) > 0);
  return peer_new("EVP_KDF HKDF, context kept", run_hkdf, c, 0, 0);
}

static void run_p256(peer *p, long n) {
  unsigned char out[128], digest[32] = {3};
  for (long i = 0; i < n; i++) { size_t l = sizeof out; must(EVP_PKEY_sign(p->context, out, &l, digest, 32) > 0); peer_sink += out[8]; }
}
peer *peer_sign_p256(void) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  must(c && EVP_PKEY_sign_init(c) > 0);
  return peer_new("EVP_PKEY_sign, context kept", run_p256, c, 0, 0);
}
static void run_ed25519(peer *p, long n) {
  unsigned char out[64], message[32] = {3};
  EVP_MD_CTX *c = EVP_MD_CTX_new();
  for (long i = 0; i < n; i++) {
    size_t l = 64;
    must(EVP_DigestSignInit_ex(c, NULL, NULL, NULL, NULL, p->context, NULL) > 0);
    must(EVP_DigestSign(c, out, &l, message, 32) > 0);
    peer_sink += out[0];
  }
  EVP_MD_CTX_free(c);
}
peer *peer_sign_ed25519(void) {
  EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
  must(key);
  return peer_new("EVP_DigestSign Ed25519", run_ed25519, key, 0, 0);
}
static int (*sodium_sign)(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long, const unsigned char *);
static void run_sodium_sign(peer *p, long n) {
  unsigned char out[64], message[32] = {3};
  for (long i = 0; i < n; i++) { sodium_sign(out, NULL, message, 32, p->context); peer_sink += out[0]; }
}
peer *peer_sodium_ed25519(void) {
  int (*init)(void) = peer_symbol("libsodium.so.23", "sodium_init");
  int (*pair)(unsigned char *, unsigned char *) = peer_symbol("libsodium.so.23", "crypto_sign_keypair");
  sodium_sign = peer_symbol("libsodium.so.23", "crypto_sign_detached");
  if (!init || init() < 0 || !pair || !sodium_sign) return NULL;
  unsigned char public[32], *secret = malloc(64);
  must(secret && pair(public, secret) == 0);
  return peer_new("libsodium crypto_sign_detached", run_sodium_sign, secret, 0, 0);
}
