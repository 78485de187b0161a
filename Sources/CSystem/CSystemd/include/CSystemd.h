// sd-bus of libsystemd by dlopen when it is first needed: linking it would cost every start of the tool. Declared by hand,
// so that the build needs no headers of systemd. Its functions with variable arguments, which Swift cannot call, are wrapped
// for the few kinds of calls that are made.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct csystemd_bus csystemd_bus;
typedef struct csystemd_message csystemd_message;

/// Every function returns a negative errno on failure; -ELIBACC when libsystemd is missing or too old.

/// A connection to the system bus that may not be ready yet.
int csystemd_open_system_bus(csystemd_bus **bus);
/// 1 when calls can be made, 0 when not yet.
int csystemd_is_ready(csystemd_bus *bus);
int csystemd_descriptor(csystemd_bus *bus);
int csystemd_events(csystemd_bus *bus);
/// 1 when there is more to do, 0 when nothing is left; `*message` is a message for us, or NULL.
int csystemd_process(csystemd_bus *bus, csystemd_message **message);
void csystemd_close(csystemd_bus *bus);

/// Calls a method with no argument, or with one text. The name of a D-Bus error, cut at `error_count`, goes to `error`.
int csystemd_call(csystemd_bus *bus, const char *destination, const char *path, const char *interface,
                  const char *member, const char *text, uint64_t microseconds, csystemd_message **reply, char *error,
                  size_t error_count);

/// Has logind wait for us before `what` (a list with colons: "sleep"), up to its limit. Returns a descriptor, close-on-exec, whose closing
/// lets it go on.
int csystemd_inhibit(csystemd_bus *bus, const char *service, const char *what, const char *who, const char *why,
                     uint64_t microseconds);

/// Steps into the list of sessions that logind's ListSessions answers with.
int csystemd_enter_sessions(csystemd_message *message);
/// 1 with the user and the path of the next session, which is valid as long as the message; 0 at the end.
int csystemd_next_session(csystemd_message *message, uint32_t *user, const char **path);

/// Begins a call as above and does not wait for its answer, which comes in order with the other messages.
int csystemd_begin_call(csystemd_bus *bus, const char *destination, const char *path, const char *interface,
                        const char *member, const char *text, uint64_t *call);
/// Whether a message answers that call, with a result or with an error.
bool csystemd_answers(csystemd_message *message, uint64_t call);
/// The name of the D-Bus error in a message; NULL when the message is not an error.
const char *csystemd_error(csystemd_message *message);

/// The next argument; valid as long as the message. 0 at the end.
int csystemd_read_text(csystemd_message *message, char type, const char **text);
int csystemd_read_boolean(csystemd_message *message, int *value);
/// Steps into an array of texts.
int csystemd_enter_texts(csystemd_message *message);
const char *csystemd_sender(csystemd_message *message);
const char *csystemd_interface(csystemd_message *message);
const char *csystemd_member(csystemd_message *message);
const char *csystemd_path(csystemd_message *message);
void csystemd_release(csystemd_message *message);
