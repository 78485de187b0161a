#include "support.h"
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/random.h>

typedef struct {
  unsigned char key[32], iv[12], tag[16];
  unsigned char *plain, *sealed;
  EVP_CIPHER_CTX *sealing, *opening;
  void *sodium;
  int (*encrypt)(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long, const unsigned char *, unsigned long long, const unsigned char *, const unsigned char *, const void *);
  int (*box)(unsigned char *, const unsigned char *, unsigned long long, const unsigned char *, const unsigned char *);
} gcm;

static EVP_CIPHER *cipher(void) {
  static EVP_CIPHER *fetched;
  if (!fetched) fetched = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
  must(fetched);
  return fetched;
}
static inline void bump(gcm *g) { uint64_t v; memcpy(&v, g->iv, 8); v++; memcpy(g->iv, &v, 8); }
static void seal_with(gcm *g, EVP_CIPHER_CTX *c, const EVP_CIPHER *type, const unsigned char *key, size_t size) {
  int l;
  must(EVP_EncryptInit_ex2(c, type, key, g->iv, NULL) > 0);
  must(EVP_EncryptUpdate(c, g->sealed, &l, g->plain, (int)size) > 0);
  must(EVP_EncryptFinal_ex(c, g->sealed + l, &l) > 0);
  must(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, g->sealed + size) > 0);
}
static gcm *gcm_new(size_t size) {
  gcm *g = calloc(1, sizeof *g);
  must(g);
  for (int i = 0; i < 32; i++) g->key[i] = i * 7;
  g->plain = aligned_alloc(64, (size + 127) & ~63ul);
  g->sealed = aligned_alloc(64, (size + 191) & ~63ul);
  must(g->plain && g->sealed);
  memset(g->plain, 5, size);
  g->sealing = EVP_CIPHER_CTX_new();
  g->opening = EVP_CIPHER_CTX_new();
  must(EVP_EncryptInit_ex2(g->sealing, cipher(), g->key, g->iv, NULL) > 0);
  must(EVP_DecryptInit_ex2(g->opening, cipher(), g->key, g->iv, NULL) > 0);
  seal_with(g, g->sealing, NULL, NULL, size);
  return g;
}
static void run_seal(peer *p, long n) {
  gcm *g = p->context;
  for (long i = 0; i < n; i++) { bump(g); seal_with(g, g->sealing, NULL, NULL, p->a); }
}
peer *peer_gcm_seal(size_t size) { return peer_new("EVP reused, seal (floor)", run_seal, gcm_new(size), size, 0); }
static void run_open(peer *p, long n) {
  gcm *g = p->context;
  int l;
  for (long i = 0; i < n; i++) {
    must(EVP_DecryptInit_ex2(g->opening, NULL, NULL, g->iv, NULL) > 0);
    must(EVP_DecryptUpdate(g->opening, g->plain, &l, g->sealed, (int)p->a) > 0);
    must(EVP_CIPHER_CTX_ctrl(g->opening, EVP_CTRL_AEAD_SET_TAG, 16, g->sealed + p->a) > 0);
    must(EVP_DecryptFinal_ex(g->opening, g->plain + l, &l) > 0);
  }
}
peer *peer_gcm_open(size_t size) { return peer_new("EVP reused, open (floor)", run_open, gcm_new(size), size, 0); }
static void run_naive(peer *p, long n) {
  gcm *g = p->context;
  for (long i = 0; i < n; i++) {
    EVP_CIPHER *type = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bump(g);
    seal_with(g, c, type, g->key, p->a);
    EVP_CIPHER_CTX_free(c);
    EVP_CIPHER_free(type);
  }
}
peer *peer_gcm_seal_naive(size_t size) { return peer_new("EVP one-shot (fetch, new context)", run_naive, gcm_new(size), size, 0); }
static void run_legacy(peer *p, long n) {
  gcm *g = p->context;
  for (long i = 0; i < n; i++) {
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bump(g);
    seal_with(g, c, EVP_aes_256_gcm(), g->key, p->a);
    EVP_CIPHER_CTX_free(c);
  }
}
peer *peer_gcm_seal_legacy(size_t size) { return peer_new("EVP one-shot (EVP_aes_256_gcm)", run_legacy, gcm_new(size), size, 0); }

