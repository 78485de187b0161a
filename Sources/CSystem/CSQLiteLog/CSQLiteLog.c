#define _GNU_SOURCE
#include "CSQLiteLog.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

// A log. What SQLite has written and the file lacks yet is `count` bytes from `at` on; reads see both as one.
//
// Other connections read no byte of a commit before SQLite has published it in the shared memory, and with
// synchronous=FULL it publishes only what `log_sync` has put on the disk: until then nobody misses what is gathered.
// A write or a synchronisation that fails makes SQLite roll the transaction back, so what was gathered is worth
// nothing and is dropped; where a read or a question fails the transaction may go on, and it is kept.
// What a transaction leaves that was rolled back is dropped with the lock of writers: the next one, of whatever
// process, goes on at the same place of the file.
struct log {
  sqlite3_file base;
  sqlite3_int64 at;
  int count;
  unsigned char *bytes;
  // Its name, valid until it is closed, and a descriptor of our own, -1 until it is needed. SQLite locks other files
  // only, so closing it drops no lock.
  const char *name;
  int descriptor;
  struct database *database;
};

// What stands behind the database's file in its memory: the file's own methods but for one, and its log.
struct database {
  sqlite3_io_methods methods;
  int (*lock)(sqlite3_file *, int, int, int);
  struct log *log;
};

static _Thread_local struct {
  int (*work)(void *);
  void *context;
} meanwhile;

void csqlitelog_during_sync(int (*work)(void *), void *context) {
  meanwhile.work = work;
  meanwhile.context = context;
}

// A commit of fifteen pages; a larger one is written in as many pieces.
enum { room = 64 << 10 };

static sqlite3_vfs *usual;
static sqlite3_vfs layer;

static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((struct log *)file + 1); }
static struct database *behind(sqlite3_file *file) { return (struct database *)((char *)file + usual->szOsFile); }

// Writes what is gathered. It stays gathered when that fails.
static int flush(struct log *log) {
  if (log->count == 0) return SQLITE_OK;
  sqlite3_file *file = below(&log->base);
  int code = file->pMethods->xWrite(file, log->bytes, log->count, log->at);
  if (code == SQLITE_OK) log->count = 0;
  return code;
}

static int flush_or_drop(struct log *log) {
  int code = flush(log);
  log->count = 0;
  return code;
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at) {
  struct log *log = (struct log *)file;
  if (log->count > 0 && (at != log->at + log->count || count > room - log->count)) {
    int code = flush_or_drop(log);
    if (code != SQLITE_OK) return code;
  }
  if (count > room) return below(file)->pMethods->xWrite(below(file), bytes, count, at);
  if (log->count == 0) log->at = at;
  memcpy(log->bytes + log->count, bytes, (size_t)count);
  log->count += count;
  return SQLITE_OK;
}

// Never 0, 1 or 2: a process that has closed those prints to them all the same, and would write over the log.
static int open_beside(const char *name) {
  int file = open(name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 || file > 2) return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, 3);
  close(file);
  return moved;
}

// Tells the system to write what the file has got; that it has been written is known after a synchronisation only.
static void begin_writing(struct log *log, sqlite3_int64 at, int count) {
  if (log->descriptor < 0) log->descriptor = open_beside(log->name);
  if (log->descriptor >= 0) sync_file_range(log->descriptor, at, count, SYNC_FILE_RANGE_WRITE);
}

// SQLite leaves a transaction that it rolls back in the file and goes on before its end. Whoever recovers the log after
// a crash would find it whole: what was flushed last, with the mark of the commit, is overwritten.
static void take_back(struct log *log, int count) {
  if (count == 0) return;
  int why = errno;
  memset(log->bytes, 0, (size_t)count);
  below(&log->base)->pMethods->xWrite(below(&log->base), log->bytes, count, log->at);
  errno = why;
}

static int log_sync(sqlite3_file *file, int flags) {
  struct log *log = (struct log *)file;
  int count = log->count;
  int code = flush_or_drop(log);
  if (code != SQLITE_OK) return code;
  if (meanwhile.work) {
    begin_writing(log, log->at, count);
    if (meanwhile.work(meanwhile.context) != 0) code = SQLITE_IOERR_FSYNC;
  }
  if (code == SQLITE_OK) code = below(file)->pMethods->xSync(below(file), flags);
  if (code != SQLITE_OK) take_back(log, count);
  return code;
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at) {
  struct log *log = (struct log *)file;
  if (at >= log->at && at + count <= log->at + log->count) {
    memcpy(bytes, log->bytes + (at - log->at), (size_t)count);
    return SQLITE_OK;
  }
  int code = flush(log);
  return code == SQLITE_OK ? below(file)->pMethods->xRead(below(file), bytes, count, at) : code;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = flush((struct log *)file);
  return code == SQLITE_OK ? below(file)->pMethods->xTruncate(below(file), size) : code;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
  int code = flush((struct log *)file);
  return code == SQLITE_OK ? below(file)->pMethods->xFileSize(below(file), size) : code;
}

