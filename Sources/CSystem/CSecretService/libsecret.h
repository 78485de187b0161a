// The functions used of libsecret 0.18 and newer, GIO, GObject and GLib: declared by hand, so that building needs none of
// their headers, and found by name, so that running needs them only where a vault's key is kept there.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct { uint32_t domain; int code; char *message; } GError;
typedef void GObject;
typedef uintptr_t GType;
typedef struct { GType type; const char *name; unsigned class_size, instance_size; } GTypeQuery;
/// The head of every GObjectClass, up to the functions that are replaced.
typedef struct {
  GType type;
  void *construct_properties;
  GObject *(*constructor)(GType, unsigned, void *);
} GObjectClass;

enum { AUTHENTICATION_CLIENT = 1 << 0, MESSAGE_BUS_CONNECTION = 1 << 3 };    // GDBusConnectionFlags
enum { NO_AUTO_START = 1 << 0 };                                             // GDBusCallFlags
enum { DO_NOT_LOAD_PROPERTIES = 1, DO_NOT_CONNECT_SIGNALS = 2, PROXY_NO_AUTO_START = 4 };  // GDBusProxyFlags
enum { OPEN_SESSION = 1 << 1 };                                              // SecretServiceFlags

#define FUNCTIONS(X) \
  X(void, g_object_unref, (GObject *)) \
  X(void, g_free, (void *)) \
  X(void, g_strfreev, (char **)) \
  X(void, g_clear_error, (GError **)) \
  X(void *, g_hash_table_new, (void *, void *)) \
  X(int, g_hash_table_insert, (void *, void *, void *)) \
  X(void, g_hash_table_unref, (void *)) \
  X(unsigned, g_str_hash, (const void *)) \
  X(int, g_str_equal, (const void *, const void *)) \
  X(void *, g_main_context_new, (void)) \
  X(void, g_main_context_push_thread_default, (void *)) \
  X(void, g_main_context_pop_thread_default, (void *)) \
  X(void, g_main_context_unref, (void *)) \
  X(GObject *, g_cancellable_new, (void)) \
  X(void, g_cancellable_cancel, (GObject *)) \
  X(int, g_cancellable_is_cancelled, (GObject *)) \
  X(void *, g_variant_new, (const char *, ...)) \
  X(void *, g_variant_new_parsed, (const char *, ...)) \
  X(void *, g_variant_new_objv, (const char *const *, size_t)) \
  X(size_t, g_variant_n_children, (void *)) \
  X(void *, g_variant_ref_sink, (void *)) \
  X(void, g_variant_unref, (void *)) \
  X(void, g_variant_get, (void *, const char *, ...)) \
  X(int, g_variant_is_of_type, (void *, const char *)) \
  X(int, g_variant_get_boolean, (void *)) \
  X(int, g_variant_lookup, (void *, const char *, const char *, ...)) \
  X(GObject *, g_dbus_connection_new_for_address_sync, \
    (const char *, int, GObject *, GObject *, GError **)) \
  X(int, g_dbus_connection_is_closed, (GObject *)) \
  X(void *, g_dbus_connection_call_sync, \
    (GObject *, const char *, const char *, const char *, const char *, void *, const char *, int, int, \
     GObject *, GError **)) \
  X(char *, g_dbus_error_get_remote_error, (const GError *)) \
  X(int, g_dbus_error_strip_remote_error, (GError *)) \
  X(void, g_type_query, (GType, GTypeQuery *)) \
  X(GType, g_type_register_static_simple, (GType, const char *, unsigned, void *, unsigned, void *, int)) \
  X(void, g_object_set, (GObject *, const char *, ...)) \
  X(GObject *, g_initable_new, (GType, GObject *, GError **, const char *, ...)) \
  X(GType, secret_service_get_type, (void)) \
  X(uint32_t, secret_error_get_quark, (void)) \
  X(uint32_t, g_io_error_quark, (void)) \
  X(char *, secret_service_read_alias_dbus_path_sync, (GObject *, const char *, GObject *, GError **)) \
  X(int, secret_service_search_for_dbus_paths_sync, \
    (GObject *, const void *, void *, GObject *, char ***, char ***, GError **)) \
  X(void *, secret_service_prompt_at_dbus_path_sync, \
    (GObject *, const char *, GObject *, const char *, GError **)) \
  X(void *, secret_service_get_secret_for_dbus_path_sync, (GObject *, const char *, GObject *, GError **)) \
  X(char *, secret_service_create_item_dbus_path_sync, \
    (GObject *, const char *, void *, void *, int, GObject *, GError **)) \
  X(int, secret_service_delete_item_dbus_path_sync, (GObject *, const char *, GObject *, GError **)) \
  X(void *, secret_value_new, (const char *, ssize_t, const char *)) \
  X(const char *, secret_value_get, (void *, size_t *)) \
  X(void, secret_value_unref, (void *))

typedef struct {
#define FIELD(result, name, parameters) result(*name) parameters;
  FUNCTIONS(FIELD)
#undef FIELD
} libsecret_functions;

/// The functions, loaded at the first call; NULL where the library or one of them is missing.
const libsecret_functions *libsecret(void);
