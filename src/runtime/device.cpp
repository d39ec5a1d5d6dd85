// SPDX-License-Identifier: MIT
#include <roc/device.hpp>

#include <array>

#include <roc/error.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/host_function_errors.hpp"

namespace roc {
namespace {

// No device, the AMD runtime's word for a missing driver, and CUDA's: all mean that there is none.
bool means_no_device(hipError_t code) {
  return code == hipErrorNoDevice || code == hipErrorInvalidDevice ||
         code == hipErrorInsufficientDriver;
}

}  // namespace

device::device() : ordinal_(runtime::current_device()) {}

device::device(int ordinal) : ordinal_(ordinal) {
  int const devices = count();
  if (ordinal >= 0 && ordinal < devices) return;
  throw error({static_cast<int>(hipErrorInvalidDevice), hip_category()},
              "no device " + std::to_string(ordinal) + " (there are " + std::to_string(devices) +
                  "): choose one below device::count()");
}

int device::count() {
  int devices = 0;  // a CUDA runtime without a driver leaves it untouched
  hipError_t const result = ROCARRAY_HIP_CODE(hipGetDeviceCount, &devices);
  if (means_no_device(result)) return 0;
  if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipGetDeviceCount, result,
                           std::source_location::current());
  }
  return devices;
}

bool runtime::has_one_device() {
  static bool const one = device::count() == 1;
  return one;
}

void device::make_current() const { ROCARRAY_HIP(hipSetDevice, ordinal_); }

void device::synchronize() const {
  runtime::on_device const guard(ordinal_);
  ROCARRAY_HIP(hipDeviceSynchronize);
  runtime::rethrow_host_error(ordinal_);
}

std::string device::name() const {
  std::array<char, 256> text{};
  ROCARRAY_HIP(hipDeviceGetName, text.data(), static_cast<int>(text.size()), ordinal_);
  return text.data();
}

std::string device::pci_bus_id() const {
  std::array<char, 64> text{};
  ROCARRAY_HIP(hipDeviceGetPCIBusId, text.data(), static_cast<int>(text.size()), ordinal_);
  return text.data();
}

memory_information device::memory() const {
  runtime::on_device const guard(ordinal_);
  memory_information information{};
  ROCARRAY_HIP(hipMemGetInfo, &information.free, &information.total);
  return information;
}

device_guard::device_guard(device on) : before_(runtime::current_device()) { on.make_current(); }

device_guard::~device_guard() { ROCARRAY_HIP_QUIET(hipSetDevice, before_); }

}  // namespace roc
