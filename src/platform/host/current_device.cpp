// SPDX-License-Identifier: MIT
#include "platform/host/current_device.hpp"

#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

thread_local int current = 0;

}  // namespace

bool device_exists(int device) { return device >= 0 && device < host_settings().device_count; }

int current_device() noexcept { return current; }

void set_current_device(int device) noexcept { current = device; }

}  // namespace roc::host_hip
