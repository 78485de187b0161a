// The Unicode tables of libunistring by dlopen when text needs them: linking it would cost every start of the tool. Declared by
// hand, so that the build needs no headers of it. What the library's own normalization leaves in its buffers nobody wipes, so
// only its functions of one character are used.
#pragma once
#include <stdint.h>

/// The most characters that one step of a decomposition writes (UC_DECOMPOSITION_MAX_LENGTH).
enum { cunistring_longest_step = 32 };

/// 0, or -ELIBACC when libunistring is missing. To be called before the functions below.
int cunistring_load(void);

/// One step of the canonical decomposition. Returns how many characters it wrote, or -1 for a character without one.
int cunistring_decompose(uint32_t character, uint32_t *into);

/// The canonical combining class, 0 to 254.
int cunistring_combining_class(uint32_t character);

/// The canonical composition of a starter and a character after it; 0 where there is none.
uint32_t cunistring_compose(uint32_t starter, uint32_t character);