// What is gathered now belongs to a transaction that was not committed.
static int log_close(sqlite3_file *file) {
  struct log *log = (struct log *)file;
  log->database->log = NULL;
  if (log->descriptor >= 0) close(log->descriptor);
  sqlite3_free(log->bytes);
  return below(file)->pMethods->xClose(below(file));
}

static int log_lock(sqlite3_file *file, int level) { return below(file)->pMethods->xLock(below(file), level); }
static int log_unlock(sqlite3_file *file, int level) { return below(file)->pMethods->xUnlock(below(file), level); }
static int log_reserved(sqlite3_file *file, int *is) {
  return below(file)->pMethods->xCheckReservedLock(below(file), is);
}
static int log_control(sqlite3_file *file, int operation, void *argument) {
  return below(file)->pMethods->xFileControl(below(file), operation, argument);
}
static int log_sector(sqlite3_file *file) { return below(file)->pMethods->xSectorSize(below(file)); }
static int log_characteristics(sqlite3_file *file) {
  return below(file)->pMethods->xDeviceCharacteristics(below(file));
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_characteristics,
};

// The first lock is that of writers. From here on another process may write to the log.
static int database_lock(sqlite3_file *file, int first, int count, int flags) {
  struct database *database = behind(file);
  if (database->log && first == 0 && flags & SQLITE_SHM_UNLOCK) database->log->count = 0;
  return database->lock(file, first, count, flags);
}

static int open_database(const char *name, sqlite3_file *file, int flags, int *given) {
  int code = usual->xOpen(usual, name, file, flags, given);
  // A file on a medium that cannot change takes no locks and has no log.
  if (code != SQLITE_OK || file->pMethods->iVersion < 3 || !file->pMethods->xShmLock) return code;
  struct database *database = behind(file);
  database->methods = *file->pMethods;
  database->lock = database->methods.xShmLock;
  database->log = NULL;
  database->methods.xShmLock = database_lock;
  file->pMethods = &database->methods;
  return SQLITE_OK;
}

static int open_log(const char *name, sqlite3_file *file, int flags, int *given) {
  sqlite3_file *main = sqlite3_database_file_object(name);
  if (main->pMethods->iVersion < 3 || main->pMethods->xShmLock != database_lock) return SQLITE_CANTOPEN;
  struct log *log = (struct log *)file;
  memset(log, 0, sizeof *log);
  log->database = behind(main);
  log->name = name;
  log->descriptor = -1;
  log->bytes = sqlite3_malloc(room);
  if (!log->bytes) return SQLITE_NOMEM;
  int code = usual->xOpen(usual, name, below(file), flags, given);
  if (code == SQLITE_OK) {
    log->base.pMethods = &log_methods;
    log->database->log = log;
  } else {
    if (below(file)->pMethods) below(file)->pMethods->xClose(below(file));
    sqlite3_free(log->bytes);
  }
  return code;
}

// Every other file is the usual layer's own.
static int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *given) {
  (void)vfs;
  if (flags & SQLITE_OPEN_MAIN_DB) return open_database(name, file, flags, given);
  if (flags & SQLITE_OPEN_WAL) return open_log(name, file, flags, given);
  return usual->xOpen(usual, name, file, flags, given);
}

// By name: a default that the application has chosen may keep what it needs behind its own structure, which a copy
// lacks, and lock files in a way that other processes with the vault do not.
static void install(void) {
  sqlite3_vfs *found = sqlite3_vfs_find("unix");
  if (!found) return;
  usual = found;
  layer = *usual;
  layer.zName = "vault-log";
  layer.szOsFile = (int)(sizeof(struct log) + sizeof(struct database)) + usual->szOsFile;
  layer.pNext = NULL;
  layer.xOpen = layer_open;
  if (sqlite3_vfs_register(&layer, 0) != SQLITE_OK) usual = NULL;
}

const char *csqlitelog_file_system(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  return usual ? layer.zName : NULL;
}
