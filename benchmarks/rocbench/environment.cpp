// SPDX-License-Identifier: MIT
#include "environment.hpp"

#include <algorithm>

#include <roc/native.hpp>

namespace rocbench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t page = 4096;

#if ROC_PLATFORM_AMD
constexpr char const* platform_name = "amd";
#elif ROC_PLATFORM_NVIDIA
constexpr char const* platform_name = "nvidia";
#else
constexpr char const* platform_name = "host";
#endif

}  // namespace

environment describe(roc::device const& device) {
  environment result;
  result.platform = platform_name;
  result.ordinal = device.ordinal();
  result.device_name = device.name();
  result.pci_bus_id = device.pci_bus_id();
  result.is_double = result.device_name.starts_with("rocarray CPU double");
  result.on_gpu = result.platform != "host" && !result.is_double;
  return result;
}

std::size_t default_size(roc::device const& device, environment const& where) {
  std::size_t const wanted = (where.on_gpu ? 256 : 64) * mebibyte;
  std::size_t const fits = device.memory().free / 4 / page * page;
  return std::clamp(fits, page, wanted);
}

}  // namespace rocbench
