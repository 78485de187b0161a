#define _GNU_SOURCE
#include <sys/types.h>
#include "CSecretService.h"
#include "libsecret.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const name_of_service = "org.freedesktop.secrets";
static const char *const name_of_bus = "org.freedesktop.DBus";
static const char *const schema = "vaultctl.DeviceKey";
/// What it was called before the first release. Items under it are looked for, to say where a key is, and never made.
static const char *const former_schema = "vault.DeviceKey";
/// How long a call that was cancelled gets to end by itself.
enum { GRACE_MILLISECONDS = 300 };
/// How long a person gets for the service's own prompt.
enum { PROMPT_MILLISECONDS = 120000 };
/// How often the caller's own clock is looked at.
enum { LOOK_MILLISECONDS = 2 };

// MARK: one call

typedef struct call {
  const libsecret_functions *s;
  void (*run)(struct call *);
  char *address, *vault, *key, *label, *path;
  bool may_prompt, is_former, loads;
  uint32_t milliseconds;
  uint64_t (*now)(void *);
  void *clock;
  void *secret;             // a SecretValue

  GObject *cancellable, *connection, *service;
  char owner[256];          // the unique name of the program that offers the service
  char *default_path;
  secret_service_answer *answer;

  pthread_mutex_t lock;
  pthread_cond_t ended;
  uint64_t deadline;        // in milliseconds; later while there is a prompt
  bool is_ended, is_abandoned;
} call;

static char *copied(const char *text) { return text ? strdup(text) : NULL; }

void secret_service_free(secret_service_answer *answer) {
  if (!answer) return;
  for (size_t i = 0; i < answer->count; i++) {
    if (answer->items[i].value) libsecret()->secret_value_unref(answer->items[i].value);
  }
  free(answer);
}

static void free_call(call *c) {
  const libsecret_functions *s = c->s;
  if (c->service) s->g_object_unref(c->service);
  // The last reference closes the connection, and the service forgets its session. An asynchronous close would keep it
  // until the main loop of this thread runs, which it never does.
  if (c->connection) s->g_object_unref(c->connection);
  if (c->secret) s->secret_value_unref(c->secret);
  if (c->cancellable) s->g_object_unref(c->cancellable);
  if (c->default_path) s->g_free(c->default_path);
  secret_service_free(c->answer);
  free(c->address), free(c->vault), free(c->key), free(c->label), free(c->path);
  pthread_cond_destroy(&c->ended);
  pthread_mutex_destroy(&c->lock);
  free(c);
}

static call *new_call(const secret_service_request *request, void (*run)(call *)) {
  call *c = calloc(1, sizeof *c);
  if (!c || !(c->answer = calloc(1, sizeof *c->answer))) abort();
  c->s = libsecret();
  c->run = run;
  c->address = copied(request->address), c->vault = copied(request->vault), c->key = copied(request->key);
  c->milliseconds = request->milliseconds, c->may_prompt = request->may_prompt, c->is_former = request->is_former;
  c->now = request->now, c->clock = request->clock;
  c->cancellable = c->s->g_cancellable_new();
  pthread_mutex_init(&c->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&c->ended, &monotonic);
  pthread_condattr_destroy(&monotonic);
  return c;
}

static uint64_t milliseconds_of(const struct timespec *time) {
  return (uint64_t)time->tv_sec * 1000 + (uint64_t)time->tv_nsec / 1000000;
}

static uint64_t time_of(const call *c) {
  if (c->now) return c->now(c->clock);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return milliseconds_of(&now);
}

/// Moves the deadline. The waiting thread reads it again when the old one has passed.
static void set_deadline(call *c, uint32_t milliseconds) {
  pthread_mutex_lock(&c->lock);
  c->deadline = time_of(c) + milliseconds;
  pthread_cond_signal(&c->ended);
  pthread_mutex_unlock(&c->lock);
}

// MARK: how it failed

