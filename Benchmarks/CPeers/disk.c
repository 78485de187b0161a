#include "support.h"
#include <fcntl.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <unistd.h>

typedef struct { int file; off_t end; char *path; sqlite3 *db; sqlite3_stmt *insert; int64_t next; } disk;

// A new name for each peer, because two of a kind may be open at the same time.
static char *path_in(const char *folder, const char *name) {
  static int serial;
  char *path = NULL;
  must(asprintf(&path, "%s/%d-%s", folder, ++serial, name) > 0);
  unlink(path);
  return path;
}

static void run_over(peer *p, long n) {
  disk *d = p->context;
  static char page[4096];
  for (long i = 0; i < n; i++) {
    page[0]++;
    must(pwrite(d->file, page, 4096, (off_t)(d->end++ % 256) * 4096) == 4096);
    must(fdatasync(d->file) == 0);
  }
}
static void run_behind(peer *p, long n) {
  disk *d = p->context;
  static char page[4096];
  for (long i = 0; i < n; i++) {
    page[0]++;
    must(pwrite(d->file, page, 4096, d->end) == 4096);
    d->end += 4096;
    must(fdatasync(d->file) == 0);
  }
}
peer *peer_fdatasync(const char *folder, int appends) {
  disk *d = calloc(1, sizeof *d);
  must(d);
  d->path = path_in(folder, appends ? "append" : "overwrite");
  d->file = open(d->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  must(d->file >= 0);
  char *space = calloc(256, 4096);
  must(space && pwrite(d->file, space, 256 * 4096, 0) == 256 * 4096 && fsync(d->file) == 0);
  free(space);
  if (appends) d->end = 256 * 4096;
  return appends ? peer_new("fdatasync of 4 KiB, appended", run_behind, d, 0, 0)
                 : peer_new("fdatasync of 4 KiB, overwritten", run_over, d, 0, 0);
}

static void sql(sqlite3 *db, const char *text) { must(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK); }
// A new database with a write-ahead log, each commit on the disk.
static sqlite3 *with_log(const char *folder, const char *name) {
  sqlite3 *db = NULL;
  char *path = path_in(folder, name);
  must(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
  free(path);
  sql(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
  return db;
}
static void run_sqlite_put(peer *p, long n) {
  disk *d = p->context;
  static char blob[256];
  for (long i = 0; i < n; i++) {
    sqlite3_bind_int64(d->insert, 1, ++d->next * 7919 % 1000003);
    sqlite3_bind_blob(d->insert, 2, blob, sizeof blob, SQLITE_STATIC);
    must(sqlite3_step(d->insert) == SQLITE_DONE);
    sqlite3_reset(d->insert);
  }
}
peer *peer_sqlite_put(const char *folder, int grows) {
  disk *d = calloc(1, sizeof *d);
  must(d);
  d->db = with_log(folder, grows ? "sqlite-grows.db" : "sqlite.db");
  sql(d->db, "CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)");
  must(sqlite3_prepare_v3(d->db, "INSERT OR REPLACE INTO t VALUES(?1, ?2)", -1, SQLITE_PREPARE_PERSISTENT, &d->insert, NULL) == SQLITE_OK);
  peer *p = peer_new(grows ? "SQLite, one row, WAL growing" : "SQLite, one row", run_sqlite_put, d, 0, 0);
  if (!grows) run_sqlite_put(p, 1200); // past the first checkpoint, the log is overwritten
  return p;
}

// What a HOTP code writes, without a vault around it: a new head row, a new state, an entry of the log, in one commit.
typedef struct { sqlite3 *db; sqlite3_stmt *begin, *head, *state, *entry, *commit; int64_t next; } rows3;
static void step(sqlite3_stmt *statement) {
  must(sqlite3_step(statement) == SQLITE_DONE);
  sqlite3_reset(statement);
}
static void run_sqlite_rows(peer *p, long n) {
  rows3 *r = p->context;
  static char blob[300];
  for (long i = 0; i < n; i++) {
    blob[0]++;
    sqlite3_bind_int64(r->entry, 1, ++r->next);
    sqlite3_bind_blob(r->entry, 2, blob, 200, SQLITE_STATIC);
    sqlite3_bind_blob(r->head, 1, blob, 290, SQLITE_STATIC);
    sqlite3_bind_blob(r->state, 1, blob, 200, SQLITE_STATIC);
    step(r->begin), step(r->state), step(r->entry), step(r->head), step(r->commit);
  }
}
static sqlite3_stmt *prepared(sqlite3 *db, const char *text) {
  sqlite3_stmt *statement = NULL;
  must(sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK);
  return statement;
}
peer *peer_sqlite_rows(const char *folder) {
  rows3 *r = calloc(1, sizeof *r);
  must(r);
  r->db = with_log(folder, "sqlite-rows.db");
  sql(r->db, "CREATE TABLE head(k INTEGER PRIMARY KEY, v BLOB);"
             "CREATE TABLE state(k INTEGER PRIMARY KEY, v BLOB); CREATE TABLE entry(k INTEGER PRIMARY KEY, v BLOB);"
             "INSERT INTO head VALUES(1, zeroblob(290)); INSERT INTO state VALUES(1, zeroblob(200))");
  r->begin = prepared(r->db, "BEGIN IMMEDIATE"), r->commit = prepared(r->db, "COMMIT");
  r->head = prepared(r->db, "UPDATE head SET v = ?1 WHERE k = 1");
  r->state = prepared(r->db, "UPDATE state SET v = ?1 WHERE k = 1");
  r->entry = prepared(r->db, "INSERT INTO entry VALUES(?1, ?2)");
  peer *p = peer_new("SQLite, the same three rows", run_sqlite_rows, r, 0, 0);
  run_sqlite_rows(p, 600); // past the first checkpoint
  return p;
}

// What a put writes, without a vault around it, into a vault's own schema: the item under its row and three unique
// values, its material, four values of the index, an entry of the log, the head row.
typedef struct { sqlite3 *db; sqlite3_stmt *begin, *item, *material, *blind, *entry, *head, *commit; int64_t next; } put_rows;
static void random16(unsigned char value[16]) {
  static uint64_t state = 88172645463325252;
  for (int i = 0; i < 16; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    value[i] = (unsigned char)(state >> 32);
  }
}
static void run_put_rows(peer *p, long n) {
  put_rows *r = p->context;
  static char blob[300];
  unsigned char unique[7][16];
  for (long i = 0; i < n; i++) {
    int64_t row = ++r->next;
    for (int j = 0; j < 7; j++) random16(unique[j]);
    step(r->begin);
    sqlite3_bind_int64(r->item, 1, row);
    for (int j = 0; j < 3; j++) sqlite3_bind_blob(r->item, 2 + j, unique[j], 16, SQLITE_STATIC);
    sqlite3_bind_blob(r->item, 5, blob, 180, SQLITE_STATIC);
    step(r->item);
    sqlite3_bind_int64(r->material, 1, row);
    sqlite3_bind_blob(r->material, 2, blob, 115, SQLITE_STATIC);
    sqlite3_bind_blob(r->material, 3, blob, 107, SQLITE_STATIC);
    step(r->material);
    for (int j = 3; j < 7; j++) {
      sqlite3_bind_blob(r->blind, 1, unique[j], 16, SQLITE_STATIC);
      sqlite3_bind_int64(r->blind, 2, row);
      step(r->blind);
    }
    sqlite3_bind_int64(r->entry, 1, row);
    sqlite3_bind_blob(r->entry, 2, blob, 200, SQLITE_STATIC);
    sqlite3_bind_blob(r->entry, 3, blob, 32, SQLITE_STATIC);
    step(r->entry);
    sqlite3_bind_blob(r->head, 1, blob, 290, SQLITE_STATIC);
    step(r->head);
    step(r->commit);
  }
}
peer *peer_sqlite_put_rows(const char *folder) {
  put_rows *r = calloc(1, sizeof *r);
  must(r);
  r->db = with_log(folder, "sqlite-put-rows.db");
  sql(r->db, "PRAGMA secure_delete=ON; CREATE TABLE head(id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"
             "CREATE TABLE item(row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL,"
             " primary_key BLOB NOT NULL UNIQUE, name BLOB UNIQUE, flags INTEGER NOT NULL, class INTEGER NOT NULL,"
             " generation INTEGER NOT NULL, version INTEGER NOT NULL, material INTEGER NOT NULL, expires INTEGER,"
             " meta BLOB NOT NULL) STRICT;"
             "CREATE TABLE material(row INTEGER PRIMARY KEY, keys BLOB NOT NULL, secret BLOB NOT NULL) STRICT;"
             "CREATE TABLE blind(value BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(value, row)) STRICT, WITHOUT ROWID;"
             "CREATE TABLE audit(sequence INTEGER PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL) STRICT;"
             "INSERT INTO head VALUES(1, zeroblob(290))");
  r->begin = prepared(r->db, "BEGIN IMMEDIATE"), r->commit = prepared(r->db, "COMMIT");
  r->item = prepared(r->db, "INSERT INTO item VALUES(?1, ?2, 1, ?3, ?4, 4, 129, 1, 1, 1, NULL, ?5)");
  r->material = prepared(r->db, "INSERT INTO material VALUES(?1, ?2, ?3)");
  r->blind = prepared(r->db, "INSERT OR IGNORE INTO blind VALUES(?1, ?2)");
  r->entry = prepared(r->db, "INSERT INTO audit VALUES(?1, ?2, ?3)");
  r->head = prepared(r->db, "UPDATE head SET body = ?1 WHERE id = 1");
  peer *p = peer_new("SQLite, the same eight rows", run_put_rows, r, 0, 0);
  run_put_rows(p, 1000); // as many items as the vault it is compared with; past the first checkpoints
  return p;
}

// LMDB, loaded: its public functions.
#define LMDB "liblmdb.so.0"
typedef struct { size_t size; void *data; } mdb_value;
typedef struct {
  void *env;
  unsigned table;
  size_t items;
  void *reading;
  int (*begin)(void *, void *, unsigned, void **);
  int (*commit)(void *);
  int (*put)(void *, unsigned, mdb_value *, mdb_value *, unsigned);
  int (*get)(void *, unsigned, mdb_value *, mdb_value *);
} lmdb;
const char *peer_lmdb_version(void) {
  char *(*version)(int *, int *, int *) = peer_symbol(LMDB, "mdb_version");
  return version ? version(NULL, NULL, NULL) : NULL;
}
static lmdb *lmdb_new(const char *folder, const char *name) {
  int (*create)(void **) = peer_symbol(LMDB, "mdb_env_create");
  int (*map)(void *, size_t) = peer_symbol(LMDB, "mdb_env_set_mapsize");
  int (*open_env)(void *, const char *, unsigned, mode_t) = peer_symbol(LMDB, "mdb_env_open");
  int (*open_table)(void *, const char *, unsigned, unsigned *) = peer_symbol(LMDB, "mdb_dbi_open");
  if (!create || !map || !open_env || !open_table) return NULL;
  lmdb *l = calloc(1, sizeof *l);
  must(l);
  *(void **)&l->begin = peer_symbol(LMDB, "mdb_txn_begin");
  *(void **)&l->commit = peer_symbol(LMDB, "mdb_txn_commit");
  *(void **)&l->put = peer_symbol(LMDB, "mdb_put");
  *(void **)&l->get = peer_symbol(LMDB, "mdb_get");
  char *path = path_in(folder, name);
  void *transaction;
  must(create(&l->env) == 0 && map(l->env, 1ul << 30) == 0 && open_env(l->env, path, 0x4000 /* MDB_NOSUBDIR */, 0600) == 0);
  must(l->begin(l->env, NULL, 0, &transaction) == 0 && open_table(transaction, NULL, 0, &l->table) == 0 && l->commit(transaction) == 0);
  return l;
}
static inline void scatter(uint64_t i, uint64_t key[2]) {
  uint64_t z = i + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  key[0] = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  key[1] = z;
}
static void lmdb_put(lmdb *l, void *transaction, uint64_t i) {
  static char blob[256];
  uint64_t key[2];
  scatter(i, key);
  mdb_value k = {16, key}, v = {sizeof blob, blob};
  must(l->put(transaction, l->table, &k, &v, 0) == 0);
}
static void run_lmdb_put(peer *p, long n) {
  lmdb *l = p->context;
  for (long i = 0; i < n; i++) {
    void *transaction;
    must(l->begin(l->env, NULL, 0, &transaction) == 0);
    lmdb_put(l, transaction, l->items++);
    must(l->commit(transaction) == 0);
  }
}
peer *peer_lmdb_put(const char *folder) {
  lmdb *l = lmdb_new(folder, "put.lmdb");
  return l ? peer_new("LMDB, one key", run_lmdb_put, l, 0, 0) : NULL;
}
static void run_lmdb_get(peer *p, long n) {
  static uint64_t x = 88172645463325252;
  lmdb *l = p->context;
  for (long i = 0; i < n; i++) {
    uint64_t key[2];
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    scatter(x % l->items, key);
    mdb_value k = {16, key}, v;
    must(l->get(l->reading, l->table, &k, &v) == 0);
    peer_sink += *(unsigned char *)v.data;
  }
}
peer *peer_lmdb_get(const char *folder, size_t items) {
  lmdb *l = lmdb_new(folder, "get.lmdb");
  if (!l) return NULL;
  void *transaction;
  must(l->begin(l->env, NULL, 0, &transaction) == 0);
  for (l->items = 0; l->items < items; l->items++) lmdb_put(l, transaction, l->items);
  must(l->commit(transaction) == 0);
  must(l->begin(l->env, NULL, 0x20000 /* MDB_RDONLY */, &l->reading) == 0);
  return peer_new("LMDB, one key of 16 bytes", run_lmdb_get, l, 0, 0);
}

// What many programs do: seal all items as one JSON text and write it to a new file, which replaces the old one.
typedef struct { char *folder, *path, *fresh; size_t items; } json;
static void run_json(peer *p, long n) {
  json *j = p->context;
  for (long r = 0; r < n; r++) {
    size_t capacity = j->items * 512 + 64, length = 0;
    char *text = malloc(capacity);
    unsigned char *sealed = malloc(capacity), key[32] = {1}, iv[12] = {2}, tag[16];
    must(text && sealed);
    text[length++] = '[';
    for (size_t i = 0; i < j->items; i++)
      length += snprintf(text + length, capacity - length,
        "{\"class\":1,\"service\":\"svc%zu.example.com\",\"account\":\"user%zu\",\"label\":\"label %zu\",\"created\":1700000000,"
        "\"secret\":\"YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh\"},", i % 977, i, i);
    int l;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    must(EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, iv) > 0);
    must(EVP_EncryptUpdate(c, sealed, &l, (unsigned char *)text, (int)length) > 0);
    must(EVP_EncryptFinal_ex(c, sealed + l, &l) > 0 && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
    EVP_CIPHER_CTX_free(c);
    int file = open(j->fresh, O_RDWR | O_CREAT | O_TRUNC, 0600), folder = open(j->folder, O_RDONLY | O_DIRECTORY);
    must(write(file, sealed, length) == (ssize_t)length && write(file, tag, 16) == 16 && fsync(file) == 0);
    must(rename(j->fresh, j->path) == 0 && fsync(folder) == 0);
    close(file);
    close(folder);
    free(text);
    free(sealed);
  }
}
peer *peer_json_put(const char *folder, size_t items) {
  json *j = malloc(sizeof *j);
  must(j);
  *j = (json){strdup(folder), path_in(folder, "sealed.json"), path_in(folder, "sealed.json.new"), items};
  return peer_new("sealed JSON file written anew", run_json, j, items, 0);
}