// libsodium, loaded.
#define SODIUM "libsodium.so.23"
const char *peer_sodium_version(void) {
  const char *(*version)(void) = peer_symbol(SODIUM, "sodium_version_string");
  return version ? version() : NULL;
}
static int sodium(void) {
  static int state;
  int (*init)(void) = peer_symbol(SODIUM, "sodium_init");
  if (!state) state = init && init() >= 0 ? 1 : -1;
  return state == 1;
}
static void run_sodium(peer *p, long n) {
  gcm *g = p->context;
  unsigned long long l;
  for (long i = 0; i < n; i++) { bump(g); g->encrypt(g->sealed, &l, g->plain, p->a, NULL, 0, NULL, g->iv, g->sodium); }
}
peer *peer_sodium_seal(size_t size) {
  if (!sodium()) return NULL;
  int (*is_available)(void) = peer_symbol(SODIUM, "crypto_aead_aes256gcm_is_available");
  size_t (*state_size)(void) = peer_symbol(SODIUM, "crypto_aead_aes256gcm_statebytes");
  int (*begin)(void *, const unsigned char *) = peer_symbol(SODIUM, "crypto_aead_aes256gcm_beforenm");
  gcm *g = gcm_new(size);
  *(void **)&g->encrypt = peer_symbol(SODIUM, "crypto_aead_aes256gcm_encrypt_afternm");
  if (!is_available || !is_available() || !state_size || !begin || !g->encrypt) return NULL;
  g->sodium = aligned_alloc(64, (state_size() + 63) & ~63ul);
  must(g->sodium && begin(g->sodium, g->key) == 0);
  return peer_new("libsodium AES-256-GCM, key kept", run_sodium, g, size, 0);
}
static void run_box(peer *p, long n) {
  gcm *g = p->context;
  unsigned char nonce[24] = {0};
  for (long i = 0; i < n; i++) { bump(g); memcpy(nonce, g->iv, 12); g->box(g->sealed, g->plain, p->a, nonce, g->key); }
}
peer *peer_sodium_box(size_t size) {
  if (!sodium()) return NULL;
  gcm *g = gcm_new(size);
  *(void **)&g->box = peer_symbol(SODIUM, "crypto_secretbox_easy");
  return g->box ? peer_new("libsodium crypto_secretbox_easy", run_box, g, size, 0) : NULL;
}

static void run_rand(peer *p, long n) {
  unsigned char out[256];
  for (long i = 0; i < n; i++) { must(RAND_bytes(out, (int)p->a) > 0); peer_sink += out[0]; }
}
peer *peer_rand_bytes(size_t size) { return peer_new("RAND_bytes", run_rand, NULL, size, 0); }
static void run_getrandom(peer *p, long n) {
  unsigned char out[256];
  for (long i = 0; i < n; i++) { must(getrandom(out, p->a, 0) == (ssize_t)p->a); peer_sink += out[0]; }
}
peer *peer_getrandom(size_t size) { return peer_new("getrandom(2)", run_getrandom, NULL, size, 0); }
// Plain copying: no wiping, no other thread, no fork.
static void run_pool(peer *p, long n) {
  static unsigned char pool[8192];
  static size_t left;
  unsigned char out[64];
  for (long i = 0; i < n; i++) {
    if (left < p->a) { must(RAND_bytes(pool, sizeof pool) > 0); left = sizeof pool; }
    memcpy(out, pool + (left -= p->a), p->a);
    peer_sink += out[0];
  }
}
peer *peer_rand_pool(size_t size) { return peer_new("RAND_bytes, 8 KiB at a time (floor)", run_pool, NULL, size, 0); }

// The committing seal as the product makes it (docs/format/vault-file.md section 4), with the low-level SHA-256.
static void absorb(SHA256_CTX mid[2], const unsigned char *key, size_t n) {
  unsigned char a[64], b[64];
  memset(a, 0x36, 64);
  memset(b, 0x5c, 64);
  for (size_t i = 0; i < n; i++) { a[i] ^= key[i]; b[i] ^= key[i]; }
  SHA256_Init(&mid[0]); SHA256_Update(&mid[0], a, 64);
  SHA256_Init(&mid[1]); SHA256_Update(&mid[1], b, 64);
}
static void mac(const SHA256_CTX mid[2], const void *x, size_t nx, const void *y, size_t ny, unsigned char out[32]) {
  SHA256_CTX c = mid[0];
  SHA256_Update(&c, x, nx);
  if (ny) SHA256_Update(&c, y, ny);
  SHA256_Final(out, &c);
  c = mid[1];
  SHA256_Update(&c, out, 32);
  SHA256_Final(out, &c);
}
static void hash(const void *x, size_t n, unsigned char out[32]) {
  SHA256_CTX c;
  SHA256_Init(&c); SHA256_Update(&c, x, n); SHA256_Final(out, &c);
}

