// The parts of SQLite's interface that Swift cannot use: variadic calls, destructor constants that are casts, composed macros.
#pragma once
#include <sqlite3.h>
#include <stddef.h>

/// sqlite3_db_config is variadic. Returns a result code.
static inline int csqlite_configure(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}

/// SQLITE_TRANSIENT is a cast; and bind_blob makes NULL of an empty array. Copies the bytes. Returns a result code.
static inline int csqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// The same for text. Returns a result code.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text) {
  return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}

/// Extended result codes are composed by shifts.
enum {
  csqlite_constraint_unique = SQLITE_CONSTRAINT_UNIQUE,
  csqlite_constraint_primary_key = SQLITE_CONSTRAINT_PRIMARYKEY,
  csqlite_constraint_row = SQLITE_CONSTRAINT_ROWID,
  csqlite_cannot_open_symlink = SQLITE_CANTOPEN_SYMLINK,
  csqlite_io_error_write = SQLITE_IOERR_WRITE,
  csqlite_io_error_short_read = SQLITE_IOERR_SHORT_READ,
};
