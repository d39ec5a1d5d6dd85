// SPDX-License-Identifier: MIT
#include "limits.hpp"

#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

#include <roc/copy.hpp>
#include <roc/device_array.hpp>
#include <roc/host_array.hpp>

#include "pieces.hpp"

namespace rocbench {
namespace {

struct known_device {
  std::string_view name;
  double rate;
};

// AMD's attributes give half of the rate on some devices and nothing on others. Its data sheets';
// of an MI250 for one of its two devices.
constexpr known_device known_devices[] = {
    {"MI355X", 8.0e12},  {"MI350X", 8.0e12},   {"MI325X", 6.0e12},   {"MI300X", 5.3e12},
    {"MI300A", 5.3e12},  {"MI250", 1.6384e12}, {"MI210", 1.6384e12}, {"MI100", 1.2288e12},
    {"7900 XTX", 960e9}, {"W7900", 864e9},     {"9070 XT", 640e9},   {"R9700", 640e9},
};

limit device_memory_limit(roc::device const& device, environment const& where) {
  if (where.platform == "amd") {
    for (known_device const& each : known_devices) {
      if (where.device_name.find(each.name) != std::string::npos) {
        return {each.rate, "data sheet"};
      }
    }
    return {std::nullopt, "no data sheet of this device is known"};
  }
  double const clock = device.memory_clock_rate() * 1e3;
  double const width = device.memory_bus_width() / 8.0;
  if (clock <= 0 || width <= 0) return {std::nullopt, "the device does not tell"};
  return {2 * clock * width, "memory clock"};
}

// The best of some copies by all threads, in memory that no cache holds.
limit measured_host_copy() {
  constexpr std::size_t bytes = std::size_t{128} << 20;
  constexpr std::size_t page = 4096;
  std::vector<std::byte> const from(bytes, std::byte{1});
  std::vector<std::byte> to(bytes);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    in_pieces(bytes / page, page, [&](std::size_t first, std::size_t last) {
      std::memcpy(to.data() + first * page, from.data() + first * page, (last - first) * page);
    });
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(bytes) / seconds.count());
  }
  return {best, "measured copy"};
}

limit busy_link_limit(std::string const& bus_id) {
  constexpr roc::shape<1> shape{std::size_t{16} << 20};
  auto host = roc::pinned_array<std::byte>(shape);
  roc::device_array<std::byte> on_device(shape);
  roc::stream stream;
  for (int i = 0; i < 64; ++i) roc::copy(host, on_device, stream);
  limit const found = pcie_limit(bus_id, "/sys/bus/pci/devices");
  stream.synchronize();
  return found;
}

limit times(limit of, double factor) {
  if (of.rate) *of.rate *= factor;
  return of;
}

}  // namespace

limits find_limits(roc::device const& device, environment const& where) {
  limits result;
  if (where.on_gpu) {
    result.link = busy_link_limit(where.pci_bus_id);
    result.device_memory = device_memory_limit(device, where);
  } else {
    result.host_copy = measured_host_copy();
  }
  return result;
}

limit limit_of(benchmark_case const& of, limits const& known) {
  if (of.limited_by == bound::none) return {std::nullopt, "software"};
  if (known.host_copy.rate) {
    // The CPU's memory is both sides. Nothing was measured that only writes, or only reads.
    bool const writes_only =
        of.limited_by == bound::device_memory && of.counted == accounting::payload;
    if (writes_only || of.limited_by == bound::device_memory_reads) {
      return {std::nullopt, "not measured"};
    }
    return times(known.host_copy, of.counted == accounting::traffic ? 2 : 1);
  }
  switch (of.limited_by) {
    case bound::link: return known.link;
    case bound::link_both_ways: return times(known.link, 2);
    case bound::device_memory:
    case bound::device_memory_reads: return known.device_memory;
    case bound::none: break;
  }
  return {};
}

}  // namespace rocbench
