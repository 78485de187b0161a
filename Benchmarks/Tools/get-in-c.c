// What `vaultctl get` and `vaultctl code` (TOTP) do on a vault without passcode, in plain C:
// the floor of a command. Written from docs/format/vault-file.md; no secret memory, no policy, no messages.
//   get-in-c VAULT DEVICE-KEY NAME [--totp]
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define must(truth) do { if (!(truth)) { fprintf(stderr, "get-in-c: line %d: %s\n", __LINE__, #truth); exit(10); } } while (0)
typedef unsigned char u8;
typedef struct { u8 *at; size_t size; } bytes;
static u8 arena[1 << 20];
static size_t used;
static u8 *room(size_t size) { used += size; must(used <= sizeof arena); return arena + used - size; }

// ---- HMAC, HKDF
static void hmac(const void *key, size_t nk, const void *x, size_t nx, const void *y, size_t ny, u8 out[32]) {
  u8 a[64] = {0}, b[64];
  SHA256_CTX c;
  if (nk > 64) { SHA256_Init(&c); SHA256_Update(&c, key, nk); SHA256_Final(a, &c); } else memcpy(a, key, nk);
  for (int i = 0; i < 64; i++) { b[i] = a[i] ^ 0x5c; a[i] ^= 0x36; }
  SHA256_Init(&c); SHA256_Update(&c, a, 64); SHA256_Update(&c, x, nx); if (ny) SHA256_Update(&c, y, ny); SHA256_Final(out, &c);
  SHA256_Init(&c); SHA256_Update(&c, b, 64); SHA256_Update(&c, out, 32); SHA256_Final(out, &c);
}
static void hash(const void *x, size_t n, u8 out[32]) { SHA256_CTX c; SHA256_Init(&c); SHA256_Update(&c, x, n); SHA256_Final(out, &c); }
static void hkdf(const void *key, size_t nk, const u8 *salt, const void *info, size_t ni, u8 *out, int blocks) {
  static const u8 zero[32];
  u8 prk[32], one = 1, text[256];
  hmac(salt ? salt : zero, 32, key, nk, NULL, 0, prk);
  hmac(prk, 32, info, ni, &one, 1, out);
  if (blocks == 2) {
    memcpy(text, out, 32); memcpy(text + 32, info, ni); text[32 + ni] = 2;
    hmac(prk, 32, text, 33 + ni, NULL, 0, out + 32);
  }
}
static void derive(const u8 *key, size_t nk, const char *label, u8 out[32]) { hkdf(key, nk, NULL, label, strlen(label), out, 1); }

// ---- records
static void put16(u8 *p, uint32_t v) { p[0] = v >> 8; p[1] = v; }
static void put32(u8 *p, uint32_t v) { put16(p, v >> 16); put16(p + 2, v); }
static void put64(u8 *p, uint64_t v) { put32(p, v >> 32); put32(p + 4, (uint32_t)v); }
static uint32_t get32(const u8 *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
static uint64_t get64(const u8 *p) { return (uint64_t)get32(p) << 32 | get32(p + 4); }
typedef struct { u8 *at; size_t size; } record;
static void field(record *r, int number, const void *value, size_t size) {
  put16(r->at + r->size, number); put32(r->at + r->size + 2, size); memcpy(r->at + r->size + 6, value, size);
  r->size += 6 + size;
}
static void field8(record *r, int number, u8 v) { field(r, number, &v, 1); }
static void field32(record *r, int number, uint32_t v) { u8 b[4]; put32(b, v); field(r, number, b, 4); }
static void field64(record *r, int number, uint64_t v) { u8 b[8]; put64(b, v); field(r, number, b, 8); }
static bytes find(bytes r, int wanted) {
  for (size_t at = 0; at + 6 <= r.size;) {
    int number = r.at[at] << 8 | r.at[at + 1];
    size_t size = get32(r.at + at + 2);
    must(at + 6 + size <= r.size);
    if (number == wanted) return (bytes){r.at + at + 6, size};
    at += 6 + size;
  }
  return (bytes){NULL, 0};
}

// ---- seals
static EVP_CIPHER_CTX *context;
static bytes gcm_open(const u8 *key, const u8 *iv, const u8 *header, const record *aad, const u8 *body, size_t size) {
  int l;
  must(size >= 16);
  bytes out = {room(size), size - 16};
  must(EVP_DecryptInit_ex2(context, NULL, key, iv, NULL) > 0);
  if (header) must(EVP_DecryptUpdate(context, NULL, &l, header, 6) > 0 && EVP_DecryptUpdate(context, NULL, &l, aad->at, (int)aad->size) > 0);
  must(EVP_DecryptUpdate(context, out.at, &l, body, (int)out.size) > 0);
  must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)(body + out.size)) > 0);
  must(EVP_DecryptFinal_ex(context, out.at + l, &l) > 0);
  return out;
}
static bytes open1(const u8 key[32], const char *label, const record *aad, bytes seal) {
  static const u8 zero[12];
  u8 keys[64], info[128];
  size_t n = strlen(label);
  must(seal.size >= 82 && seal.at[0] == 1 && seal.at[1] == 1);
  memcpy(info, label, n); info[n] = 0; info[n + 1] = 1; info[n + 2] = 1;
  hash(aad->at, aad->size, info + n + 3);
  hkdf(key, 32, seal.at + 2, info, n + 35, keys, 2);
  must(CRYPTO_memcmp(keys + 32, seal.at + 34, 32) == 0);
  return gcm_open(keys, zero, NULL, NULL, seal.at + 66, seal.size - 66);
}
static bytes open2(const u8 key[32], const record *aad, bytes seal) {
  must(seal.size >= 34 && seal.at[0] == 1 && seal.at[1] == 2);
  return gcm_open(key, seal.at + 6, seal.at, aad, seal.at + 18, seal.size - 18);
}

// ---- the database
static sqlite3 *db;
static sqlite3_stmt *query(const char *sql) {
  sqlite3_stmt *s;
  must(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK);
  return s;
}
static bytes column(sqlite3_stmt *s, int i) {
  bytes b = {NULL, sqlite3_column_bytes(s, i)};
  b.at = room(b.size);
  if (b.size) memcpy(b.at, sqlite3_column_blob(s, i), b.size);
  return b;
}
static u8 vault[16];
static record part(const char *name) { return (record){room(512), 0}; (void)name; }

typedef struct { uint32_t kind, subject, generation, opener; bytes opener_id, body; int64_t id; } slot;
static bytes open_slot(const slot *s, const u8 *key) {
  record a = part("slot");
  field(&a, 1, vault, 16); field(&a, 3, "slot", 4); field32(&a, 4, s->generation); field8(&a, 20, s->kind);
  field32(&a, 21, s->subject); field8(&a, 22, s->opener); field(&a, 23, s->opener_id.at, s->opener_id.size); field8(&a, 25, 1);
  return open1(key, "vault/1/seal-slot", &a, s->body);
}

int main(int count, char **words) {
  must(count >= 4);
  int is_totp = count > 4;
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
  context = EVP_CIPHER_CTX_new();
  must(EVP_DecryptInit_ex2(context, EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL), NULL, NULL, NULL) > 0);
  must(sqlite3_open_v2(words[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
  must(sqlite3_exec(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL; BEGIN", NULL, NULL, NULL) == SQLITE_OK);

  // The schema is that of the format.
  sqlite3_stmt *s = query("PRAGMA application_id");
  must(sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 0x564C5431);
  sqlite3_finalize(s);
  s = query("PRAGMA user_version");
  must(sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1);
  sqlite3_finalize(s);
  s = query("SELECT type, name, tbl_name, sql FROM sqlite_schema");
  int entries = 0;
  while (sqlite3_step(s) == SQLITE_ROW) entries += sqlite3_column_bytes(s, 1) > 0;
  must(entries == 12);
  sqlite3_finalize(s);

  // Header, slots, device key, root key, header MAC.
  s = query("SELECT body, mac FROM header");
  must(sqlite3_step(s) == SQLITE_ROW);
  bytes header = column(s, 0), tag = column(s, 1);
  sqlite3_finalize(s);
  slot slots[64];
  int n = 0;
  record list = {room(65536), 0};
  s = query("SELECT id, kind, subject, generation, opener, opener_id, body FROM slot ORDER BY id");
  while (sqlite3_step(s) == SQLITE_ROW) {
    must(n < 64);
    slot *t = &slots[n++];
    *t = (slot){.id = sqlite3_column_int64(s, 0), .kind = sqlite3_column_int(s, 1), .subject = sqlite3_column_int64(s, 2),
      .generation = sqlite3_column_int64(s, 3), .opener = sqlite3_column_int(s, 4), .opener_id = column(s, 5), .body = column(s, 6)};
    record r = {room(t->body.size + 256), 0};
    field64(&r, 1, t->id); field8(&r, 2, t->kind); field32(&r, 3, t->subject); field32(&r, 4, t->generation);
    field8(&r, 5, t->opener); field(&r, 6, t->opener_id.at, t->opener_id.size); field(&r, 7, t->body.at, t->body.size);
    field(&list, n, r.at, r.size);
  }
  sqlite3_finalize(s);
  memcpy(vault, find(header, 2).at, 16);
  uint32_t generation = get32(find(header, 7).at);
  u8 device[33], id[32];
  int file = open(words[2], O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  must(file >= 0 && read(file, device, 33) == 32);
  close(file);
  hmac(device, 32, "vault/1/key-id", 14, NULL, 0, id);
  must(CRYPTO_memcmp(id, find(header, 10).at, 16) == 0);
  u8 root[32], local[64], key[32], mac[32];
  for (int i = 0; i < n; i++) if (slots[i].kind == 1 && slots[i].opener == 1) memcpy(root, open_slot(&slots[i], device).at, 32);
  record whole = {room(header.size + list.size + 64), 0};
  field(&whole, 1, header.at, header.size); field(&whole, 2, list.at, list.size);
  derive(root, 32, "vault/1/header", key);
  hmac(key, 32, whole.at, whole.size, NULL, 0, mac);
  must(CRYPTO_memcmp(mac, tag.at, 32) == 0);

  // All keys that open without a passcode.
  u8 classes[256][32] = {{0}}, slot_key[32], local_key[32];
  derive(root, 32, "vault/1/slot", slot_key);
  memcpy(local, root, 32);
  for (int i = 0; i < n; i++) if (slots[i].kind == 2) memcpy(local + 32, open_slot(&slots[i], device).at, 32);
  derive(local, 64, "vault/1/slot-device", local_key);
  for (int i = 0; i < n; i++)
    if (slots[i].kind == 3) memcpy(classes[slots[i].subject & 255], open_slot(&slots[i], slots[i].subject & 0x80 ? local_key : slot_key).at, 32);
  u8 meta_key[32], index_key[32], head_key[32], sum_key[32];
  derive(root, 32, "vault/1/meta", meta_key);
  derive(root, 32, "vault/1/index", index_key);
  derive(root, 32, "vault/1/head", head_key);
  derive(root, 32, "vault/1/sum", sum_key);

  // The head row; the sum is for vaults of at most 1,000 rows.
  s = query("SELECT body FROM head");
  must(sqlite3_step(s) == SQLITE_ROW);
  record a = part("head");
  field(&a, 1, vault, 16); field(&a, 3, "head", 4);
  bytes head = open2(head_key, &a, column(s, 0));
  sqlite3_finalize(s);
  must(get64(head.at + 8) == get64(find(header, 4).at));
  must(get64(head.at + 40) > 1000);

  // The item by its name.
  record named = {room(512), 0};
  u8 code[2] = {0, 1}, name[32];
  field(&named, 1, code, 2); field(&named, 2, words[3], strlen(words[3]));
  hmac(index_key, 32, named.at, named.size, NULL, 0, name);
  s = query("SELECT row, id, kind, primary_key, flags, class, version, material, meta, expires, generation FROM item WHERE name = ?1");
  sqlite3_bind_blob(s, 1, name, 16, SQLITE_STATIC);
  must(sqlite3_step(s) == SQLITE_ROW);
  int64_t row = sqlite3_column_int64(s, 0), version = sqlite3_column_int64(s, 6), material = sqlite3_column_int64(s, 7);
  bytes item = column(s, 1), primary = column(s, 3), sealed = column(s, 8);
  uint32_t kind = sqlite3_column_int(s, 2), flags = sqlite3_column_int(s, 4), class = sqlite3_column_int(s, 5);
  sqlite3_finalize(s);
  a = part("meta");
  field(&a, 1, vault, 16); field(&a, 2, item.at, 16); field(&a, 3, "meta", 4); field32(&a, 4, generation); field64(&a, 5, version);
  field8(&a, 6, class); field64(&a, 8, row); field32(&a, 9, kind); field32(&a, 10, flags); field(&a, 12, primary.at, 16);
  field(&a, 13, name, 16); field64(&a, 16, material);
  bytes meta = open2(meta_key, &a, sealed), policy = find(meta, 2), attributes = find(meta, 1);
  must(memcmp(find(attributes, 1).at + 1, words[3], strlen(words[3])) == 0);
  u8 policy_hash[32];
  hash(policy.at, policy.size, policy_hash);

  // Its secret.
  s = query("SELECT keys, secret FROM material WHERE row = ?1");
  sqlite3_bind_int64(s, 1, row);
  must(sqlite3_step(s) == SQLITE_ROW);
  bytes keys = column(s, 0), sealed_secret = column(s, 1);
  sqlite3_finalize(s);
  a = part("keys");
  field(&a, 1, vault, 16); field(&a, 2, item.at, 16); field(&a, 3, "keys", 4); field32(&a, 4, generation); field8(&a, 6, class);
  field(&a, 7, policy_hash, 32); field32(&a, 9, kind);
  bytes data = open1(classes[class & 255], "vault/1/seal-keys", &a, keys);
  must(data.size == 33 && data.at[0] == 0);
  a = part("secret");
  field(&a, 1, vault, 16); field(&a, 2, item.at, 16); field(&a, 3, "secret", 6); field64(&a, 5, material);
  field(&a, 7, policy_hash, 32); field32(&a, 9, kind);
  bytes secret = open1(data.at + 1, "vault/1/seal-secret", &a, sealed_secret);

  char text[16];
  if (is_totp) { // RFC 6238: SHA-1, 30 seconds, six digits
    u8 pad[64] = {0}, md[20], step[8];
    SHA_CTX c;
    must(secret.size <= 64);
    memcpy(pad, secret.at, secret.size);
    put64(step, (uint64_t)time(NULL) / 30);
    for (int i = 0; i < 64; i++) pad[i] ^= 0x36;
    SHA1_Init(&c); SHA1_Update(&c, pad, 64); SHA1_Update(&c, step, 8); SHA1_Final(md, &c);
    for (int i = 0; i < 64; i++) pad[i] ^= 0x36 ^ 0x5c;
    SHA1_Init(&c); SHA1_Update(&c, pad, 64); SHA1_Update(&c, md, 20); SHA1_Final(md, &c);
    snprintf(text, sizeof text, "%06u\n", (get32(md + (md[19] & 15)) & 0x7fffffff) % 1000000);
    must(write(1, text, 7) == 7);
  } else {
    must(write(1, secret.at, secret.size) == (ssize_t)secret.size);
  }
  OPENSSL_cleanse(arena, used);
  _exit(0); // as vaultctl ends: closing the last connection would move the log, with its synchronizations
}
