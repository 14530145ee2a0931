// A C face for RE2, the regular expression library that matches in linear time.
#ifndef CDEEPLINKRE2_H
#define CDEEPLINKRE2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct deeplink_re2 deeplink_re2;

/// Compiles a pattern in UTF-8; `memory` bounds the compiled program and the matcher's cache, in
/// bytes. NULL only where memory ran out; a wrong pattern gives an object with an error text.
deeplink_re2 *_Nullable deeplink_re2_compile(
    const uint8_t *_Nullable pattern, size_t length, int64_t memory);

/// What is wrong with the pattern, owned by `re`; NULL where it compiled.
const char *_Nullable deeplink_re2_error(const deeplink_re2 *_Nonnull re);

/// Whether the pattern matches the whole text. Safe from several threads at once.
bool deeplink_re2_matches(
    const deeplink_re2 *_Nonnull re, const uint8_t *_Nullable text, size_t length);

void deeplink_re2_free(deeplink_re2 *_Nonnull re);

#ifdef __cplusplus
}
#endif

#endif
