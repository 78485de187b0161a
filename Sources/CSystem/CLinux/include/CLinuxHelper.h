// What the Glibc module lacks about a helper program of ours: the end that starts it, and the helper's own.
#pragma once
#include <sys/types.h>

/// Swift cannot read `environ`. Starts the program that `program` is open on, whatever its path is by now; it gets `name`
/// and, unless that is NULL, `word` as its arguments, the environment of this process, `channel` as 0 and 1 and nothing
/// else but `program` itself as 2, read-only; no signal is blocked or ignored in it. Needs /proc. Returns the process id,
/// or -1 with errno set.
pid_t clinux_spawn_helper(int program, const char *name, const char *word, int channel);

/// prctl is variadic. Gives the process the name that lists and logs show; of a program that is started by its descriptor
/// the kernel knows only the number. Returns 0, or -1 with errno set.
int clinux_name_process(const char *name);

/// Likewise. This process is killed when the thread that started it ends. Returns 0, or -1 with errno set.
int clinux_end_with_parent(void);
