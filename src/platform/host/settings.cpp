// SPDX-License-Identifier: MIT
#include "platform/host/settings.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "base/parse_size.hpp"
#include "platform/host/api.hpp"

#if !defined(ROCARRAY_FAKE_RUNTIME)
#include "base/options.hpp"
#endif

namespace roc::host_hip {
namespace {

char const* const table_text =
    "name                          default                meaning\n"
    "ROCARRAY_HOST_MODE            threaded               threaded: a thread per stream;\n"
    "                                                     inline: the call that enqueues work\n"
    "                                                     runs it; deferred: work runs only when\n"
    "                                                     a call must wait for it\n"
    "ROCARRAY_HOST_DEVICES         1                      number of devices, 0 to 16\n"
    "ROCARRAY_HOST_PEERS           all                    all, none, or a list of connected "
    "devices:\n"
    "                                                     0-1 both ways, 0:1: device 0 can access\n"
    "                                                     the memory of device 1; 0-1,1-2\n"
    "ROCARRAY_HOST_MEMORY          half of the machine's  bytes of memory of each device\n"
    "                                                     (suffixes K, M, G)\n"
    "ROCARRAY_HOST_THREADS         the machine's          threads that kernels and large copies\n"
    "                                                     share\n"
    "ROCARRAY_HOST_WARP            32 (fake runtime: 64)  lanes of a warp: 32 or 64\n"
    "ROCARRAY_HOST_STACK           256K                   bytes of stack of each thread of a\n"
    "                                                     kernel\n"
    "ROCARRAY_HOST_EMULATE         cuda (fake runtime:    the runtime whose rules apply: cuda,\n"
    "                              by its version)        cuda13, rocm5, rocm6, rocm7\n"
    "ROCARRAY_HOST_MANAGED         full                   managed memory: full, basic (no access\n"
    "                                                     while the device works, no advice, no\n"
    "                                                     prefetch), off\n"
    "ROCARRAY_HOST_CHECK           off                    report, abort: finds accesses to device\n"
    "                                                     memory and, in mode deferred, to memory\n"
    "                                                     of pending work; the mode is then\n"
    "                                                     deferred by default, and protect on\n"
    "ROCARRAY_HOST_POISON          off (fake runtime: on) fill new and freed device memory with a\n"
    "                                                     pattern\n"
    "ROCARRAY_HOST_PROTECT         off (fake runtime: on) only kernels and copies can access "
    "device\n"
    "                                                     memory: the program's accesses fault\n"
    "ROCARRAY_HOST_STRICT          off (fake runtime: on) calls that are undefined under the "
    "emulated\n"
    "                                                     runtime abort the process\n"
    "ROCARRAY_HOST_TEXTURES        off                    textures can be created, as if the\n"
    "                                                     devices had texture units; kernels\n"
    "                                                     still sample in software\n"
    "ROCARRAY_HOST_INJECT_FAILURE  none                   call:use[:code],... makes calls fail,\n"
    "                                                     once each\n";

// Reads environment variables into a `settings`. A variable that is not set leaves its member
// unchanged; an invalid value is reported on stderr and clears `settings::valid`.
class environment_reader {
 public:
  explicit environment_reader(settings& result) : result_(result) {}

  template <class T, std::size_t N>
  void read_choice(char const* name, char const* const (&words)[N], T const (&values)[N],
                   T& member) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return;
    for (std::size_t i = 0; i < N; ++i) {
      if (std::strcmp(text, words[i]) == 0) {
        member = values[i];
        return;
      }
    }
    std::string allowed;
    for (char const* word : words) allowed += std::string(allowed.empty() ? "" : ", ") + word;
    reject(name, text, "one of " + allowed);
  }

  void read_flag(char const* name, bool& member) {
    read_choice(name, {"off", "on"}, {false, true}, member);
  }

  // Accepts the suffixes K, M and G.
  template <class T>
  void read_number(char const* name, T minimum, T maximum, T& member) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return;
    auto const value = base::parse_size(text);
    if (!value || *value < static_cast<std::size_t>(minimum) ||
        *value > static_cast<std::size_t>(maximum)) {
      return reject(name, text,
                    "a number from " + std::to_string(minimum) + " to " + std::to_string(maximum));
    }
    member = static_cast<T>(*value);
  }