typedef struct {
  gcm *g;
  unsigned char aad[1024], salt[32], keys[64], pool[4096];
  size_t left;
  int what, keeps;
  EVP_CIPHER_CTX *context;
} committing;

static void draw_salt(committing *k, const unsigned char *aad_hash, size_t size) {
  SHA256_CTX mid[2];
  unsigned char message[96], hedge[32];
  if (k->left < 32) { must(RAND_bytes(k->pool, sizeof k->pool) > 0); k->left = sizeof k->pool; }
  memcpy(message, k->pool + (k->left -= 32), 32);
  memcpy(message + 32, aad_hash, 32);
  hash(k->g->plain, size, message + 64);
  absorb(mid, k->g->key, 32);
  mac(mid, "vault/1/hedge", 13, NULL, 0, hedge);
  absorb(mid, hedge, 32);
  mac(mid, message, 96, NULL, 0, k->salt);
}
static void derive(committing *k, const unsigned char *aad_hash) {
  SHA256_CTX mid[2];
  unsigned char prk[32], info[64 + 35], one = 1, two = 2;
  size_t n = strlen("vault/1/seal-secret");
  memcpy(info, "vault/1/seal-secret", n);
  info[n] = 0; info[n + 1] = 1; info[n + 2] = 1;
  memcpy(info + n + 3, aad_hash, 32);
  n += 35;
  absorb(mid, k->salt, 32);
  mac(mid, k->g->key, 32, NULL, 0, prk);
  absorb(mid, prk, 32);
  mac(mid, info, n, &one, 1, k->keys);
  unsigned char block[32 + sizeof info];
  memcpy(block, k->keys, 32);
  memcpy(block + 32, info, n);
  mac(mid, block, 32 + n, &two, 1, k->keys + 32);
}
// A new key for each seal: either the context is kept and gets the key, or it is made again and so wiped.
static void encrypt(committing *k, size_t size, int opens) {
  static const unsigned char zero[12];
  EVP_CIPHER_CTX *c = k->keeps ? k->context : EVP_CIPHER_CTX_new();
  const EVP_CIPHER *type = k->keeps ? NULL : cipher();
  gcm *g = k->g;
  int l;
  must(EVP_CipherInit_ex2(c, type, k->keys, zero, !opens, NULL) > 0);
  if (opens) {
    must(EVP_CipherUpdate(c, g->plain, &l, g->sealed, (int)size) > 0);
    must(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, g->sealed + size) > 0);
    must(EVP_CipherFinal_ex(c, g->plain + l, &l) > 0);
  } else {
    must(EVP_CipherUpdate(c, g->sealed, &l, g->plain, (int)size) > 0);
    must(EVP_CipherFinal_ex(c, g->sealed + l, &l) > 0);
    must(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, g->sealed + size) > 0);
  }
  if (!k->keeps) EVP_CIPHER_CTX_free(c);
}
static void run_committing(peer *p, long n) {
  committing *k = p->context;
  unsigned char aad_hash[32], commitment[32];
  memcpy(commitment, k->keys + 32, 32);
  for (long i = 0; i < n; i++) {
    if (k->what != 4) hash(k->aad, p->b, aad_hash);
    if (k->what == 0 || k->what == 2) draw_salt(k, aad_hash, p->a);
    if (k->what == 0 || k->what == 1 || k->what == 3) derive(k, aad_hash);
    if (k->what == 1) must(CRYPTO_memcmp(k->keys + 32, commitment, 32) == 0);
    if (k->what == 0 || k->what == 1 || k->what == 4) encrypt(k, p->a, k->what == 1);
    if (k->what == 0 || k->what == 1) { OPENSSL_cleanse(k->keys, 32); }
  }
}
peer *peer_committing(size_t size, size_t aad, int what, int keeps_context) {
  static const char *names[] = {"the same in C, seal", "the same in C, open", "step: salt", "step: keys", "step: cipher"};
  static const char *kept[] = {"the same in C, seal, context kept", "the same in C, open, context kept", "step: salt", "step: keys", "step: cipher, context kept"};
  committing *k = calloc(1, sizeof *k);
  must(k && aad <= sizeof k->aad);
  k->g = gcm_new(size);
  k->what = what;
  k->keeps = keeps_context;
  memset(k->aad, 9, aad);
  k->context = EVP_CIPHER_CTX_new();
  must(EVP_CipherInit_ex2(k->context, cipher(), NULL, NULL, what == 1 ? 0 : 1, NULL) > 0);
  unsigned char aad_hash[32];
  hash(k->aad, aad, aad_hash);
  draw_salt(k, aad_hash, size);
  derive(k, aad_hash);
  if (what == 1) {
    k->what = 0;
    k->keeps = 0;
    encrypt(k, size, 0);
    k->what = 1;
    k->keeps = keeps_context;
  }
  return peer_new((keeps_context ? kept : names)[what], run_committing, k, size, aad);
}

