#define _GNU_SOURCE
#include "CArgon2.h"
#include <argon2.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <semaphore.h>
#include <signal.h>

// For each slice of a pass (RFC 9106 §3.4), libargon2 starts one thread for each lane, and joins them all. When the second or a
// later one of them does not start, it frees what the earlier ones still use (0~20171227, which Debian 12 has). When the first
// one does not start, nothing runs, and libargon2 returns an error.
//
// So all threads of a slice are started with its first one, and wait. If one of them does not start, the first one fails for
// libargon2. The derivation then begins again in the same memory, without threads.

enum { most_lanes = 64, stack_size = 256 << 10 };

/// A thread that waits for the lane that it is to compute.
struct seat {
  pthread_t thread;
  sem_t is_called;
  /// NULL sends the thread away.
  void *(*start)(void *);
  void *argument;
};

/// What the calling thread derives with.
struct derivation {
  void *memory;
  size_t byte_count;
  uint32_t lanes;
  /// The lane that libargon2 starts next.
  uint32_t next;
  struct seat seats[most_lanes];
};

static _Thread_local struct derivation *current;

static void *sit(void *argument) {
  struct seat *seat = argument;
  while (sem_wait(&seat->is_called) != 0) {}
  return seat->start == NULL ? NULL : seat->start(seat->argument);
}

static void call(struct seat *seat, void *(*start)(void *), void *argument) {
  seat->start = start;
  seat->argument = argument;
  sem_post(&seat->is_called);
}

/// Sends the threads away that wait in the seats from `first` to before `end`.
static void dismiss(struct derivation *derivation, uint32_t first, uint32_t end) {
  for (uint32_t lane = first; lane < end; lane++) call(&derivation->seats[lane], NULL, NULL);
  for (uint32_t lane = first; lane < end; lane++) pthread_join(derivation->seats[lane].thread, NULL);
}

/// One thread in each seat, or none at all.
static bool fill(struct derivation *derivation) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_size);
  // A signal is for the thread that waits, not for one that computes.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  uint32_t lane = 0;
  while (lane < derivation->lanes &&
         pthread_create(&derivation->seats[lane].thread, &attributes, sit, &derivation->seats[lane]) == 0)
    lane++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (lane == derivation->lanes) return true;
  dismiss(derivation, 0, lane);
  return false;
}

bool cargon2_hand_over(pthread_t *thread, void *(*start)(void *), void *argument, int *result) {
  struct derivation *derivation = current;
  if (derivation == NULL) return false;
  if (derivation->next == 0) {
    // These threads are real ones.
    current = NULL;
    bool is_filled = fill(derivation);
    current = derivation;
    if (!is_filled) {
      *result = EAGAIN;
      return true;
    }
  }
  struct seat *seat = &derivation->seats[derivation->next];
  derivation->next = (derivation->next + 1) % derivation->lanes;
  *thread = seat->thread;
  call(seat, start, argument);
  *result = 0;
  return true;
}

bool cargon2_has_threads(void) {
  // libargon2 finds the first `pthread_create` of the program, as `dlsym` does.
  if (cargon2_pthread_create == NULL || dlsym(RTLD_DEFAULT, "pthread_create") != (void *)cargon2_pthread_create) return false;
  // libargon2 ends its threads by `pthread_exit`, which ends the process where glibc cannot load its unwinder. This loads it.
  void *frame;
  return backtrace(&frame, 1) == 1;
}

static int give_memory(uint8_t **memory, size_t byte_count) {
  bool fits = current != NULL && byte_count <= current->byte_count;
  *memory = fits ? current->memory : NULL;
  return fits ? 0 : -1;
}

/// The caller frees it.
static void keep_memory(uint8_t *memory, size_t byte_count) {
  (void)memory;
  (void)byte_count;
}

/// libargon2 declares its input as mutable, and only reads it.
static uint8_t *mutable(cargon2_bytes bytes) { return bytes.count == 0 ? NULL : (uint8_t *)bytes.start; }

int cargon2_derive(const cargon2_input *input, void *memory, uint8_t *key, uint32_t key_count) {
  struct derivation derivation = {
      .memory = memory, .byte_count = (size_t)input->memory_kib << 10, .lanes = input->lanes};
  argon2_context context = {
      .out = key,
      .outlen = key_count,
      .pwd = mutable(input->passcode),
      .pwdlen = input->passcode.count,
      .salt = mutable(input->salt),
      .saltlen = input->salt.count,
      .secret = mutable(input->secret),
      .secretlen = input->secret.count,
      .ad = mutable(input->associated_data),
      .adlen = input->associated_data.count,
      .t_cost = input->passes,
      .m_cost = input->memory_kib,
      .lanes = input->lanes,
      .threads = input->lanes,
      .version = ARGON2_VERSION_13,
      .allocate_cbk = give_memory,
      .free_cbk = keep_memory,
      // It must not wipe the passcode, which the caller owns.
      .flags = 0,
  };
  bool is_parallel = input->lanes > 1 && input->lanes <= most_lanes && cargon2_has_threads();
  int result = ARGON2_THREAD_FAIL;
  current = &derivation;
  if (is_parallel) {
    for (uint32_t lane = 0; lane < derivation.lanes; lane++) sem_init(&derivation.seats[lane].is_called, 0, 0);
    result = argon2id_ctx(&context);
    if (derivation.next > 0) dismiss(&derivation, derivation.next, derivation.lanes);
  }
  // Its lists of threads are allocated as well.
  if (result == ARGON2_THREAD_FAIL || result == ARGON2_MEMORY_ALLOCATION_ERROR) {
    context.threads = 1;
    result = argon2id_ctx(&context);
  }
  current = NULL;
  return result;
}
