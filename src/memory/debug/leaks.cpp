// SPDX-License-Identifier: MIT
#include "memory/debug/leaks.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>

#include <roc/detail/device_memory.hpp>

#include "base/call_site.hpp"
#include "base/log.hpp"

namespace roc::memory {
namespace {

using base::log_level;
using base::log_line;

struct allocation {
  std::size_t bytes;
  char const* kind;
  int device;
  base::call_site site;
};

struct living {
  std::mutex mutex;
  std::map<void const*, allocation> all;
};

// Leaked on purpose: it is read after every static object has gone.
living& state() {
  static auto* const instance = new living;
  return *instance;
}

bool read_setting() {
#if defined(NDEBUG)
  bool const otherwise = false;
#else
  bool const otherwise = true;
#endif
  char const* const text = std::getenv("ROCARRAY_LEAK_CHECK");
  if (text == nullptr) return otherwise;
  if (std::strcmp(text, "1") == 0) return true;
  if (std::strcmp(text, "0") != 0) base::log_line(base::log_level::warning, "ROCARRAY_LEAK_CHECK=%s: give 0 or 1", text);
  return false;
}

bool reports() {
  static bool const wanted = read_setting();
  return wanted;
}

std::string place_of(void const* data, allocation const& which) {
  char text[64];
  std::snprintf(text, sizeof text, " at %p", data);
  return which.kind + std::string(text) +
         (which.device >= 0 ? " of device " + std::to_string(which.device) : "");
}

[[gnu::destructor]] void print_report() noexcept {
  if (!reports()) return;
  try {
    auto const text = leak_report();
    if (!text.empty() && base::logs(base::log_level::warning)) {
      std::fprintf(stderr, "rocarray: warning: %s", text.c_str());
    }
  } catch (std::exception const& late) {
    base::log_line(base::log_level::warning, "no leak report: %s", late.what());
  }
}

}  // namespace

void note_allocation(void const* data, std::size_t bytes, char const* kind, int device) noexcept {
  bool const logged = base::logs(base::log_level::debug);
  if (!reports() && !logged) return;
  try {
    allocation made{bytes, kind, device, {}};
    if (logged) base::log_line(base::log_level::debug, "%zu bytes of %s", bytes, place_of(data, made).c_str());
    if (!reports()) return;
    made.site = base::call_site::here();
    std::lock_guard const lock(state().mutex);
    state().all.insert_or_assign(data, made);
  } catch (std::exception const& error) {
    base::log_line(base::log_level::warning, "an allocation is missing in the leak report: %s", error.what());
  }
}

void note_free(void const* data) noexcept {
  if (data == nullptr) return;
  base::log_line(base::log_level::debug, "memory at %p is given back", data);
  if (!reports()) return;
  std::lock_guard const lock(state().mutex);
  state().all.erase(data);
}

std::string leak_report() {
  std::lock_guard const lock(state().mutex);
  if (state().all.empty()) return "";
  std::size_t bytes = 0;
  std::string lines;
  for (auto const& [data, which] : state().all) {
    bytes += which.bytes;
    lines += "  " + std::to_string(which.bytes) + " bytes of " + place_of(data, which) +
             ", allocated by\n" + which.site.describe();
  }
  return "allocations never freed: " + std::to_string(state().all.size()) + ", " +
         std::to_string(bytes) + " bytes\n" + lines;
}

}  // namespace roc::memory

