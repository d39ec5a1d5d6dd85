// SPDX-License-Identifier: MIT
// Tells whether ThreadSanitizer checks this build.
#pragma once

namespace roc::base {

/// True if ThreadSanitizer is active. It does not know fences.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool has_thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool has_thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool has_thread_sanitizer = false;
#endif

}  // namespace roc::base
