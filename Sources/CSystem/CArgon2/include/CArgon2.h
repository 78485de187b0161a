// One derivation of Argon2id (RFC 9106, version 0x13) by libargon2, which may fail in no way that depends on the machine: the
// caller has obtained the memory, and lanes for which there are no threads run one after the other, with the same result.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const uint8_t *start;
  uint32_t count;
} cargon2_bytes;

typedef struct {
  uint32_t memory_kib;
  uint32_t passes;
  uint32_t lanes;
  cargon2_bytes passcode;
  cargon2_bytes salt;
  /// K and X of RFC 9106 §3.1.
  cargon2_bytes secret;
  cargon2_bytes associated_data;
} cargon2_input;

/// Derives in `memory`, which has `memory_kib` KiB, and which libargon2 wipes. 0, or the code of libargon2 for an input that it
/// does not take.
int cargon2_derive(const cargon2_input *input, void *memory, uint8_t *key, uint32_t key_count);

/// Whether lanes run side by side where there are threads: whether CLaneThreads is linked, and libargon2 calls it.
bool cargon2_has_threads(void);

/// What CLaneThreads defines as the program's `pthread_create`.
int cargon2_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
    __attribute__((weak));

/// For `cargon2_pthread_create`: gives `start` a thread that was started before, if the calling thread derives. False if it does not.
bool cargon2_hand_over(pthread_t *thread, void *(*start)(void *), void *argument, int *result);
