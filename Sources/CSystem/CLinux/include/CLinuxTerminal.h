// What the Glibc module lacks about terminals.
#pragma once
#include <termios.h>

/// A handler of a signal that follows a fault must not be Swift. Until `clinux_release_terminal`, a signal after which a
/// program cannot go on (SIGSEGV, SIGABRT and the like) first gives the terminal the mode `before`, if its mode is still
/// `during`, and then does what it did before. One terminal at a time.
void clinux_guard_terminal(int descriptor, const struct termios *before, const struct termios *during);

/// Those signals do again what they did before.
void clinux_release_terminal(void);
