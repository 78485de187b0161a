// What the Glibc module lacks for a helper program: for the process that starts it, and for the helper.
#pragma once
#include <sys/types.h>

/// Where `scripts/install-pam` installs the helper program that asks PAM. A package may install it elsewhere: change this line.
#define CLINUX_INSTALLED_HELPER "/usr/libexec/vaultctl/vault-pam"

/// Swift cannot read `environ`. Starts the open file `program`, whatever its path is by now. The program gets `name` and,
/// unless that is NULL, `word` as its arguments, the environment of this process, `channel` as descriptors 0 and 1, and
/// `program` as 2, read-only. It gets no other descriptor, and no signal is blocked or ignored in it. Needs /proc. Returns the process id,
/// or -1 with errno set.
pid_t clinux_spawn_helper(int program, const char *name, const char *word, int channel);

/// prctl is variadic. Sets the name of the process that lists and logs show. Of a program that was started by its
/// descriptor, the kernel knows only the number. Returns 0, or -1 with errno set.
int clinux_name_process(const char *name);

/// Likewise. This process is killed when the thread that started it ends. Returns 0, or -1 with errno set.
int clinux_end_with_parent(void);

/// pidfd_open is missing. A descriptor that can be read when the process, a child of this one, has ended. Close-on-exec. Returns -1 with
/// errno set.
int clinux_watch_process(pid_t process);

/// Swift cannot set `environ`. This process, and the programs that it starts, have these variables (VAR=value, up to NULL) and no
/// others. Nothing is copied.
void clinux_replace_environment(char *variables[]);
