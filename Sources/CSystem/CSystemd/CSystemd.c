#define _GNU_SOURCE
#include "CSystemd.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

/// sd_bus_error of <systemd/sd-bus.h>.
struct bus_error {
  const char *name;
  const char *message;
  int need_free;
};

static struct {
  int (*open_system)(csystemd_bus **);
  int (*is_ready)(csystemd_bus *);
  int (*get_fd)(csystemd_bus *);
  int (*get_events)(csystemd_bus *);
  int (*process)(csystemd_bus *, csystemd_message **);
  void (*close)(csystemd_bus *);
  csystemd_bus *(*unref)(csystemd_bus *);
  int (*new_call)(csystemd_bus *, csystemd_message **, const char *, const char *, const char *, const char *);
  int (*append_basic)(csystemd_message *, char, const void *);
  int (*call)(csystemd_bus *, csystemd_message *, uint64_t, struct bus_error *, csystemd_message **);
  int (*send)(csystemd_bus *, csystemd_message *, uint64_t *);
  int (*get_reply_cookie)(csystemd_message *, uint64_t *);
  const struct bus_error *(*get_error)(csystemd_message *);
  void (*error_free)(struct bus_error *);
  int (*read_basic)(csystemd_message *, char, void *);
  int (*enter_container)(csystemd_message *, char, const char *);
  int (*exit_container)(csystemd_message *);
  const char *(*get_sender)(csystemd_message *);
  const char *(*get_interface)(csystemd_message *);
  const char *(*get_member)(csystemd_message *);
  const char *(*get_path)(csystemd_message *);
  csystemd_message *(*message_unref)(csystemd_message *);
} sd;

static int loaded = -ELIBACC;
static pthread_once_t loading = PTHREAD_ONCE_INIT;

// A pointer to an object from dlsym becomes one to a function: the cast that POSIX promises to work.
#define FIND(name, into) (*(void **)(&(sd.into)) = dlsym(library, "sd_bus_" name))

static void load(void) {
  void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  if (FIND("open_system", open_system) && FIND("is_ready", is_ready) && FIND("get_fd", get_fd) &&
      FIND("get_events", get_events) && FIND("process", process) &&
      FIND("close", close) && FIND("unref", unref) && FIND("message_new_method_call", new_call) &&
      FIND("message_append_basic", append_basic) && FIND("call", call) && FIND("error_free", error_free) &&
      FIND("send", send) && FIND("message_get_reply_cookie", get_reply_cookie) && FIND("message_get_error", get_error) &&
      FIND("message_read_basic", read_basic) && FIND("message_enter_container", enter_container) &&
      FIND("message_exit_container", exit_container) &&
      FIND("message_get_sender", get_sender) && FIND("message_get_interface", get_interface) &&
      FIND("message_get_member", get_member) && FIND("message_get_path", get_path) &&
      FIND("message_unref", message_unref))
    loaded = 0;
}

int csystemd_open_system_bus(csystemd_bus **bus) {
  pthread_once(&loading, load);
  return loaded < 0 ? loaded : sd.open_system(bus);
}

int csystemd_is_ready(csystemd_bus *bus) { return sd.is_ready(bus); }
int csystemd_descriptor(csystemd_bus *bus) { return sd.get_fd(bus); }
int csystemd_events(csystemd_bus *bus) { return sd.get_events(bus); }

int csystemd_process(csystemd_bus *bus, csystemd_message **message) {
  *message = NULL;
  return sd.process(bus, message);
}

void csystemd_close(csystemd_bus *bus) {
  sd.close(bus);
  sd.unref(bus);
}

static int make_call(csystemd_bus *bus, csystemd_message **call, const char *destination, const char *path,
                     const char *interface, const char *member, const char *text) {
  int result = sd.new_call(bus, call, destination, path, interface, member);
  return result >= 0 && text ? sd.append_basic(*call, 's', text) : result;
}

