// The peers of the product, and the counters. Every `peer_run` does one thing n times.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct peer {
  const char *name;
  void (*run)(struct peer *, long count);
  void *context;
  size_t a, b;
} peer;

static inline void peer_run(peer *p, long count) { p->run(p, count); }

// otp.c: one HOTP code (RFC 4226) of a 20-byte key, or a window of wrong candidates.
peer *peer_transform_pair(void);          // two SHA1_Transform on cached midstates: the floor
peer *peer_transform_text(void);          // the same with six digits written
peer *peer_hmac_oneshot(void);            // HMAC()
peer *peer_evp_mac_reused(void);          // EVP_MAC, context and key kept
peer *peer_evp_mac_new(void);             // EVP_MAC, a new context each time
peer *peer_midstate_window(size_t width); // midstates and SHA1_Update, all compared
peer *peer_oath_hotp(void);               // oath_hotp_generate; NULL where liboath is absent
peer *peer_oath_window(size_t width);     // oath_hotp_validate, a wrong code; NULL where absent
const char *peer_oath_version(void);      // NULL where absent
peer *peer_ocra_hmac(int has_counter);    // the HMAC of an OCRA code on cached midstates: QN08, or C-QN08-PSHA1
// lanes.c: what AVX-512 can do; NULL where the processor has none
peer *peer_lanes_window(size_t width);
peer *peer_lanes_bulk(size_t credentials);

// seal.c: AES-256-GCM in the styles that programs call it.
peer *peer_gcm_seal(size_t size);          // schedule and context kept, a new IV
peer *peer_gcm_open(size_t size);
peer *peer_gcm_seal_naive(size_t size);    // fetched and made again each time
peer *peer_gcm_seal_legacy(size_t size);   // EVP_aes_256_gcm() and a new context
peer *peer_sodium_seal(size_t size);       // crypto_aead_aes256gcm_encrypt_afternm; NULL where absent
peer *peer_sodium_box(size_t size);        // crypto_secretbox (XSalsa20-Poly1305); NULL where absent
const char *peer_sodium_version(void);
peer *peer_rand_bytes(size_t size);        // RAND_bytes
peer *peer_getrandom(size_t size);         // getrandom(2)
peer *peer_rand_pool(size_t size);         // RAND_bytes of 8 KiB, handed out: the floor of a pool
// The committing seal's steps: `what` is 0 all of a seal, 1 all of an open, 2 the salt, 3 the keys, 4 the cipher.
peer *peer_committing(size_t size, size_t aad, int what, int keeps_context);
peer *peer_record_open(size_t size, size_t aad);
peer *peer_record_seal(size_t size, size_t aad);

// kdf.c
peer *peer_argon2(uint32_t memory_kib, uint32_t passes, uint32_t lanes);      // libargon2, memory by malloc
peer *peer_argon2_huge(uint32_t memory_kib, uint32_t passes, uint32_t lanes); // in 2 MiB pages
peer *peer_hkdf(void);                                                        // EVP_KDF, context kept

// sign.c
peer *peer_sign_p256(void);    // EVP_PKEY_sign, context kept
peer *peer_sign_ed25519(void); // EVP_DigestSign
peer *peer_sodium_ed25519(void);

// disk.c: in `folder`
peer *peer_fdatasync(const char *folder, int appends);  // 4 KiB written over (or behind) and fdatasync
peer *peer_sqlite_put(const char *folder, int grows);   // one row of 256 bytes in a table without more, one commit
peer *peer_sqlite_rows(const char *folder);             // what a HOTP code writes: head, state, entry of the log
peer *peer_sqlite_put_rows(const char *folder);         // what a put of four indexed attributes writes
peer *peer_lmdb_put(const char *folder);                // one key, one commit; NULL where absent
peer *peer_json_put(const char *folder, size_t items);  // a sealed file of `items`, written again
peer *peer_lmdb_get(const char *folder, size_t items);  // NULL where absent
const char *peer_lmdb_version(void);

// rows.c: the vault's own rows, read by SQLite alone
peer *peer_row_by_name(const char *vault, size_t items); // a row by the name column, in one transaction
peer *peer_rows_with_material(const char *vault, size_t items);
peer *peer_rows_scan(const char *vault);                 // all rows of `item`; one run is one scan
peer *peer_rows_scan_open(const char *vault);            // and one AES-GCM opening of its size each

// versions and machine
const char *peer_openssl_version(void);
const char *peer_sqlite_version(void);

// allocations.c: every malloc of the process while counting is on
typedef struct {
  uint64_t count;
  uint64_t bytes;
} peer_allocations;
void peer_count_start(void);
peer_allocations peer_count_stop(void);

// A system call that no other code here makes: marks the beginning and the end of a trace.
void peer_mark(void);
double peer_now_ns(void);
void peer_keep(uint64_t value);
