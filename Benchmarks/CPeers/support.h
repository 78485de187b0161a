#pragma once
#define _GNU_SOURCE
#define OPENSSL_SUPPRESS_DEPRECATED
#include "CPeers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A peer that fails would win every race.
#define must(truth) do { if (!(truth)) { fprintf(stderr, "peer: %s:%d: %s\n", __FILE__, __LINE__, #truth); abort(); } } while (0)

extern volatile uint64_t peer_sink;

static inline peer *peer_new(const char *name, void (*run)(peer *, long), void *context, size_t a, size_t b) {
  peer *p = calloc(1, sizeof *p);
  must(p);
  *p = (peer){name, run, context, a, b};
  return p;
}
void *peer_library(const char *name); // dlopen, once; NULL where it is absent
void *peer_symbol(const char *library, const char *name);
