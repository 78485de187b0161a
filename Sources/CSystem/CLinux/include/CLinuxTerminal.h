// What the Glibc module lacks about terminals.
#pragma once
#include <termios.h>

/// A handler of a signal that follows a fault must not be Swift. Until `clinux_release_terminal`, a signal after which a
/// program cannot continue (SIGSEGV, SIGABRT and the like) first sets the mode `before`, if the terminal is still in the
/// mode `during`, and then does what it did without this call. One terminal at a time.
void clinux_guard_terminal(int descriptor, const struct termios *before, const struct termios *during);

/// Restores what those signals did before.
void clinux_release_terminal(void);
