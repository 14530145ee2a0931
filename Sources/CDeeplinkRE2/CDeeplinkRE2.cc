#include "CDeeplinkRE2.h"

#include <re2/re2.h>

#include <new>

struct deeplink_re2 {
  re2::RE2 re;
  deeplink_re2(const re2::StringPiece &pattern, const re2::RE2::Options &options)
      : re(pattern, options) {}
};

// No C++ exception may pass through Swift's frames: the only one here is that memory ran out.
extern "C" deeplink_re2 *deeplink_re2_compile(
    const uint8_t *pattern, size_t length, int64_t memory) try {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(memory);
  return new deeplink_re2(
      re2::StringPiece(reinterpret_cast<const char *>(pattern), length), options);
} catch (const std::bad_alloc &) {
  return nullptr;
}

extern "C" const char *deeplink_re2_error(const deeplink_re2 *re) {
  return re->re.ok() ? nullptr : re->re.error().c_str();
}

extern "C" bool deeplink_re2_matches(
    const deeplink_re2 *re, const uint8_t *text, size_t length) try {
  return re2::RE2::FullMatch(
      re2::StringPiece(reinterpret_cast<const char *>(text), length), re->re);
} catch (const std::bad_alloc &) {
  return false;
}

extern "C" void deeplink_re2_free(deeplink_re2 *re) { delete re; }
