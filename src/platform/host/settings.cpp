// SPDX-License-Identifier: MIT
#include "platform/host/settings.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "platform/host/api.hpp"

namespace roc::host_hip {
namespace {

char const* const table =
    "name              default                      meaning\n"
    "ROC_HOST_MODE     threaded                     threaded: a thread per stream; inline: work is done\n"
    "                                               by the call that enqueues it; deferred: only when\n"
    "                                               something legally forces it\n"
    "ROC_HOST_DEVICES  1                            number of devices, 0 to 16\n"
    "ROC_HOST_MEMORY   half of the machine's        bytes of memory of each device (suffixes K, M, G)\n"
    "ROC_HOST_THREADS  the machine's                threads that kernels and large copies share\n"
    "ROC_HOST_RULES    cuda (rocm5 or rocm7 in      whose rules of registration and of the last error\n"
    "                  the double, by its version)  hold: cuda, rocm5, rocm7\n"
    "ROC_HOST_POISON   off (on in the double)       fill fresh and freed device memory with a pattern\n"
    "ROC_HOST_PROTECT  off (on in the double)       close device memory to everything but kernels and\n"
    "                                               copies: touching it is a fault\n"
    "ROC_HOST_FAIL     nothing                      call:use[:code],... makes calls fail, once each\n";

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
    refuse(name, text);
  }

  void flag(char const* name, bool& to) {
    choice(name, {"off", "on"}, {false, true}, to);
  }

  template <class T>
  void number(char const* name, T least, T most, T& to) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return;
    char* end = nullptr;
    unsigned long long value = std::strtoull(text, &end, 10);
    if (end != text && *end != '\0') {
      std::string_view const units = "KMG";
      auto const unit = units.find(*end);
      if (unit != std::string_view::npos) {
        value <<= 10 * (unit + 1);
        ++end;
      }
    }
    if (end == text || *end != '\0' || value < static_cast<unsigned long long>(least) ||
        value > static_cast<unsigned long long>(most)) {
      return refuse(name, text);
    }
    to = static_cast<T>(value);
  }

 private:
  void refuse(char const* name, char const* text) {
    std::fprintf(stderr, "rocarray host: %s=%s cannot be used; the settings are\n%s", name, text,
                 table);
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
  result.poison = result.protect = is_double;
#if defined(ROC_HOST_DOUBLE)
  result.registration = HIP_VERSION_MAJOR < 6 ? rules::rocm5 : rules::rocm7;
#endif
  reader from(result);
  from.choice("ROC_HOST_MODE", {"threaded", "inline", "deferred"},
              {mode::threaded, mode::inline_, mode::deferred}, result.run_mode);
  from.choice("ROC_HOST_RULES", {"cuda", "rocm5", "rocm7"},
              {rules::cuda, rules::rocm5, rules::rocm7}, result.registration);
  from.number("ROC_HOST_DEVICES", 0, 16, result.devices);
  from.number("ROC_HOST_MEMORY", std::size_t{4096}, std::size_t{1} << 46, result.memory);
  from.number("ROC_HOST_THREADS", 1, 1024, result.threads);
  from.flag("ROC_HOST_POISON", result.poison);
  from.flag("ROC_HOST_PROTECT", result.protect);
  return result;
}

}  // namespace

settings const& the_settings() {
  static settings const instance = read();
  return instance;
}

char const* settings_table() { return table; }

}  // namespace roc::host_hip
