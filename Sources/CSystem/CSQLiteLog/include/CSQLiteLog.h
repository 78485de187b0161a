// A file system layer of SQLite (https://sqlite.org/vfs.html) above the usual one, for the write-ahead log alone: what is
// appended to the log is gathered and written in one piece. SQLite makes two system calls for each page of a commit;
// a commit of twelve pages makes one of twenty-five.
#pragma once

/// The name to open a database with, which is valid for ever; NULL when SQLite has no file system or no memory.
const char *csqlitelog_file_system(void);

/// `work(context)` runs within the next synchronisations of a log by this thread, each time after the system was told to
/// begin writing: the disk needs longer than a processor for what a program has to do. It touches no database. Other
/// than 0 from it fails the synchronisation, and with it the commit. NULL for none.
void csqlitelog_during_sync(int (*work)(void *context), void *context);
