// What the Glibc module lacks for a process that stays while its program runs, and ends as the program ends.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// A variable with the path of a descriptor of the program, which only the program's process knows.
typedef struct {
  /// `VAR=/proc//fd/N`, in memory that has room for `clinux_most_digits` bytes more.
  char *variable;
  /// Where the number of the process belongs in it.
  size_t place;
} clinux_own_path;

/// The most digits of the number of a process.
enum { clinux_most_digits = 10 };

/// A descriptor for the program.
typedef struct {
  int descriptor;
  /// The number that the program finds it under; -1 for its own.
  int number;
} clinux_passed;

/// A program that is about to start.
typedef struct {
  char *const *words;
  /// VAR=value, up to NULL, also the variables of `paths`: each replaces what has the same name in the environment of this process.
  char *const *added;
  const clinux_own_path *paths;
  size_t path_count;
  const clinux_passed *passed;
  size_t passed_count;
  /// Its standard output and standard error; -1 for those of this process.
  int output, error;
  /// Whether these signals, which this process ignores, are ignored in the program too.
  bool ignores_broken_pipes, ignores_file_sizes;
} clinux_program;

/// Swift refuses fork, and posix_spawn cannot bind a program to its parent. Starts the program, found along PATH, as a child that the kernel
/// kills when the calling thread ends. It gets the signal mask of this process; what this process handles does in it what it does by default.
/// From then on each signal that would end, stop or continue this process is sent on to the program, except one that the terminal has sent to
/// both. The bytes of `added` are not copied: they may be where a child of fork has none.
///
/// Returns the process id, or -1 with errno set and `problem` set to the index of the descriptor that could not be passed, or to
/// `passed_count` if the program could not be started. Only one program at a time.
pid_t clinux_start_program(const clinux_program *program, size_t *problem);

/// Waits for the end of the program. When the terminal or a signal that was sent on has stopped it, this process stops too. When it has
/// ended, all signals that were sent on do what they do by default. Returns 0 with what waitpid says in `status`, or -1 with errno set.
int clinux_await_program(pid_t process, int *status);

/// Closes what a program inherits, from descriptor 3 on: whoever waits for the end of one waits for the program alone.
void clinux_close_inherited(void);