static bool fail(call *c, secret_service_status status, const char *message) {
  if (c->answer->status == SECRET_SERVICE_DONE) {
    c->answer->status = status;
    if (message) {
      strncpy(c->answer->message, message, sizeof c->answer->message - 1);
    }
  }
  return false;
}

static bool is_one_of(const char *name, const char *const *names) {
  for (; name && *names; names++) {
    if (strcmp(name, *names) == 0) return true;
  }
  return false;
}

/// Judges an error of GLib, and clears it.
static bool failed(call *c, GError *error) {
  static const char *const gone[] = {
    "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected", NULL,
  };
  static const char *const locked[] = {"org.freedesktop.Secret.Error.IsLocked", NULL};
  enum { SECRET_ERROR_IS_LOCKED = 2, IO_ERROR_TIMED_OUT = 24 };
  const libsecret_functions *s = c->s;
  char *remote = error ? s->g_dbus_error_get_remote_error(error) : NULL;
  secret_service_status status = SECRET_SERVICE_FAILED;
  // Some calls of libsecret have GLib's limit of 25 s, which comes first when a person may be asked.
  if (s->g_cancellable_is_cancelled(c->cancellable) ||
      (error && error->domain == s->g_io_error_quark() && error->code == IO_ERROR_TIMED_OUT)) {
    status = SECRET_SERVICE_TIMED_OUT;
  } else if (!c->connection || s->g_dbus_connection_is_closed(c->connection)) {
    status = SECRET_SERVICE_NO_BUS;
  } else if (is_one_of(remote, locked) ||
             (error && error->domain == s->secret_error_get_quark() && error->code == SECRET_ERROR_IS_LOCKED)) {
    status = SECRET_SERVICE_LOCKED;
  } else if (is_one_of(remote, gone)) {
    status = SECRET_SERVICE_GONE;
  }
  if (error) s->g_dbus_error_strip_remote_error(error);
  fail(c, status, error ? error->message : NULL);
  s->g_free(remote);
  s->g_clear_error(&error);
  return false;
}

// MARK: the bus

/// A method of the bus itself; the reply has `type`. The deadline is kept by the cancellable, here and below.
static void *ask_bus(call *c, const char *method, void *arguments, const char *type, GError **error) {
  return c->s->g_dbus_connection_call_sync(
      c->connection, name_of_bus, "/org/freedesktop/DBus", name_of_bus, method, arguments, type, NO_AUTO_START,
      INT_MAX, c->cancellable, error);
}

static bool find_owner(call *c) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  for (int attempt = 0; attempt < 2; attempt++) {
    void *reply = ask_bus(c, "GetNameOwner", s->g_variant_new("(s)", name_of_service), "(s)", &error);
    if (reply) {
      const char *name = NULL;
      s->g_variant_get(reply, "(&s)", &name);
      strncpy(c->owner, name, sizeof c->owner - 1);
      s->g_variant_unref(reply);
      return true;
    }
    if (attempt == 1 || s->g_cancellable_is_cancelled(c->cancellable) ||
        s->g_dbus_connection_is_closed(c->connection)) {
      return failed(c, error);
    }
    s->g_clear_error(&error);
    // No program owns the name. If the bus knows one, it may start it: that makes no key and asks no person.
    reply = ask_bus(c, "StartServiceByName", s->g_variant_new("(su)", name_of_service, 0), "(u)", &error);
    if (!reply) {
      if (s->g_cancellable_is_cancelled(c->cancellable) || s->g_dbus_connection_is_closed(c->connection)) {
        return failed(c, error);
      }
      s->g_dbus_error_strip_remote_error(error);
      fail(c, SECRET_SERVICE_NO_SERVICE, error->message);
      s->g_clear_error(&error);
      return false;
    }
    s->g_variant_unref(reply);
  }
  return false;
}

