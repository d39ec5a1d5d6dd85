// SPDX-License-Identifier: MIT
#include "platform/host/settings.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "platform/host/api.hpp"

namespace roc::host_hip {
namespace {

char const* const table =
    "name              default                      meaning\n"
    "ROCARRAY_HOST_MODE     threaded                     threaded: a thread per stream; inline: work is done\n"
    "                                               by the call that enqueues it; deferred: only when\n"
    "                                               something legally forces it\n"
    "ROCARRAY_HOST_DEVICES  1                            number of devices, 0 to 16\n"
    "ROCARRAY_HOST_MEMORY   half of the machine's        bytes of memory of each device (suffixes K, M, G)\n"
    "ROCARRAY_HOST_THREADS  the machine's                threads that kernels and large copies share\n"
    "ROCARRAY_HOST_EMULATE    cuda (rocm5 or rocm7 in      whose rules of registration and of the last error\n"
    "                  the double, by its version)  hold: cuda, rocm5, rocm7\n"
    "ROCARRAY_HOST_MANAGED  full                         managed memory: full, basic (no access while the\n"
    "                                               device works, no advice, no prefetch), off\n"
    "ROCARRAY_HOST_POISON   off (on in the double)       fill fresh and freed device memory with a pattern\n"
    "ROCARRAY_HOST_PROTECT  off (on in the double)       close device memory to everything but kernels and\n"
    "                                               copies: touching it is a fault\n"
    "ROCARRAY_HOST_INJECT_FAILURE     nothing                      call:use[:code],... makes calls fail, once each\n";

class reader {
 public:
  explicit reader(settings& into) : into_(into) {}

  template <class T, std::size_t N>
  void choice(char const* name, char const* const (&words)[N], T const (&values)[N], T& to) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return;
    for (std::size_t i = 0; i < N; ++i) {
      if (std::strcmp(text, words[i]) == 0) {
        to = values[i];
        return;
      }
    }
    std::string allowed;
    for (char const* word : words) allowed += std::string(allowed.empty() ? "" : ", ") + word;
    refuse(name, text, allowed);
  }

  void flag(char const* name, bool& to) {
    choice(name, {"off", "on"}, {false, true}, to);
  }

  template <class T>
  void number(char const* name, T least, T most, T& to) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return;
    char const* const last = text + std::strlen(text);
    std::size_t value = 0;
    auto [end, failed] = std::from_chars(text, last, value);
    if (failed == std::errc{} && end != last) {
      std::string_view const units = "KMG";
      auto const unit = units.find(*end);
      std::size_t const factor = unit < units.size() ? std::size_t{1} << (10 * (unit + 1)) : 1;
      if (__builtin_mul_overflow(value, factor, &value)) failed = std::errc::result_out_of_range;
      if (unit < units.size()) ++end;
    }
    if (failed != std::errc{} || end != last || value < static_cast<std::size_t>(least) ||
        value > static_cast<std::size_t>(most)) {
      return refuse(name, text, std::to_string(least) + " to " + std::to_string(most));
    }
    to = static_cast<T>(value);
  }

 private:
  void refuse(char const* name, char const* text, std::string const& allowed) {
    std::fprintf(stderr, "rocarray host: %s=%s cannot be used: give %s\n", name, text,
                 allowed.c_str());
    into_.valid = false;
  }

  settings& into_;
};

settings read() {
  settings result;
  auto const pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  result.memory = pages / 2 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  result.threads = static_cast<int>(std::thread::hardware_concurrency());
  if (result.threads < 1) result.threads = 1;
  result.poison = result.protect = is_fake_runtime;
#if defined(ROCARRAY_FAKE_RUNTIME)
  result.registration = HIP_VERSION_MAJOR < 6 ? rules::rocm5 : rules::rocm7;
#endif
  reader from(result);
  from.choice("ROCARRAY_HOST_MODE", {"threaded", "inline", "deferred"},
              {mode::threaded, mode::inline_, mode::deferred}, result.run_mode);
  from.choice("ROCARRAY_HOST_EMULATE", {"cuda", "rocm5", "rocm7"},
              {rules::cuda, rules::rocm5, rules::rocm7}, result.registration);
  from.choice("ROCARRAY_HOST_MANAGED", {"full", "basic", "off"},
              {managed::full, managed::basic, managed::off}, result.managed_memory);
  from.number("ROCARRAY_HOST_DEVICES", 0, 16, result.devices);
  from.number("ROCARRAY_HOST_MEMORY", std::size_t{4096}, std::size_t{1} << 46, result.memory);
  from.number("ROCARRAY_HOST_THREADS", 1, 1024, result.threads);
  from.flag("ROCARRAY_HOST_POISON", result.poison);
  from.flag("ROCARRAY_HOST_PROTECT", result.protect);
  return result;
}

}  // namespace

settings const& the_settings() {
  static settings const instance = read();
  return instance;
}

char const* settings_table() { return table; }

}  // namespace roc::host_hip
