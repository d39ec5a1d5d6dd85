// SPDX-License-Identifier: MIT
#include "memory/debug/leaks.hpp"

#include <cstdio>
#include <exception>
#include <map>
#include <mutex>

#include "base/byte_range.hpp"
#include "base/call_site.hpp"
#include "base/error.hpp"
#include "base/format_bytes.hpp"
#include "base/log.hpp"
#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"

#if ROCARRAY_PLATFORM_HOST
#include "platform/host/access_checker.hpp"
#endif

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

struct allocation_table {
  std::mutex mutex;
  std::map<void const*, allocation> allocations;  // guarded by mutex
};

// Never destroyed: the report reads it after all static objects have been destroyed.
allocation_table& recorded_allocations() noexcept {
  static base::no_destructor<allocation_table> instance;
  return *instance;
}

// Returns for example "device memory at 0x7f... of device 0".
std::string describe(void const* data, allocation const& item) {
  char text[64];
  std::snprintf(text, sizeof text, " at %p", data);
  return item.kind + std::string(text) +
         (item.device >= 0 ? " of device " + std::to_string(item.device) : "");
}

// Runs when the process ends, after the destructors of static objects.
[[gnu::destructor]] void print_report() noexcept {
  if (!leaks_detail::has_recorded) return;
  try {
    auto const text = leak_report();
    if (!text.empty() && base::logs(log_level::warning)) {
      std::fprintf(stderr, "rocarray: warning: %s", text.c_str());
    }
  } catch (std::exception const& error) {
    log_line(log_level::warning, "the leak report could not be written: %s", error.what());
  }
}

}  // namespace

void record_allocation_slow_path(void const* data, std::size_t bytes, char const* kind,
                                 int device) noexcept {
#if ROCARRAY_PLATFORM_HOST
  if (device >= 0) host_hip::note_device_allocation(data, bytes, true);
#endif
  bool const is_logged = base::logs(log_level::debug);
  bool const is_recorded = base::options().leak_check;
  if (!is_recorded && !is_logged) return;
  try {
    allocation added{bytes, kind, device, {}};
    if (is_logged)
      log_line(log_level::debug, "%zu bytes of %s", bytes, describe(data, added).c_str());
    if (!is_recorded) return;
    added.site = base::call_site::here();
    std::lock_guard const lock(recorded_allocations().mutex);
    recorded_allocations().allocations.insert_or_assign(data, added);
    leaks_detail::has_recorded.store(true, std::memory_order_relaxed);
  } catch (std::exception const& error) {
    log_line(log_level::warning, "an allocation is missing from the leak report: %s", error.what());
  }
}

void record_free_slow_path(void const* data) noexcept {
#if ROCARRAY_PLATFORM_HOST
  host_hip::note_device_free(data, true);
#endif
  if (base::logs(log_level::debug)) log_line(log_level::debug, "memory at %p is freed", data);
  if (!leaks_detail::has_recorded.load(std::memory_order_relaxed)) return;
  std::lock_guard const lock(recorded_allocations().mutex);
  recorded_allocations().allocations.erase(data);
}

void log_leaked_host_memory(void const* data, std::size_t bytes) noexcept {
  int device = 0;
  // The runtime may shut down before static objects are destroyed. The process is about to end
  // then.
  if (ROCARRAY_HIP_CODE(hipGetDevice, &device) == hipErrorDeinitialized) return;
  constexpr char const* problem =
      "host memory is leaked, because waiting for the work that may use it failed";
  try {
    base::log_error(std::string(problem) + ": " + base::format_bytes(bytes) + ", " +
                    to_string(base::byte_range::of(data, bytes)) +
                    "; see the errors logged before, and restart the process if memory runs short");
  } catch (std::bad_alloc const&) {
    base::log_error(problem);
  }
}

std::string leak_report() {
  std::lock_guard const lock(recorded_allocations().mutex);
  if (recorded_allocations().allocations.empty()) return "";
  std::size_t bytes = 0;
  std::string lines;
  for (auto const& [data, item] : recorded_allocations().allocations) {
    bytes += item.bytes;
    lines += "  " + std::to_string(item.bytes) + " bytes of " + describe(data, item) +
             ", allocated by\n" + item.site.describe();
  }
  return "allocations never freed: " + std::to_string(recorded_allocations().allocations.size()) +
         ", " + std::to_string(bytes) + " bytes\n" + lines;
}

}  // namespace roc::memory