int csystemd_call(csystemd_bus *bus, const char *destination, const char *path, const char *interface,
                  const char *member, const char *text, uint64_t microseconds, csystemd_message **reply, char *error,
                  size_t error_count) {
  struct bus_error refused = {0};
  csystemd_message *call = NULL;
  *reply = NULL;
  error[0] = 0;
  int result = make_call(bus, &call, destination, path, interface, member, text);
  if (result >= 0) result = sd.call(bus, call, microseconds, &refused, reply);
  if (result < 0 && refused.name) {
    strncpy(error, refused.name, error_count - 1);
    error[error_count - 1] = 0;
  }
  sd.error_free(&refused);
  if (call) sd.message_unref(call);
  return result;
}

int csystemd_inhibit(csystemd_bus *bus, const char *service, const char *what, const char *who, const char *why,
                     uint64_t microseconds) {
  struct bus_error refused = {0};
  csystemd_message *call = NULL, *reply = NULL;
  const char *const texts[] = {what, who, why, "delay"};
  int held = -1;
  int result = sd.new_call(bus, &call, service, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit");
  for (size_t index = 0; result >= 0 && index < 4; index++) result = sd.append_basic(call, 's', texts[index]);
  if (result >= 0) result = sd.call(bus, call, microseconds, &refused, &reply);
  if (result >= 0) result = sd.read_basic(reply, 'h', &held);
  // The descriptor belongs to the message.
  if (result >= 0) held = fcntl(held, F_DUPFD_CLOEXEC, 3);
  if (result >= 0 && held < 0) result = -errno;
  sd.error_free(&refused);
  if (call) sd.message_unref(call);
  if (reply) sd.message_unref(reply);
  return result < 0 ? result : held;
}

int csystemd_enter_sessions(csystemd_message *message) { return sd.enter_container(message, 'a', "(susso)"); }

int csystemd_next_session(csystemd_message *message, uint32_t *user, const char **path) {
  const char *unused = NULL;
  int result = sd.enter_container(message, 'r', "susso");
  if (result <= 0) return result;
  if ((result = sd.read_basic(message, 's', &unused)) < 0 || (result = sd.read_basic(message, 'u', user)) < 0 ||
      (result = sd.read_basic(message, 's', &unused)) < 0 || (result = sd.read_basic(message, 's', &unused)) < 0 ||
      (result = sd.read_basic(message, 'o', path)) < 0 || (result = sd.exit_container(message)) < 0)
    return result;
  return 1;
}

int csystemd_begin_call(csystemd_bus *bus, const char *destination, const char *path, const char *interface,
                        const char *member, const char *text, uint64_t *call) {
  csystemd_message *made = NULL;
  int result = make_call(bus, &made, destination, path, interface, member, text);
  if (result >= 0) result = sd.send(bus, made, call);
  if (made) sd.message_unref(made);
  return result;
}

bool csystemd_answers(csystemd_message *message, uint64_t call) {
  uint64_t answered = 0;
  return sd.get_reply_cookie(message, &answered) >= 0 && answered == call;
}

const char *csystemd_error(csystemd_message *message) {
  const struct bus_error *error = sd.get_error(message);
  return error ? error->name : NULL;
}

int csystemd_read_text(csystemd_message *message, char type, const char **text) {
  return sd.read_basic(message, type, text);
}
int csystemd_read_boolean(csystemd_message *message, int *value) { return sd.read_basic(message, 'b', value); }
int csystemd_enter_texts(csystemd_message *message) { return sd.enter_container(message, 'a', "s"); }
const char *csystemd_sender(csystemd_message *message) { return sd.get_sender(message); }
const char *csystemd_interface(csystemd_message *message) { return sd.get_interface(message); }
const char *csystemd_member(csystemd_message *message) { return sd.get_member(message); }
const char *csystemd_path(csystemd_message *message) { return sd.get_path(message); }
void csystemd_release(csystemd_message *message) { sd.message_unref(message); }
