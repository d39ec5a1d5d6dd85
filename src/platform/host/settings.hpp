// SPDX-License-Identifier: MIT
// The provider's settings, read from the environment at the first call.
#pragma once

#include <cstddef>

namespace roc::host_hip {

enum class mode { threaded, inline_, deferred };
enum class rules { cuda, rocm5, rocm7 };

enum class managed { full, basic, off };

struct settings {
  mode run_mode = mode::threaded;
  rules registration = rules::cuda;
  managed managed_memory = managed::full;
  int devices = 1;
  std::size_t memory = 0;  // bytes per device
  int threads = 1;
  bool poison = false;
  bool protect = false;
  bool valid = true;  // false: a setting could not be read, every call fails
};

settings const& the_settings();

/// The settings as a table of text.
char const* settings_table();

}  // namespace roc::host_hip
