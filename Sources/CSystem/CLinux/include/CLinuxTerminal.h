// What the Glibc module lacks about terminals.
#pragma once
#include <stdint.h>
#include <termios.h>

/// A handler of a signal that follows a fault must not be Swift. Until `clinux_release_terminal`, a signal after which a
/// program cannot continue (SIGSEGV, SIGABRT and the like) first sets the mode `before`, if the terminal is still in the
/// mode `during`, and then does what it did without this call. One terminal at a time.
void clinux_guard_terminal(int descriptor, const struct termios *before, const struct termios *during);

/// Restores what those signals did before.
void clinux_release_terminal(void);

/// The number of the terminal behind a descriptor: /dev/tty and /dev/console have other ones. Returns 0, or -1 with errno set.
int clinux_terminal_number(int terminal, uint64_t *number);

/// vhangup is about the terminal of a session, and Swift refuses fork. Makes worthless all descriptors of a terminal that processes
/// have open, also `terminal` itself; it can be opened again. EBUSY if the terminal controls a session. Returns 0, or -1 with errno set.
///
/// Only for a process of one thread that has the rights of root.
int clinux_hang_up(int terminal);
