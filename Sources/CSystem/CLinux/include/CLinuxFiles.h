// What the Glibc module lacks about files and processes.
#pragma once
#include <stdint.h>

/// The Glibc module has no statfs. The type of the file system that contains `descriptor` (also O_PATH), as in
/// statfs(2), or -1 with errno set.
int64_t clinux_file_system_type(int descriptor);

/// The Glibc module has no O_PATH. Opens a directory that is not a symbolic link, for lookups only; close-on-exec.
/// Returns a descriptor, or -1 with errno set.
int clinux_hold_folder(const char *path);

/// major(3) and minor(3) are macros.
uint32_t clinux_device_major(uint64_t device);
uint32_t clinux_device_minor(uint64_t device);

/// The Glibc module has no renameat2. Renames within the directory `descriptor`, failing with EEXIST when `to` exists.
/// Returns 0, or -1 with errno set.
int clinux_rename_exclusively(int descriptor, const char *from, const char *to);

/// `stat` in a header would take it from the Glibc module.
typedef struct {
  uint64_t device, inode, link_count;
  int64_t byte_count;
  uint32_t mode, owner;
} clinux_status;

/// Whether this process may write what `name` names in `folder`; `.` is the directory. True where the system does not let it ask.
int clinux_may_write(int folder, const char *name);

/// The Glibc module has no statx. The status of a name, without following a link, as the file system has it now and not as the kernel
/// remembers it: FUSE lets it remember for a while. Returns 0, or -1 with errno set.
int clinux_fresh_status(int folder, const char *name, clinux_status *about);

/// The Glibc module has no renameat2. Exchanges two names in one step: both exist before and after. Fails with EINVAL on a
/// file system that cannot, with ENOSYS or EPERM where the system does not have or denies the call. Returns 0, or -1 with errno set.
int clinux_exchange(const char *one, const char *other);

/// Takes the lock that excludes all connections of SQLite, as a lock of the open file: on the bytes from 0x40000000, of
/// which every connection locks a part. Does not wait: EAGAIN when another process has the database open. Returns a descriptor, or -1 with errno set;
/// closing it releases the lock.
int clinux_hold_database(const char *path);

/// The Glibc module has no F_OFD_SETLK. Takes that lock on a file that is open for writing, without a wait. Returns 0, or -1 with errno set:
/// EAGAIN when a process has the database open. The lock belongs to the open file.
int clinux_lock_database(int file);

/// Releases it, and leaves the file open. Returns 0, or -1 with errno set.
int clinux_unlock_database(int file);

/// Renames, failing with EEXIST when `to` exists; on any file system. Returns 0, or -1 with errno set.
int clinux_rename_to_free(const char *from, const char *to);

/// The Glibc module has no O_TMPFILE. Makes a file of mode 0600 that has no name in any folder, for reading and writing: without
/// `clinux_name_file` nothing is left of it when it is closed. Returns a descriptor, or -1 with errno set, which is EOPNOTSUPP, EISDIR
/// or EINVAL where there are no such files.
int clinux_unnamed_file(const char *folder);

/// Makes a file of mode 0600 for reading and writing that never has a name, or has lost it when this returns. Returns a descriptor, or -1 with
/// errno set.
int clinux_scratch_file(const char *folder);

/// Gives it a name, failing with EEXIST when the name exists. Returns 0, or -1 with errno set.
int clinux_name_file(int file, const char *path);

/// pthread_atfork takes handlers that must not be Swift. How often this process and its ancestors have forked since
/// the first call: a value read before `fork` differs from one read in the child.
uint32_t clinux_fork_count(void);

/// openat is variadic. Returns a descriptor, or -1 with errno set.
int clinux_create(int folder, const char *name, int flags, uint32_t mode);
