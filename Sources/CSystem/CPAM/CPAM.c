#define _GNU_SOURCE
#include "CPAM.h"
#include <dlfcn.h>
#include <stdbool.h>
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

enum { success = 0, conversation_error = 19, most_messages = 32, user_item = 2 };
enum { echo_off = 1, echo_on = 2 };
static const int disallow_null_password = 1;

extern int pam_start(const char *, const char *, const struct conversation *, void **);
extern int pam_end(void *, int);
extern int pam_authenticate(void *, int);
extern int pam_acct_mgmt(void *, int);
extern int pam_get_item(const void *, int, const void **);

struct cpam_session {
  void *handle;
  cpam_ask ask;
  void *context;
  /// The first fault stays, because a module may ignore it and report success.
  bool has_fault;
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
  int ok = count >= 1 && count <= most_messages && messages && responses;
  struct response *all = ok ? calloc((size_t)count, sizeof *all) : NULL;
  ok = all != NULL;
  for (int i = 0; ok && i < count; i++) {
    const struct message *message = messages[i];
    ok = message && message->text && session->ask(session->context, message->style, message->text, &all[i].text) == 0;
    ok = ok && (all[i].text || (message->style != echo_off && message->style != echo_on));
  }
  if (ok) {
    *responses = all;
    return success;
  }
  session->has_fault = true;
  if (all) drop(all, count);
  if (responses) *responses = NULL;
  return conversation_error;
}

typedef int (*start_in)(const char *, const char *, const struct conversation *, const char *, void **);

static int start(const char *service, const char *user, cpam_place place, const struct conversation *conversation,
                 void **handle) {
  if (!place.function) return pam_start(service, user, conversation, handle);
  // A pointer to an object from dlsym becomes one to a function: the cast that POSIX promises to work.
  start_in function = NULL;
  *(void **)(&function) = dlsym(RTLD_DEFAULT, place.function);
  return function ? function(service, user, conversation, place.folder, handle) : -2;
}

int cpam_start(const char *service, const char *user, cpam_place place, cpam_ask ask, void *context,
               cpam_session **session) {
  cpam_session *made = calloc(1, sizeof *made);
  if (!made) return -3;
  made->ask = ask;
  made->context = context;
  struct conversation conversation = {converse, made};
  int result = start(service, user, place, &conversation, &made->handle);
  if (result == success) {
    *session = made;
    return success;
  }
  if (made->handle) pam_end(made->handle, result);
  free(made);
  return result;
}

int cpam_authenticate(cpam_session *session) { return pam_authenticate(session->handle, disallow_null_password); }

int cpam_check_account(cpam_session *session) { return pam_acct_mgmt(session->handle, disallow_null_password); }

bool cpam_is_user(cpam_session *session, const char *user) {
  const void *now = NULL;
  return pam_get_item(session->handle, user_item, &now) == success && now && strcmp(now, user) == 0;
}

bool cpam_end(cpam_session *session, int result) {
  pam_end(session->handle, result);
  bool has_fault = session->has_fault;
  free(session);
  return has_fault;
}
