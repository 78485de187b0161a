// What the Glibc module lacks about starting programs.
#pragma once
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/// Swift's CommandLine reads /proc/self/cmdline, which a container may not have. How many arguments this process has, with its name.
int clinux_argument_count(void);

/// One of them; NULL beyond the last one.
const char *clinux_argument(int index);

/// How many system calls can be probed.
int clinux_probed_calls(void);

/// syscall is variadic. The name of a call that this system does not have, or that a filter denies; NULL for one that it allows. The
/// probe changes nothing.
const char *clinux_denied_call(int index);

/// The Glibc module has no memfd_create. An empty file in memory that can be sealed; close-on-exec. Returns a
/// descriptor, or -1 with errno set.
int clinux_memory_file(void);

/// fcntl is variadic and F_ADD_SEALS is missing. After this call, the file and its size can no longer be changed. Returns 0, or -1
/// with errno set.
int clinux_seal(int descriptor);

/// Swift cannot read `environ`. Becomes the program, found along PATH, with the environment of this process, in which
/// `added` (VAR=value, up to NULL) replaces what has the same name; the bytes of `added` are not copied here. Returns
/// -1 with errno set; on success it does not return.
int clinux_become(char *const words[], char *const added[]);

/// posix_spawnp with the environment of this process: `input` and `output` become 0 and 1, /dev/null where they are
/// -1 and always for 2; nothing else is open, no signal is blocked. Returns the process id, or -1 with errno set.
pid_t clinux_spawn(char *const words[], int input, int output);

/// posix_spawn cannot bind a program to its parent. Starts one that the kernel kills when the calling thread ends, however
/// it ends. `input` and `output` become 0 and 1, 2 is /dev/null; nothing else is open, no signal is blocked or ignored.
/// Returns 0 with the process id in `process`, or an errno value.
int clinux_spawn_bound(
  pid_t *process, const char *path, char *const words[], char *const variables[], int input, int output);

/// Starts the program of a person in the foreground, where words[0] says; it is not searched for. It has `input` as 0, `output` as 1,
/// descriptor 2 of this process and no other, and stays in the process group, which the terminal belongs to. `added` (VAR=value) replaces variables of the
/// environment; VAR= without a value removes one. Returns the process id, or -1 with errno set.
pid_t clinux_spawn_shown(char *const words[], char *const added[], int input, int output);

/// As clinux_spawn_bound, but starts the open file `program`, whatever its path is by now, with `name` as its only argument and
/// the environment of this process. It leads a session of its own, so it has no terminal, and a signal to its group reaches
/// what it started. It gets `program` as 3, read-only, because an interpreter opens it again. Needs /proc.
int clinux_spawn_bound_file(pid_t *process, int program, const char *name, int input, int output);

/// Kills the program that clinux_spawn_bound_file started last and what it started, if clinux_forget_bound_group was not called
/// for it. Async-signal-safe.
void clinux_kill_bound_group(void);

/// To be called before the program is waited for: afterwards its number may be that of another process.
void clinux_forget_bound_group(pid_t process);

/// The Glibc module lacks pipe2. Both ends are close-on-exec from the beginning, so that no program that another thread starts
/// meanwhile gets one. Returns 0, or -1 with errno set.
int clinux_pipe(int ends[2]);

/// Makes a pipe hold at least so many bytes: the Glibc module lacks F_SETPIPE_SZ. Returns 0, or -1 with errno set.
int clinux_pipe_room(int end, int byte_count);

/// Swift refuses fork. The child leads its own session and keeps only the descriptor `kept` (-1 for none), with
/// 0, 1 and 2 on /dev/null. The signals of `blocked` are blocked. Its parent is not this process. Returns 3 in the
/// child, where `kept` has that number; -2 in the parent, once the child is like this; -1 with errno set when there is
/// no child.
///
/// Only for a process of one thread.
int clinux_detach(int kept, const sigset_t *blocked);

/// Gives up the rights of root for good, and has this process become a program, which is open with close-on-exec. Descriptors 0, 1 and 2
/// stay, those in `kept`, at most 8, become 3 and the numbers after it, and all others end. With none in `kept`, all stay as they are.
/// Returns only if it failed: -1 with errno set.
int clinux_become_user(
  uid_t user, gid_t group, int program, char *const words[], char *const environment[], const int kept[], int count);
