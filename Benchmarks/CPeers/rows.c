// The vault's own file, read by SQLite alone: the part of a look-up that is not our code.
#include "support.h"
#include <openssl/evp.h>
#include <sqlite3.h>

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *find, *material;
  unsigned char *names;
  size_t count;
  EVP_CIPHER_CTX *opening, *sealing;
} rows;

static rows *rows_new(const char *vault) {
  rows *r = calloc(1, sizeof *r);
  must(r);
  must(sqlite3_open_v2(vault, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
  // The cache is as large as the product's.
  must(sqlite3_exec(r->db, "PRAGMA cache_size=-131072; BEGIN; SELECT count(*) FROM header", NULL, NULL, NULL) == SQLITE_OK);
  return r;
}
static sqlite3_stmt *prepared(rows *r, const char *sql) {
  sqlite3_stmt *s;
  must(sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL) == SQLITE_OK);
  return s;
}
#define COLUMNS "SELECT row, id, kind, primary_key, name, flags, class, generation, version, material, expires, meta FROM item "

static void run_find(peer *p, long n) {
  static uint64_t x = 88172645463325252;
  rows *r = p->context;
  for (long i = 0; i < n; i++) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    sqlite3_bind_blob(r->find, 1, r->names + 16 * (x % r->count), 16, SQLITE_STATIC);
    must(sqlite3_step(r->find) == SQLITE_ROW);
    peer_sink += *(unsigned char *)sqlite3_column_blob(r->find, 11) + sqlite3_column_bytes(r->find, 11);
    if (r->material) {
      sqlite3_bind_int64(r->material, 1, sqlite3_column_int64(r->find, 0));
      must(sqlite3_step(r->material) == SQLITE_ROW);
      peer_sink += *(unsigned char *)sqlite3_column_blob(r->material, 0) + *(unsigned char *)sqlite3_column_blob(r->material, 1);
      sqlite3_reset(r->material);
    }
    sqlite3_reset(r->find);
  }
}
static peer *find_new(const char *name, const char *vault, size_t items, int with_material) {
  rows *r = rows_new(vault);
  sqlite3_stmt *all = prepared(r, "SELECT name FROM item WHERE kind = 1 ORDER BY row LIMIT ?1");
  sqlite3_bind_int64(all, 1, items);
  r->names = malloc(items * 16);
  must(r->names);
  while (sqlite3_step(all) == SQLITE_ROW) memcpy(r->names + 16 * r->count++, sqlite3_column_blob(all, 0), 16);
  sqlite3_finalize(all);
  must(r->count == items);
  r->find = prepared(r, COLUMNS "WHERE name = ?1");
  if (with_material) r->material = prepared(r, "SELECT keys, secret FROM material WHERE row = ?1");
  return peer_new(name, run_find, r, items, 0);
}
peer *peer_row_by_name(const char *vault, size_t items) { return find_new("SQLite alone, row by name", vault, items, 0); }
peer *peer_rows_with_material(const char *vault, size_t items) { return find_new("SQLite alone, row and material", vault, items, 1); }

static void run_scan(peer *p, long n) {
  rows *r = p->context;
  static unsigned char plain[65536], aad[256], tag[16];
  for (long i = 0; i < n; i++) {
    while (sqlite3_step(r->find) == SQLITE_ROW) {
      const unsigned char *meta = sqlite3_column_blob(r->find, 11);
      int size = sqlite3_column_bytes(r->find, 11), l;
      peer_sink += *meta + sqlite3_column_int64(r->find, 0) + *(unsigned char *)sqlite3_column_blob(r->find, 1);
      if (!p->a) continue;
      // The key is another one, so the tag is wrong; the work is the same, and the code still reads the result.
      size -= 34;
      must(EVP_CipherInit_ex2(r->opening, NULL, NULL, meta + 6, -1, NULL) > 0);
      must(EVP_CipherUpdate(r->opening, NULL, &l, aad, 205) > 0);
      must(EVP_CipherUpdate(r->opening, plain, &l, meta + 18, size) > 0);
      must(EVP_CIPHER_CTX_ctrl(r->opening, EVP_CTRL_AEAD_SET_TAG, 16, (void *)(meta + 18 + size)) > 0);
      peer_sink += EVP_CipherFinal_ex(r->opening, plain + l, &l) + plain[0];
    }
    sqlite3_reset(r->find);
  }
  (void)tag;
}
static peer *scan_new(const char *name, const char *vault, int opens) {
  rows *r = rows_new(vault);
  static const unsigned char key[32], iv[12];
  r->find = prepared(r, COLUMNS "ORDER BY row");
  r->opening = EVP_CIPHER_CTX_new();
  must(EVP_CipherInit_ex2(r->opening, EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL), key, iv, 0, NULL) > 0);
  return peer_new(name, run_scan, r, opens, 0);
}
peer *peer_rows_scan(const char *vault) { return scan_new("SQLite alone, scan", vault, 0); }
peer *peer_rows_scan_open(const char *vault) { return scan_new("C, scan and one opening each", vault, 1); }