  // Accepts all, none, or a list of pairs of devices.
  void read_peers(char const* name, std::array<std::uint16_t, max_device_count>& member) {
    char const* const text = std::getenv(name);
    bool const is_list = text != nullptr && std::strcmp(text, "all") != 0;
    member.fill(is_list ? 0 : UINT16_MAX);
    if (!is_list || std::strcmp(text, "none") == 0) return;
    std::string_view rest = text;
    do {
      auto const comma = rest.find(',');
      if (!add_connection(rest.substr(0, comma), member)) {
        return reject(name, text,
                      "all, none, or pairs of devices below " + std::to_string(max_device_count) +
                          ", such as 0-1,1:2");
      }
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    } while (!rest.empty());
  }

 private:
  // Adds "a-b" or "a:b". Returns false if the text is neither.
  static bool add_connection(std::string_view pair,
                             std::array<std::uint16_t, max_device_count>& member) {
    auto const separator = pair.find_first_of("-:");
    if (separator == std::string_view::npos) return false;
    auto const device = base::parse_size(pair.substr(0, separator));
    auto const peer = base::parse_size(pair.substr(separator + 1));
    if (!device || !peer || *device == *peer) return false;
    if (*device >= std::size_t{max_device_count} || *peer >= std::size_t{max_device_count}) {
      return false;
    }
    member[*device] = static_cast<std::uint16_t>(member[*device] | 1u << *peer);
    if (pair[separator] == '-') {
      member[*peer] = static_cast<std::uint16_t>(member[*peer] | 1u << *device);
    }
    return true;
  }

  void reject(char const* name, char const* text, std::string const& allowed) {
    std::fprintf(stderr, "rocarray host: %s=%s is not valid; use %s\n", name, text,
                 allowed.c_str());
    result_.valid = false;
  }

  settings& result_;
};

settings read_environment() {
#if !defined(ROCARRAY_FAKE_RUNTIME)
  // In the fake HIP runtime this is left to the library that the program links.
  static_cast<void>(base::options());  // reports unknown variables
#endif
  settings result;
  auto const pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  result.device_bytes = pages / 2 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  result.thread_count = static_cast<int>(std::thread::hardware_concurrency());
  if (result.thread_count < 1) result.thread_count = 1;
  result.poison = result.protect = result.strict = is_fake_runtime;
  result.warp_size = is_fake_runtime ? 64 : 32;
#if defined(ROCARRAY_FAKE_RUNTIME)
  result.emulated = HIP_VERSION_MAJOR < 6    ? runtime_rules::rocm5
                    : HIP_VERSION_MAJOR == 6 ? runtime_rules::rocm6
                                             : runtime_rules::rocm7;
#endif
  environment_reader environment(result);
  environment.read_choice("ROCARRAY_HOST_CHECK", {"off", "report", "abort"},
                          {check_mode::off, check_mode::report, check_mode::abort}, result.check);
  if (result.check != check_mode::off) {
    result.mode = run_mode::deferred;
    result.protect = true;
  }
  environment.read_choice("ROCARRAY_HOST_MODE", {"threaded", "inline", "deferred"},
                          {run_mode::threaded, run_mode::inline_, run_mode::deferred}, result.mode);
  environment.read_choice("ROCARRAY_HOST_EMULATE", {"cuda", "cuda13", "rocm5", "rocm6", "rocm7"},
                          {runtime_rules::cuda, runtime_rules::cuda13, runtime_rules::rocm5,
                           runtime_rules::rocm6, runtime_rules::rocm7},
                          result.emulated);
  environment.read_choice("ROCARRAY_HOST_MANAGED", {"full", "basic", "off"},
                          {managed_support::full, managed_support::basic, managed_support::off},
                          result.managed);
  environment.read_number("ROCARRAY_HOST_DEVICES", 0, max_device_count, result.device_count);
  environment.read_peers("ROCARRAY_HOST_PEERS", result.peers);
  environment.read_number("ROCARRAY_HOST_MEMORY", std::size_t{4096}, std::size_t{1} << 46,
                          result.device_bytes);
  environment.read_number("ROCARRAY_HOST_THREADS", 1, 1024, result.thread_count);
  environment.read_choice("ROCARRAY_HOST_WARP", {"32", "64"}, {32, 64}, result.warp_size);
  environment.read_number("ROCARRAY_HOST_STACK", std::size_t{16384}, std::size_t{1} << 30,
                          result.stack_bytes);
  environment.read_flag("ROCARRAY_HOST_POISON", result.poison);
  environment.read_flag("ROCARRAY_HOST_PROTECT", result.protect);
  environment.read_flag("ROCARRAY_HOST_STRICT", result.strict);
  environment.read_flag("ROCARRAY_HOST_TEXTURES", result.textures);
  return result;
}

}  // namespace

settings const& host_settings() {
  static settings const instance = read_environment();
  return instance;
}

char const* settings_table() { return table_text; }

}  // namespace roc::host_hip
