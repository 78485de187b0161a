// OpenSSL's low-level SHA functions are deprecated in 3.0 but present; keyed midstates need them.
#pragma once
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Swift cannot make the parameters of the next two: their names are macros, which it takes for strings that live as long
// as one call. Numbers are in the order of this machine's bytes.
static inline int vault_ecdsa_from_data(
    EVP_PKEY_CTX *context, EVP_PKEY **key, const char *group, unsigned char *number, size_t number_count,
    unsigned char *point, size_t point_count) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)group, 0),
      OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, number, number_count),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, point_count),
      OSSL_PARAM_construct_end(),
  };
  return EVP_PKEY_fromdata(context, key, EVP_PKEY_KEYPAIR, parameters);
}

// The numbers are n, e, d, p, q, d mod p-1, d mod q-1, 1/q mod p, one after the other.
static inline int vault_rsa_from_data(
    EVP_PKEY_CTX *context, EVP_PKEY **key, unsigned char *numbers, const size_t counts[8]) {
  const char *names[8] = {
      OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,         OSSL_PKEY_PARAM_RSA_D,
      OSSL_PKEY_PARAM_RSA_FACTOR1,   OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
      OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
  };
  OSSL_PARAM parameters[9];
  for (int i = 0; i < 8; i++) {
    parameters[i] = OSSL_PARAM_construct_BN(names[i], numbers, counts[i]);
    numbers += counts[i];
  }
  parameters[8] = OSSL_PARAM_construct_end();
  return EVP_PKEY_fromdata(context, key, EVP_PKEY_KEYPAIR, parameters);
}