/// Only a program of this user or of root may be asked. No other can be on a session bus that is in order.
static bool check_owner(call *c) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  void *reply = ask_bus(c, "GetConnectionUnixUser", s->g_variant_new("(s)", c->owner), "(u)", &error);
  if (!reply) return failed(c, error);
  uint32_t user = UINT32_MAX;
  s->g_variant_get(reply, "(u)", &user);
  s->g_variant_unref(reply);
  return user == geteuid() || fail(c, SECRET_SERVICE_FOREIGN, NULL);
}

// SecretService insists on the process's shared connection to the session bus: its constructor sets that property
// whatever was asked for. A subclass whose constructor comes after it sets ours.

static _Thread_local const call *constructing;
static GObject *(*constructor_of_parent)(GType, unsigned, void *);

static GObject *construct(GType type, unsigned count, void *properties) {
  GObject *object = constructor_of_parent(type, count, properties);
  if (constructing) {
    libsecret()->g_object_set(
        object, "g-bus-type", 0, "g-connection", constructing->connection, "g-name", constructing->owner, "g-flags",
        DO_NOT_LOAD_PROPERTIES | DO_NOT_CONNECT_SIGNALS | PROXY_NO_AUTO_START, NULL);
  }
  return object;
}

static void initialize_class(void *class, void *data) {
  (void)data;
  constructor_of_parent = ((GObjectClass *)class)->constructor;
  ((GObjectClass *)class)->constructor = construct;
}

static GType registered_type;

static void register_type(void) {
  const libsecret_functions *s = libsecret();
  GTypeQuery parent = {0};
  s->g_type_query(s->secret_service_get_type(), &parent);
  registered_type = s->g_type_register_static_simple(
      parent.type, "VaultSecretService", parent.class_size, (void *)initialize_class, parent.instance_size, NULL, 0);
}

static GType type_of_service(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_type);
  return registered_type;
}

/// A connection of our own: nothing is shared with the rest of the process, and GLib does not end the process when
/// the bus goes away, as it does with its shared connection. All is sent to the one owner that was found, so that
/// a service that takes its place half way is not asked.
static bool connect_service(call *c) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  c->connection = s->g_dbus_connection_new_for_address_sync(
      c->address, AUTHENTICATION_CLIENT | MESSAGE_BUS_CONNECTION, NULL, c->cancellable, &error);
  if (!c->connection) return failed(c, error);
  if (!find_owner(c) || !check_owner(c)) return false;
  constructing = c;
  c->service = s->g_initable_new(type_of_service(), c->cancellable, &error, "flags", OPEN_SESSION, NULL);
  constructing = NULL;
  return c->service || failed(c, error);
}

/// A property of an object of the service, of `type`; NULL when the call has failed.
static void *property(call *c, const char *path, const char *interface, const char *name, const char *type) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  void *reply = s->g_dbus_connection_call_sync(
      c->connection, c->owner, path, "org.freedesktop.DBus.Properties", "Get",
      s->g_variant_new("(ss)", interface, name), "(v)", NO_AUTO_START, INT_MAX, c->cancellable, &error);
  if (!reply) {
    failed(c, error);
    return NULL;
  }
  void *value = NULL;
  s->g_variant_get(reply, "(v)", &value);
  s->g_variant_unref(reply);
  if (s->g_variant_is_of_type(value, type)) return value;
  s->g_variant_unref(value);
  fail(c, SECRET_SERVICE_FAILED, "it answers with a property of another type");
  return NULL;
}

// MARK: collections and items

/// Finds the default collection. There may be none.
static bool find_default(call *c) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  if (c->default_path) s->g_free(c->default_path);
  c->answer->is_default_locked = false;
  c->default_path = s->secret_service_read_alias_dbus_path_sync(c->service, "default", c->cancellable, &error);
  if (!c->default_path) return error ? failed(c, error) : true;
  void *locked = property(c, c->default_path, "org.freedesktop.Secret.Collection", "Locked", "b");
  if (!locked) return false;
  c->answer->is_default_locked = s->g_variant_get_boolean(locked);
  s->g_variant_unref(locked);
  return true;
}

