// SPDX-License-Identifier: MIT
#include "preload/summary.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace roc::preload {
namespace {

// The copies of one direction with a duration.
struct timed_copies {
  std::atomic<std::uint64_t> copies = 0;
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> nanoseconds = 0;

  double seconds() const noexcept { return static_cast<double>(nanoseconds.load()) * 1e-9; }
  double gigabytes_per_second() const noexcept {
    return static_cast<double>(bytes.load()) / static_cast<double>(nanoseconds.load());
  }
  void add(std::uint64_t count, std::int64_t duration) noexcept {
    copies.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(count, std::memory_order_relaxed);
    nanoseconds.fetch_add(static_cast<std::uint64_t>(duration), std::memory_order_relaxed);
  }
  void clear() noexcept { copies = bytes = nanoseconds = 0; }
};

struct direction_counters {
  char const* name;
  timed_copies served;
  timed_copies vendor;
};

// Constant-initialized, and never destroyed: the program may copy in its static destructors.
constinit std::array<std::array<copy_counter, outcome_count>, call_count> counters{};
constinit direction_counters to_device{"to the device", {}, {}};
constinit direction_counters to_host{"to the host", {}, {}};

direction_counters& counters_of(direction copied) noexcept {
  return copied == direction::to_device ? to_device : to_host;
}

char const* text_of(outcome result) noexcept {
  switch (result) {
    case outcome::served: return "served";
    case outcome::switched_off: return "passed on: ROCARRAY_PRELOAD=off";
    case outcome::small: return "passed on: small";
    case outcome::other_direction:
      return "passed on: not between host and device, nor strided within one";
    case outcome::invalid: return "passed on: unusual or invalid arguments";
    case outcome::array: return "passed on: an array";
    case outcome::capturing: return "passed on: a stream is being captured";
    case outcome::earlier_error: return "passed on: an error of an earlier call is not fetched";
    case outcome::pinned: return "passed on: pinned host memory";
    case outcome::other_memory: return "passed on: managed or unknown memory";
    case outcome::other_device: return "passed on: another device or context";
    case outcome::suits_vendor: return "passed on: suits the vendor's function";
    case outcome::to_measure: return "passed on: to measure the vendor's rate";
    case outcome::vendor_faster: return "passed on: the vendor's function is faster";
    case outcome::nested: return "passed on: within a call of the library";
    case outcome::after_fork: return "passed on: forked after the first copy";
    case outcome::after_reset: return "passed on: the device was reset";
    case outcome::unavailable:
      return "passed on: the library could not be loaded, or is for another runtime";
    case outcome::exiting: return "passed on: the process ends";
    case outcome::failed: return "passed on: the library failed";
    case outcome::given_up: return "passed on: the library failed repeatedly";
    case outcome::count: break;
  }
  return "";
}

struct text_buffer {
  char text[32];
};

// Returns the name of a function without the version "_v2", which cuda.h adds to the driver's.
text_buffer name_of(call function) noexcept {
  std::string_view const name = call_names[static_cast<std::size_t>(function)];
  constexpr std::string_view version = "_v2";
  std::size_t const end = std::min(name.find(version), name.size());
  std::string_view const rest = end == name.size() ? "" : name.substr(end + version.size());
  text_buffer result;
  std::snprintf(result.text, sizeof result.text, "%.*s%.*s", static_cast<int>(end), name.data(),
                static_cast<int>(rest.size()), rest.data());
  return result;
}

// Returns a size as base::format_bytes does. Does not allocate: the process is ending.
text_buffer format(std::uint64_t bytes) noexcept {
  char const* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  text_buffer result;
  std::snprintf(result.text, sizeof result.text, "%.4g %s", value, units[unit]);
  return result;
}

void print_calls() noexcept {
  for (std::size_t function = 0; function != call_count; ++function) {
    for (std::size_t result = 0; result != outcome_count; ++result) {
      copy_counter const& counter = counters[function][result];
      if (counter.copies.load() == 0) continue;
      std::fprintf(stderr, "  %-24s %8llu copies  %10s  %s\n",
                   name_of(static_cast<call>(function)).text,
                   static_cast<unsigned long long>(counter.copies.load()),
                   format(counter.bytes.load()).text, text_of(static_cast<outcome>(result)));
    }
  }
}

bool is_compared(direction_counters const& counted) noexcept {
  return counted.served.copies.load() != 0 && counted.vendor.copies.load() != 0;
}

// Returns the estimated seconds saved: the served bytes at the vendor's measured rate, minus the
// time that they took.
double seconds_saved(direction_counters const& counted) noexcept {
  double const served_gigabytes = static_cast<double>(counted.served.bytes.load()) * 1e-9;
  return served_gigabytes / counted.vendor.gigabytes_per_second() - counted.served.seconds();
}

void print_direction(direction_counters const& counted) noexcept {
  if (counted.served.copies.load() == 0) return;
  std::fprintf(stderr, "  served %s: %s in %.3f s, %.1f GB/s", counted.name,
               format(counted.served.bytes.load()).text, counted.served.seconds(),
               counted.served.gigabytes_per_second());
  if (is_compared(counted)) {
    std::fprintf(stderr,
                 "; the vendor's function: %.1f GB/s in %llu copies, which makes a difference of "
                 "%.3f s",
                 counted.vendor.gigabytes_per_second(),
                 static_cast<unsigned long long>(counted.vendor.copies.load()),
                 seconds_saved(counted));
  }
  std::fputc('\n', stderr);
}

// Prints the sum of the directions in which the vendor's function was measured.
void print_seconds_saved() noexcept {
  double seconds = 0;
  bool is_any_compared = false;
  for (direction_counters const* const counted : {&to_device, &to_host}) {
    if (!is_compared(*counted)) continue;
    is_any_compared = true;
    seconds += seconds_saved(*counted);
  }
  if (is_any_compared)
    std::fprintf(stderr, "  saved in total, of host memory: about %.3f s\n", seconds);
}

std::string_view file_name(char const* path) noexcept {
  std::string_view const text = path;
  return text.substr(text.rfind('/') + 1);
}

void print_call_site(call_site const& site) noexcept {
  void const* const address = site.address.load();
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    std::fprintf(stderr, "  %s at %p", name_of(site.function).text, address);
    return;
  }
  std::string_view const file = file_name(info.dli_fname);
  std::fprintf(stderr, "  %s at %.*s+0x%zx", name_of(site.function).text,
               static_cast<int>(file.size()), file.data(),
               static_cast<std::size_t>(static_cast<char const*>(address) -
                                        static_cast<char const*>(info.dli_fbase)));
  if (info.dli_sname != nullptr) std::fprintf(stderr, " (%s)", info.dli_sname);
}

