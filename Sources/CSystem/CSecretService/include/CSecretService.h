// The Secret Service through libsecret, which is loaded when it is first asked for and never linked.
//
// Each call makes a connection of its own to the bus, runs on a thread of its own and ends by its deadline: a call
// that is stuck is cancelled, and when that does not help it is left behind, to free what it has when it wakes up.
//
// Why C: GLib's constructors and messages are variadic, which Swift cannot call, and what libsecret takes are
// structures that Swift would have to lay out by hand.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How a call ended.
typedef enum {
  SECRET_SERVICE_DONE = 0,
  SECRET_SERVICE_NO_LIBRARY,       // libsecret is not installed, or too old
  SECRET_SERVICE_NO_BUS,           // the session bus cannot be reached, or went away
  SECRET_SERVICE_NO_SERVICE,       // no program on the bus offers the service
  SECRET_SERVICE_FOREIGN,          // another user's program offers it
  SECRET_SERVICE_TIMED_OUT,        // no answer before the deadline
  SECRET_SERVICE_GONE,             // the service ended before it answered
  SECRET_SERVICE_LOCKED,           // a person has to unlock the collection first
  SECRET_SERVICE_DISMISSED,        // a prompt was dismissed, or could not be shown
  SECRET_SERVICE_NO_COLLECTION,    // there is no default collection
  SECRET_SERVICE_TRANSIENT,        // the default collection is forgotten at the end of the session
  SECRET_SERVICE_FAILED,           // another error, see the message
} secret_service_status;

/// What is looked for, and how. Texts are copied.
typedef struct {
  const char *address;        // of the bus
  const char *vault;          // the vault's id, 32 hexadecimal digits
  const char *key;            // the key's id likewise, or NULL for all keys of the vault
  uint32_t milliseconds;      // until the deadline
  bool may_prompt;            // the service may ask a person to unlock, who gets two minutes on top
  bool is_former;             // items under the schema's name of before the first release are looked for
  uint64_t (*now)(void *);    // what tells the time, in milliseconds; NULL for the monotonic clock
  void *clock;                // the argument of `now`; must live as long as the process
} secret_service_request;

/// One item that matched.
typedef struct {
  char path[256];             // the name by which `secret_service_delete` finds it
  char key[64];               // its key id as the item says, or empty; only when all keys were asked for
  bool is_locked;             // then it has no bytes
  void *value;                // libsecret's, in its own locked memory, wiped with the answer
  const uint8_t *bytes;       // lent by `value`
  size_t byte_count;
} secret_service_item;

/// The result of a call.
typedef struct {
  secret_service_status status;
  char message[256];          // the words of the other side, for a person
  bool is_default_locked;     // the collection that new items go to
  size_t count;
  secret_service_item items[32];
} secret_service_answer;

/// All items of the vault, with their secrets where `loads` and where they are unlocked.
secret_service_answer *secret_service_find(const secret_service_request *request, bool loads);

/// A new item in the default collection. Replaces nothing.
secret_service_answer *secret_service_create(
    const secret_service_request *request, const char *label, const void *secret, size_t byte_count);

/// Removes the item of that path.
secret_service_answer *secret_service_delete(const secret_service_request *request, const char *path);

/// Wipes and frees an answer.
void secret_service_free(secret_service_answer *answer);

/// Whether this process has loaded libsecret.
bool secret_service_is_loaded(void);
