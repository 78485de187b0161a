// What the Glibc module lacks for a program that serves others on a socket.
#pragma once
#include <stdint.h>
#include <sys/types.h>

/// The Glibc module has no SOCK_CLOEXEC as a number, and the address of a socket is a cast. A listening socket of packets with that
/// path, mode 0600 whatever the umask is; close-on-exec, and accepting does not wait. Returns a descriptor, or -1 with errno set.
int clinux_listen_packets(const char *path);

/// accept4 is missing. Close-on-exec; reading does not wait. Returns a descriptor, or -1 with errno set.
int clinux_accept(int listening);

/// Whether the descriptor is a listening socket of packets in the file system, as a service manager passes it: 1, or 0.
int clinux_is_listening_packets(int descriptor);

/// The Glibc module has no timerfd. A timer of the clock that counts suspend too; it is readable from `milliseconds` since boot
/// on, and also when the machine wakes after that. Returns a descriptor, or -1 with errno set.
int clinux_boot_timer(void);

/// Sets it; 0 for never. Returns 0, or -1 with errno set.
int clinux_set_boot_timer(int timer, uint64_t milliseconds);

/// The address of a socket is a cast. Sends `text` to the service manager that listens at `path`, which begins with '@' in the
/// abstract namespace. Returns 0, or -1 with errno set.
int clinux_notify(const char *path, const char *text);

/// Swift refuses fork. Starts the open file `program`, whatever its path is by now, with `words` as its arguments, its name first, and the
/// environment of this process: in a session of its own, in the directory `/`, with 0, 1 and 2 on /dev/null and `ready` as 3; nothing else is
/// open, no signal is blocked or ignored. Its parent is not this process. Needs /proc. Returns 0 once it was started, or -1 with
/// errno set; that it could not become the program, the end of `ready` tells.
int clinux_start_detached(int program, char *const words[], int ready);
