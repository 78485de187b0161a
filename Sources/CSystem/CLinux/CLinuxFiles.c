#define _GNU_SOURCE
#include "CLinuxFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int clinux_hold_folder(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

uint32_t clinux_device_major(uint64_t device) { return major(device); }
uint32_t clinux_device_minor(uint64_t device) { return minor(device); }

int64_t clinux_file_system_type(int descriptor) {
  struct statfs about;
  if (fstatfs(descriptor, &about) != 0) return -1;
  return (int64_t)(uint32_t)about.f_type;
}

// EINVAL: not on this file system. ENOSYS and EPERM: not in this kernel, or a filter of system calls denies it (seccomp; an old one
// answers EPERM). That is no answer about the names: an older call gives it.
static bool lacks_renameat2(int problem) { return problem == EINVAL || problem == ENOSYS || problem == EPERM; }

int clinux_rename_exclusively(int descriptor, const char *from, const char *to) {
  if (renameat2(descriptor, from, descriptor, to, RENAME_NOREPLACE) == 0) return 0;
  if (!lacks_renameat2(errno)) return -1;
  // link fails with EEXIST just the same.
  if (linkat(descriptor, from, descriptor, to, 0) != 0) return -1;
  return unlinkat(descriptor, from, 0);
}

int clinux_may_write(int folder, const char *name) {
  // Without flags it is the older call, which asks for the real user: the same one in every program that is not setuid.
  bool is_real = getuid() == geteuid() && getgid() == getegid();
  if (faccessat(folder, name, W_OK, is_real ? 0 : AT_EACCESS) == 0) return 1;
  if (errno != EPERM && errno != ENOSYS) return 0;
  // EPERM is true of a file that root has made immutable. Where even its being there cannot be asked about, the call is denied, and
  // that is no answer: the write will say it.
  return faccessat(folder, name, F_OK, is_real ? 0 : AT_EACCESS) != 0 && (errno == EPERM || errno == ENOSYS);
}

int clinux_fresh_status(int folder, const char *name, clinux_status *about) {
  struct statx fresh;
  if (statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &fresh) != 0) {
    // Before Linux 4.11, or denied.
    struct stat kept;
    if (errno == ENOENT || fstatat(folder, name, &kept, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    *about = (clinux_status){kept.st_dev, kept.st_ino, kept.st_nlink, kept.st_size, kept.st_mode, kept.st_uid};
    return 0;
  }
  uint64_t device = makedev(fresh.stx_dev_major, fresh.stx_dev_minor);
  *about = (clinux_status){
      device, fresh.stx_ino, fresh.stx_nlink, (int64_t)fresh.stx_size, fresh.stx_mode, fresh.stx_uid};
  return 0;
}

int clinux_exchange(const char *one, const char *other) {
  // The function of the C library says EINVAL where there is no such call.
  return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

static int set_database_lock(int file, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};
  return fcntl(file, F_OFD_SETLK, &lock);
}

int clinux_lock_database(int file) { return set_database_lock(file, F_WRLCK); }
int clinux_unlock_database(int file) { return set_database_lock(file, F_UNLCK); }

int clinux_hold_database(const char *path) {
  int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  if (clinux_lock_database(file) == 0) return file;
  // The file may be open in this process too, and close() would end the locks of the whole process on it: then
  // another program takes the file for unused, and removes its log. So the descriptor stays open.
  return -1;
}

int clinux_rename_to_free(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (!lacks_renameat2(errno)) return -1;
  // link fails with EEXIST just the same.
  if (link(from, to) == 0) return unlink(from);
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) return -1;
  // A file system without links, such as FAT or FUSE: whoever makes the name first has it, and the rename replaces only that file.
  int place = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (place < 0) return -1;
  close(place);
  if (rename(from, to) == 0) return 0;
  int problem = errno;
  unlink(to);
  errno = problem;
  return -1;
}

int clinux_unnamed_file(const char *folder) {
  int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  char name[32];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  // Without /proc, or where links are denied, it could never be named. A link to the directory itself is made nowhere: EEXIST.
  if (access(name, F_OK) == 0) {
    int denied = linkat(AT_FDCWD, name, AT_FDCWD, folder, AT_SYMLINK_FOLLOW) != 0 && (errno == ENOSYS || errno == EPERM);
    if (!denied) return file;
  }
  close(file);
  errno = EOPNOTSUPP;
  return -1;
}

int clinux_scratch_file(const char *folder) {
  int file = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  // A file system without files that have no name: this one loses its name at once.
  char name[PATH_MAX];
  if (snprintf(name, sizeof name, "%s/.vaultctl-scratch-XXXXXX", folder) >= (int)sizeof name) {
    errno = ENAMETOOLONG;
    return -1;
  }
  file = mkostemp(name, O_CLOEXEC);
  if (file >= 0) unlink(name);
  return file;
}

int clinux_name_file(int file, const char *path) {
  char name[32];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static atomic_uint forks;
static pthread_once_t watching = PTHREAD_ONCE_INIT;
static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch(void) { pthread_atfork(NULL, NULL, count_fork); }

uint32_t clinux_fork_count(void) {
  pthread_once(&watching, watch);
  return atomic_load_explicit(&forks, memory_order_relaxed);
}

int clinux_create(int folder, const char *name, int flags, uint32_t mode) {
  return openat(folder, name, flags, (mode_t)mode);
}