// Prints the call sites with the largest numbers, by `number(site)`, that are at least `least`.
template <class Number, class Print>
void print_call_sites(Number number, std::uint64_t least, Print print) noexcept {
  constexpr std::size_t max_printed = 5;
  std::array<call_site const*, max_printed> largest{};
  for (call_site const& site : call_sites()) {
    if (site.address.load(std::memory_order_acquire) == nullptr || number(site) < least) continue;
    call_site const* candidate = &site;
    for (call_site const*& entry : largest) {
      if (entry == nullptr || number(*entry) < number(*candidate)) std::swap(entry, candidate);
      if (candidate == nullptr) break;
    }
  }
  for (call_site const* const site : largest) {
    if (site != nullptr) print(*site);
  }
}

void print_advice() noexcept {
  constexpr std::uint64_t min_pageable_copies = 4;  // pinning memory for fewer does not pay
  constexpr std::uint64_t min_small_copies = 1000;
  print_call_sites(
      [](call_site const& site) {
        bool const repeats = site.pageable.copies.load() >= min_pageable_copies;
        return repeats ? site.pageable.bytes.load() : 0;
      },
      1,
      [](call_site const& site) {
        print_call_site(site);
        std::fprintf(stderr, ": %llu copies, %s; pin this memory if it is reused\n",
                     static_cast<unsigned long long>(site.pageable.copies.load()),
                     format(site.pageable.bytes.load()).text);
      });
  print_call_sites([](call_site const& site) { return site.small.copies.load(); }, min_small_copies,
                   [](call_site const& site) {
                     print_call_site(site);
                     std::uint64_t const copies = site.small.copies.load();
                     std::fprintf(stderr, ": %llu small copies of %s on average; batch them\n",
                                  static_cast<unsigned long long>(copies),
                                  format(site.small.bytes.load() / copies).text);
                   });
}

}  // namespace

void count_copy(call_site& site, call function, outcome result, std::uint64_t bytes,
                bool is_pageable) noexcept {
  counters[static_cast<std::size_t>(function)][static_cast<std::size_t>(result)].add(bytes);
  bool const is_looked_up = result == outcome::served || result == outcome::to_measure;
  if (is_looked_up && is_pageable) site.pageable.add(bytes);
  if (result == outcome::small) site.small.add(bytes);
}

void count_duration(outcome result, copy_report const& report, std::uint64_t bytes) noexcept {
  direction_counters& counted = counters_of(report.copied);
  (result == outcome::served ? counted.served : counted.vendor).add(bytes, report.nanoseconds);
}

void clear_counters() noexcept {
  for (auto& of_call : counters) {
    for (copy_counter& counter : of_call) counter.clear();
  }
  for (call_site& site : call_sites()) {
    site.pageable.clear();
    site.small.clear();
  }
  for (direction_counters* const counted : {&to_device, &to_host}) {
    counted->served.clear();
    counted->vendor.clear();
  }
}

void print_summary(char const* reason) noexcept {
  bool const is_empty = std::all_of(counters.begin(), counters.end(), [](auto const& of_call) {
    return std::all_of(of_call.begin(), of_call.end(),
                       [](copy_counter const& counter) { return counter.copies.load() == 0; });
  });
  if (is_empty) return;
  std::fprintf(stderr, "rocarray-preload: copies of process %ld\n", static_cast<long>(getpid()));
  print_calls();
  print_direction(to_device);
  print_direction(to_host);
  print_seconds_saved();
  if (*reason != '\0') std::fprintf(stderr, "  the library could not be loaded: %s\n", reason);
  print_advice();
}

}  // namespace roc::preload