// Suite 2: the schedule is kept, the header is associated data.
static void run_record_open(peer *p, long n) {
  committing *k = p->context;
  gcm *g = k->g;
  int l;
  for (long i = 0; i < n; i++) {
    must(EVP_CipherInit_ex2(g->opening, NULL, NULL, g->iv, -1, NULL) > 0);
    must(EVP_CipherUpdate(g->opening, NULL, &l, k->salt, 6) > 0);
    must(EVP_CipherUpdate(g->opening, NULL, &l, k->aad, (int)p->b) > 0);
    must(EVP_CipherUpdate(g->opening, g->plain, &l, g->sealed, (int)p->a) > 0);
    must(EVP_CIPHER_CTX_ctrl(g->opening, EVP_CTRL_AEAD_SET_TAG, 16, g->sealed + p->a) > 0);
    must(EVP_CipherFinal_ex(g->opening, g->plain + l, &l) > 0);
  }
}
static void record_seal(committing *k, size_t size, size_t aad) {
  gcm *g = k->g;
  int l;
  must(EVP_CipherInit_ex2(g->sealing, NULL, NULL, g->iv, -1, NULL) > 0);
  must(EVP_CipherUpdate(g->sealing, NULL, &l, k->salt, 6) > 0);
  must(EVP_CipherUpdate(g->sealing, NULL, &l, k->aad, (int)aad) > 0);
  must(EVP_CipherUpdate(g->sealing, g->sealed, &l, g->plain, (int)size) > 0);
  must(EVP_CipherFinal_ex(g->sealing, g->sealed + l, &l) > 0);
  must(EVP_CIPHER_CTX_ctrl(g->sealing, EVP_CTRL_AEAD_GET_TAG, 16, g->sealed + size) > 0);
}
static committing *record_new(size_t size, size_t aad) {
  committing *k = calloc(1, sizeof *k);
  must(k && aad <= sizeof k->aad);
  k->g = gcm_new(size);
  memset(k->aad, 9, aad);
  record_seal(k, size, aad);
  return k;
}
peer *peer_record_open(size_t size, size_t aad) {
  return peer_new("the same in C, suite 2 open", run_record_open, record_new(size, aad), size, aad);
}
static void run_record_seal(peer *p, long n) {
  committing *k = p->context;
  SHA256_CTX mid[2];
  unsigned char message[96], code[32];
  absorb(mid, k->g->key, 32);
  for (long i = 0; i < n; i++) {
    if (k->left < 32) { must(RAND_bytes(k->pool, sizeof k->pool) > 0); k->left = sizeof k->pool; }
    memcpy(message, k->pool + (k->left -= 32), 32);
    hash(k->aad, p->b, message + 32);
    hash(k->g->plain, p->a, message + 64);
    mac(mid, message, 96, NULL, 0, code);
    memcpy(k->g->iv, code, 12);
    record_seal(k, p->a, p->b);
  }
}
peer *peer_record_seal(size_t size, size_t aad) {
  return peer_new("the same in C, suite 2 seal", run_record_seal, record_new(size, aad), size, aad);
}
