// libpam, which only vault-pam links. Declared by hand, so that the build needs no headers of PAM; the
// numbers are those of Linux-PAM, fixed since 1996.
#pragma once
#include <stddef.h>

/// Asks or shows one message. `style`: 1 asks without echo, 2 asks with echo, 3 shows an error, 4 shows a text.
/// Puts an answer made by cpam_answer into `*answer` where one is asked for. Returns 0; anything else ends the conversation.
typedef int (*cpam_ask)(void *context, int style, const char *message, char **answer);

typedef struct cpam_session cpam_session;

/// Where the service is looked up, if not in the directory of the system: the name of a function of libpam that takes the
/// directory as its fourth argument, and the directory. Both NULL: the directory of the system.
typedef struct {
  const char *function;
  const char *folder;
} cpam_place;

/// Returns 0 and a session, -2 when libpam lacks the function, -3 without memory, else PAM's result.
int cpam_start(const char *service, const char *user, cpam_place place, cpam_ask ask, void *context,
               cpam_session **session);
/// Both refuse an account without a password. PAM's results: 0 is success.
int cpam_authenticate(cpam_session *session);
int cpam_check_account(cpam_session *session);
/// Whether the modules verified that user, because they may change it.
_Bool cpam_is_user(cpam_session *session, const char *user);
/// Lets the modules clean up. Returns whether one of them, now or before, asked for something that could not be answered or
/// shown. That is a denial, whatever the module returns.
_Bool cpam_end(cpam_session *session, int result);

/// The bytes as a string that a module wipes and frees; NULL without memory.
char *cpam_answer(const void *bytes, size_t count);