/// Has the service unlock things, which may show its own prompt. Only that prompt gets a person's time: a service that
/// does not even answer is given up as in every other call.
static bool unlock(call *c, const char *path) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  const char *paths[] = {path};
  void *reply = s->g_dbus_connection_call_sync(
      c->connection, c->owner, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "Unlock",
      s->g_variant_new("(@ao)", s->g_variant_new_objv(paths, 1)), "(aoo)", NO_AUTO_START, INT_MAX, c->cancellable,
      &error);
  if (!reply) return failed(c, error);
  const char *prompt = NULL;
  s->g_variant_get(reply, "(@ao&o)", NULL, &prompt);
  void *unlocked = NULL;
  bool is_asked = strcmp(prompt, "/") != 0;
  if (is_asked) {
    set_deadline(c, PROMPT_MILLISECONDS);
    unlocked = s->secret_service_prompt_at_dbus_path_sync(c->service, prompt, c->cancellable, "ao", &error);
    set_deadline(c, c->milliseconds);
  }
  s->g_variant_unref(reply);
  if (!is_asked) return true;
  if (!unlocked) return error ? failed(c, error) : fail(c, SECRET_SERVICE_DISMISSED, NULL);
  bool is_open = s->g_variant_n_children(unlocked) > 0;
  s->g_variant_unref(unlocked);
  return is_open || fail(c, SECRET_SERVICE_DISMISSED, NULL);
}

static void *attributes(call *c) {
  const libsecret_functions *s = c->s;
  void *table = s->g_hash_table_new((void *)s->g_str_hash, (void *)s->g_str_equal);
  s->g_hash_table_insert(table, "xdg:schema", (void *)(c->is_former ? former_schema : schema));
  s->g_hash_table_insert(table, "vault-id", c->vault);
  if (c->key) s->g_hash_table_insert(table, "key-id", c->key);
  return table;
}

static bool search(call *c, char ***unlocked, char ***locked) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  void *table = attributes(c);
  bool found = s->secret_service_search_for_dbus_paths_sync(
      c->service, NULL, table, c->cancellable, unlocked, locked, &error);
  s->g_hash_table_unref(table);
  return found || failed(c, error);
}

/// Why an item that was found unlocked has no secret: it was locked meanwhile, or deleted.
static bool look_again(call *c, secret_service_item *item) {
  void *locked = property(c, item->path, "org.freedesktop.Secret.Item", "Locked", "b");
  if (locked) {
    item->is_locked = c->s->g_variant_get_boolean(locked);
    c->s->g_variant_unref(locked);
    return true;
  }
  if (c->answer->status != SECRET_SERVICE_FAILED) return false;
  c->answer->status = SECRET_SERVICE_DONE;
  c->answer->message[0] = 0;
  c->answer->count--;  // there is no such item any more; it was the last one
  return true;
}

static bool load_secret(call *c, secret_service_item *item) {
  const libsecret_functions *s = c->s;
  GError *error = NULL;
  item->value = s->secret_service_get_secret_for_dbus_path_sync(c->service, item->path, c->cancellable, &error);
  if (item->value) {
    item->bytes = (const uint8_t *)s->secret_value_get(item->value, &item->byte_count);
    return true;
  }
  if (!error) return look_again(c, item);
  failed(c, error);
  if (c->answer->status != SECRET_SERVICE_LOCKED) return false;
  c->answer->status = SECRET_SERVICE_DONE;
  c->answer->message[0] = 0;
  item->is_locked = true;
  return true;
}

static bool load_key_id(call *c, secret_service_item *item) {
  void *table = property(c, item->path, "org.freedesktop.Secret.Item", "Attributes", "a{ss}");
  if (!table) return false;
  const char *text = NULL;
  if (c->s->g_variant_lookup(table, "key-id", "&s", &text)) strncpy(item->key, text, sizeof item->key - 1);
  c->s->g_variant_unref(table);
  return true;
}

