// The parts of libcurl's interface that Swift cannot use: variadic calls and macros. Each returns what the original does.
#pragma once
#include <curl/curl.h>
#include <malloc.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

/// Wipes a block before it is freed: bodies, headers and keys pass through libcurl's memory.
static inline void ccurl_free(void *block) {
  if (block != NULL) explicit_bzero(block, malloc_usable_size(block));
  free(block);
}

/// realloc would leave the old bytes behind.
static inline void *ccurl_realloc(void *block, size_t count) {
  void *larger = malloc(count);
  if (larger == NULL || block == NULL) return larger;
  size_t old = malloc_usable_size(block);
  memcpy(larger, block, old < count ? old : count);
  ccurl_free(block);
  return larger;
}

/// The same for OpenSSL, which adds the place of the call.
static inline void *ccurl_openssl_malloc(size_t count, const char *file, int line) { return malloc(count); }
static inline void *ccurl_openssl_realloc(void *block, size_t count, const char *file, int line) {
  if (count > 0) return ccurl_realloc(block, count);
  ccurl_free(block);
  return NULL;
}
static inline void ccurl_openssl_free(void *block, const char *file, int line) { ccurl_free(block); }

/// curl_global_init_mem takes functions of C, and so does OpenSSL, whose buffers have what was sent and received. Once in a
/// process, before any thread and any other call.
static inline CURLcode ccurl_start(void) {
  if (!CRYPTO_set_mem_functions(ccurl_openssl_malloc, ccurl_openssl_realloc, ccurl_openssl_free)) return CURLE_FAILED_INIT;
  return curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, ccurl_free, ccurl_realloc, strdup, calloc);
}

/// curl_easy_setopt is variadic.
static inline CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}
/// NULL restores what libcurl does without the option.
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
typedef size_t (*ccurl_receiver)(char *bytes, size_t size, size_t count, void *context);
static inline CURLcode ccurl_set_receiver(CURL *handle, CURLoption option, ccurl_receiver receiver) {
  return curl_easy_setopt(handle, option, receiver);
}
static inline CURLcode ccurl_set_starter(CURL *handle, CURLoption option, curl_prereq_callback starter) {
  return curl_easy_setopt(handle, option, starter);
}
/// Copies the bytes.
static inline CURLcode ccurl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(handle, option, &blob);
}

/// Has OpenSSL compare the name of the host too: libcurl takes the subject of a certificate without alternative names, which
/// RFC 9110 §4.3.4 forbids. A callback is a function of C, and SSL_CTX a type of OpenSSL.
static inline CURLcode ccurl_compare_name(CURL *handle, void *context, void *host) {
  X509_VERIFY_PARAM *rules = SSL_CTX_get0_param((SSL_CTX *)context);
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, (const char *)host) == 1) return CURLE_OK;
  return X509_VERIFY_PARAM_set1_host(rules, (const char *)host, 0) == 1 ? CURLE_OK : CURLE_SSL_CONNECT_ERROR;
}
/// The host must stay where it is until the transfer has ended; NULL ends it.
static inline CURLcode ccurl_require_name(CURL *handle, const char *host) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, host);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, host == NULL ? NULL : ccurl_compare_name);
}

/// curl_easy_getinfo is variadic. 0 where there is none.
static inline long ccurl_number(CURL *handle, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(handle, info, &value);
  return value;
}
/// NULL where there is none. Valid until the handle is used again.
static inline const char *ccurl_text(CURL *handle, CURLINFO info) {
  char *value = NULL;
  curl_easy_getinfo(handle, info, &value);
  return value;
}
