#define _GNU_SOURCE
#include "CPAM.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct message {
  int style;
  const char *text;
};
struct response {
  char *text;
  int code;
};
struct conversation {
  int (*function)(int count, const struct message **messages, struct response **responses, void *context);
  void *context;
};

enum { success = 0, conversation_error = 19, buffer_error = 5, most_messages = 32, user_item = 2 };
enum { echo_off = 1, echo_on = 2, error_text = 3, info_text = 4 };
static const int disallow_null_password = 1;

struct cpam_session {
  void *handle;
  cpam_ask ask;
  void *context;
  int (*start)(const char *, const char *, const struct conversation *, void **);
  int (*start_in)(const char *, const char *, const struct conversation *, const char *, void **);
  int (*end)(void *, int);
  int (*authenticate)(void *, int);
  int (*check_account)(void *, int);
  int (*get_item)(const void *, int, const void **);
};

char *cpam_answer(const void *bytes, size_t count) {
  char *answer = malloc(count + 1);
  if (!answer) return NULL;
  memcpy(answer, bytes, count);
  answer[count] = 0;
  return answer;
}

static void drop(struct response *responses, int count) {
  for (int i = 0; i < count; i++) {
    if (!responses[i].text) continue;
    explicit_bzero(responses[i].text, strlen(responses[i].text));
    free(responses[i].text);
  }
  free(responses);
}

static int converse(int count, const struct message **messages, struct response **responses, void *context) {
  struct cpam_session *session = context;
  if (count < 1 || count > most_messages || !messages || !responses || !session) return conversation_error;
  *responses = NULL;
  struct response *all = calloc((size_t)count, sizeof *all);
  if (!all) return buffer_error;
  for (int i = 0; i < count; i++) {
    const struct message *message = messages[i];
    int ok = message && message->text && session->ask(session->context, message->style, message->text, &all[i].text) == 0;
    int asks = ok && (message->style == echo_off || message->style == echo_on);
    if (!ok || (asks && !all[i].text)) {
      drop(all, count);
      return conversation_error;
    }
  }
  *responses = all;
  return success;
}

// A pointer to an object from dlsym becomes one to a function: the cast that POSIX promises to work.
#define FIND(library, name, into) (*(void **)(&(into)) = dlsym(library, name))

static int load(cpam_session *session, const char *start_in) {
  void *library = dlopen("libpam.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return -1;
  int found = start_in ? FIND(library, start_in, session->start_in) != NULL
                       : FIND(library, "pam_start", session->start) != NULL;
  found = found && FIND(library, "pam_end", session->end) && FIND(library, "pam_authenticate", session->authenticate) &&
          FIND(library, "pam_acct_mgmt", session->check_account) && FIND(library, "pam_get_item", session->get_item);
  return found ? 0 : -2;
}

int cpam_start(const char *service, const char *user, cpam_place place, cpam_ask ask, void *context,
               cpam_session **session) {
  cpam_session *made = calloc(1, sizeof *made);
  if (!made) return -3;
  made->ask = ask;
  made->context = context;
  struct conversation conversation = {converse, made};
  int result = load(made, place.function);
  if (result == 0)
    result = place.function ? made->start_in(service, user, &conversation, place.folder, &made->handle)
                            : made->start(service, user, &conversation, &made->handle);
  if (result == 0) {
    *session = made;
  } else {
    if (made->handle) made->end(made->handle, result);
    free(made);
  }
  return result;
}

int cpam_authenticate(cpam_session *session) { return session->authenticate(session->handle, disallow_null_password); }

int cpam_check_account(cpam_session *session) { return session->check_account(session->handle, disallow_null_password); }

int cpam_is_user(cpam_session *session, const char *user) {
  const void *now = NULL;
  return session->get_item(session->handle, user_item, &now) == success && now && strcmp(now, user) == 0;
}

void cpam_end(cpam_session *session, int result) {
  session->end(session->handle, result);
  free(session);
}