static bool take(call *c, char **paths, bool is_locked) {
  secret_service_answer *answer = c->answer;
  for (; paths && *paths; paths++) {
    if (answer->count == sizeof answer->items / sizeof answer->items[0]) {
      return fail(c, SECRET_SERVICE_FAILED, "it holds too many items of this vault");
    }
    if (strlen(*paths) >= sizeof answer->items[0].path) {
      return fail(c, SECRET_SERVICE_FAILED, "it names an item by a path that is too long");
    }
    secret_service_item *item = &answer->items[answer->count++];
    memset(item, 0, sizeof *item);
    strcpy(item->path, *paths);
    item->is_locked = is_locked;
    if (is_locked) continue;
    if (!c->key && !load_key_id(c, item)) return false;
    if (c->loads && !load_secret(c, item)) return false;
  }
  return true;
}

static void run_find(call *c) {
  const libsecret_functions *s = c->s;
  char **unlocked = NULL, **locked = NULL;
  if (!connect_service(c) || !find_default(c) || !search(c, &unlocked, &locked)) return;
  bool has_unlocked = unlocked && *unlocked, has_locked = locked && *locked;
  if (c->may_prompt && !has_unlocked && (has_locked || c->answer->is_default_locked)) {
    bool is_open = unlock(c, has_locked ? *locked : c->default_path);
    s->g_strfreev(unlocked), s->g_strfreev(locked);
    unlocked = locked = NULL;
    if (!is_open || !find_default(c) || !search(c, &unlocked, &locked)) return;
  }
  if (take(c, unlocked, false)) take(c, locked, true);
  s->g_strfreev(unlocked), s->g_strfreev(locked);
}

static bool check_default(call *c) {
  const libsecret_functions *s = c->s;
  if (!find_default(c)) return false;
  if (!c->default_path) return fail(c, SECRET_SERVICE_NO_COLLECTION, NULL);
  GError *error = NULL;
  char *transient = s->secret_service_read_alias_dbus_path_sync(c->service, "session", c->cancellable, &error);
  if (error) return failed(c, error);
  bool is_transient = transient && strcmp(transient, c->default_path) == 0;
  s->g_free(transient);
  if (is_transient) return fail(c, SECRET_SERVICE_TRANSIENT, NULL);
  if (!c->answer->is_default_locked) return true;
  return c->may_prompt ? unlock(c, c->default_path) : fail(c, SECRET_SERVICE_LOCKED, NULL);
}

static void run_create(call *c) {
  const libsecret_functions *s = c->s;
  if (!connect_service(c) || !check_default(c)) return;
  void *label = s->g_variant_ref_sink(s->g_variant_new("s", c->label));
  void *described = s->g_variant_ref_sink(s->g_variant_new_parsed(
      "{'xdg:schema': %s, 'vault-id': %s, 'key-id': %s}", schema, c->vault, c->key));
  void *properties = s->g_hash_table_new((void *)s->g_str_hash, (void *)s->g_str_equal);
  s->g_hash_table_insert(properties, "org.freedesktop.Secret.Item.Label", label);
  s->g_hash_table_insert(properties, "org.freedesktop.Secret.Item.Attributes", described);
  GError *error = NULL;
  char *path = s->secret_service_create_item_dbus_path_sync(
      c->service, c->default_path, properties, c->secret, 0, c->cancellable, &error);
  s->g_hash_table_unref(properties);
  s->g_variant_unref(label);
  s->g_variant_unref(described);
  if (path) {
    s->g_free(path);
  } else if (error) {
    failed(c, error);
  } else {
    fail(c, SECRET_SERVICE_DISMISSED, NULL);
  }
}

