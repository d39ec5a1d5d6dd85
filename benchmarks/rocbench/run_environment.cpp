// SPDX-License-Identifier: MIT
#include "run_environment.hpp"

#include <algorithm>
#include <ctime>

#include <unistd.h>

#include <fmt/format.h>

#include <roc/config.hpp>
#include <roc/native.hpp>

#include "platform/call.hpp"

namespace rocbench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t page = 4096;

#if ROCARRAY_PLATFORM_AMD
constexpr char const* platform_name = "amd";
#elif ROCARRAY_PLATFORM_NVIDIA
constexpr char const* platform_name = "nvidia";
#else
constexpr char const* platform_name = "host";
#endif

std::string host_name() {
  char name[256] = "";
  static_cast<void>(gethostname(name, sizeof name - 1));
  return name;
}

std::string current_time() {
  std::time_t const seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
  return text;
}

}  // namespace

run_environment describe_environment(roc::device const& device) {
  run_environment result;
  result.platform = platform_name;
  result.ordinal = device.ordinal();
  result.device_name = device.name();
  result.pci_bus_id = device.pci_bus_id();
  result.is_fake_runtime = result.device_name.starts_with("rocarray fake HIP runtime");
  ROCARRAY_HIP(hipRuntimeGetVersion, &result.runtime_version);
  ROCARRAY_HIP(hipDriverGetVersion, &result.driver_version);
  result.host_name = host_name();
  result.date = current_time();
  result.version = fmt::format("{}.{}.{}", ROCARRAY_VERSION_MAJOR, ROCARRAY_VERSION_MINOR,
                               ROCARRAY_VERSION_PATCH);
  result.on_gpu = result.platform != "host" && !result.is_fake_runtime;
  return result;
}

std::size_t default_size(roc::device const& device, run_environment const& environment) {
  std::size_t const preferred = (environment.on_gpu ? 256 : 64) * mebibyte;
  std::size_t const available = device.memory().free / 4 / page * page;
  return std::clamp(available, page, preferred);
}

}  // namespace rocbench
