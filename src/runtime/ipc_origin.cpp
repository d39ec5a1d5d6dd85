// SPDX-License-Identifier: MIT
#include "runtime/ipc_origin.hpp"

#include <algorithm>
#include <string>

#include <roc/device.hpp>
#include <roc/error.hpp>

namespace roc::runtime {

base::process_identity identity_of(detail::ipc_origin const& origin) noexcept {
  return {origin.boot, origin.pid_namespace, origin.start_time, origin.pid};
}

detail::ipc_origin origin_of(int device) {
  base::process_identity const self = base::this_process();
  detail::ipc_origin result{self.boot, self.pid_namespace, self.start_time, self.pid, {}};
  std::string const id = roc::device(device).pci_bus_id();
  std::copy_n(id.begin(), std::min(id.size(), result.pci_bus_id.size() - 1),
              result.pci_bus_id.begin());
  return result;
}

int device_of_origin(detail::ipc_origin const& origin) {
  base::process_identity const process = identity_of(origin);
  base::process_identity const self = base::this_process();
  std::string const name = "process " + std::to_string(origin.pid);
  if (!base::may_be_same_boot(process, self)) {
    throw ipc_error(std::errc::host_unreachable,
                    "the handle of " + name +
                        " is from another machine, or from before a restart of this one; send it "
                        "to processes of the same machine");
  }
  if (process == self) {
    throw ipc_error(std::errc::operation_not_permitted,
                    "the handle is from this process, " + name +
                        ", and HIP opens handles in other processes only; use the array itself");
  }
  check_running(origin);
  std::string const wanted = origin.pci_bus_id.data();
  int const count = device::count();
  std::string visible;
  for (int i = 0; i < count; ++i) {
    std::string const id = device(i).pci_bus_id();
    if (id == wanted) return i;
    visible += (i == 0 ? "" : ", ") + id;
  }
  throw ipc_error(std::errc::no_such_device, "the handle of " + name + " is of device " + wanted +
                                                 ", and this process has " +
                                                 (count == 0 ? "none" : visible) +
                                                 "; make the device visible to this process");
}

bool has_ended(detail::ipc_origin const& origin, base::process_identity const& self) noexcept {
  return base::state_of(identity_of(origin), self) == base::process_state::ended;
}

void check_running(detail::ipc_origin const& origin) {
  if (!has_ended(origin, base::this_process())) return;
  throw ipc_error(std::errc::no_such_process,
                  "the handle is from process " + std::to_string(origin.pid) +
                      ", which has ended; keep the exporting process until its handles have been "
                      "opened");
}

std::uint64_t checksum_of(void const* data, std::size_t bytes) noexcept {
  // FNV-1a, with a start of the library's own, so that zeros are no valid contents.
  std::uint64_t result = 0x9ae16a3b2f90404f;
  auto const* const values = static_cast<unsigned char const*>(data);
  for (std::size_t i = 0; i < bytes; ++i) result = (result ^ values[i]) * 0x100000001b3;
  return result;
}

void throw_damaged_handle() {
  throw ipc_error(std::errc::invalid_argument,
                  "the handle is damaged, was never set, or is from another version of the "
                  "library; send all of its bytes, between programs with the same version");
}

}  // namespace roc::runtime