static void run_delete(call *c) {
  GError *error = NULL;
  if (!connect_service(c)) return;
  if (!c->s->secret_service_delete_item_dbus_path_sync(c->service, c->path, c->cancellable, &error)) {
    if (error) failed(c, error);
    else fail(c, SECRET_SERVICE_DISMISSED, NULL);
  }
}

// MARK: threads and deadlines

static void *thread(void *argument) {
  call *c = argument;
  void *context = c->s->g_main_context_new();
  c->s->g_main_context_push_thread_default(context);
  c->run(c);
  c->s->g_main_context_pop_thread_default(context);
  c->s->g_main_context_unref(context);
  pthread_mutex_lock(&c->lock);
  c->is_ended = true;
  bool is_abandoned = c->is_abandoned;
  pthread_cond_signal(&c->ended);
  pthread_mutex_unlock(&c->lock);
  if (is_abandoned) free_call(c);
  return NULL;
}

/// Waits for the end until the deadline, wherever that is moved to; whether the end came.
static bool wait_for_end(call *c) {
  pthread_mutex_lock(&c->lock);
  for (uint64_t now; !c->is_ended && (now = time_of(c)) < c->deadline;) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    // The caller's clock may go at any pace.
    uint64_t end = milliseconds_of(&until) + (c->now ? LOOK_MILLISECONDS : c->deadline - now);
    until = (struct timespec){.tv_sec = (time_t)(end / 1000), .tv_nsec = (long)(end % 1000) * 1000000};
    pthread_cond_timedwait(&c->ended, &c->lock, &until);
  }
  bool is_ended = c->is_ended;
  pthread_mutex_unlock(&c->lock);
  return is_ended;
}

/// Leaves a call to itself, unless it has just ended.
static bool abandon(call *c) {
  pthread_mutex_lock(&c->lock);
  c->is_abandoned = !c->is_ended;
  bool is_abandoned = c->is_abandoned;
  pthread_mutex_unlock(&c->lock);
  return is_abandoned;
}

static secret_service_answer *plain_answer(secret_service_status status) {
  secret_service_answer *answer = calloc(1, sizeof *answer);
  if (!answer) abort();
  answer->status = status;
  return answer;
}

static secret_service_answer *perform(call *c) {
  // GLib's threads inherit from this one: none of them may take a signal that is meant for the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  set_deadline(c, c->milliseconds);
  pthread_t id;
  int problem = pthread_create(&id, NULL, thread, c);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (problem) {
    free_call(c);
    return plain_answer(SECRET_SERVICE_FAILED);
  }
  pthread_detach(id);
  if (!wait_for_end(c)) {
    c->s->g_cancellable_cancel(c->cancellable);
    set_deadline(c, GRACE_MILLISECONDS);
    if (!wait_for_end(c) && abandon(c)) return plain_answer(SECRET_SERVICE_TIMED_OUT);
  }
  secret_service_answer *answer = c->answer;
  c->answer = NULL;
  free_call(c);
  return answer;
}

secret_service_answer *secret_service_find(const secret_service_request *request, bool loads) {
  if (!libsecret()) return plain_answer(SECRET_SERVICE_NO_LIBRARY);
  call *c = new_call(request, run_find);
  c->loads = loads;
  return perform(c);
}

secret_service_answer *secret_service_create(
    const secret_service_request *request, const char *label, const void *secret, size_t byte_count) {
  if (!libsecret()) return plain_answer(SECRET_SERVICE_NO_LIBRARY);
  call *c = new_call(request, run_create);
  c->label = copied(label);
  c->secret = c->s->secret_value_new(secret, (ssize_t)byte_count, "text/plain");
  return perform(c);
}

secret_service_answer *secret_service_delete(const secret_service_request *request, const char *path) {
  if (!libsecret()) return plain_answer(SECRET_SERVICE_NO_LIBRARY);
  call *c = new_call(request, run_delete);
  c->path = copied(path);
  return perform(c);
}
