// SPDX-License-Identifier: MIT
#include "copy/paths/peer_route.hpp"

#include <string>
#include <system_error>

#include <roc/error.hpp>

#include "base/options.hpp"
#include "memory/device/peer_memory.hpp"
#include "platform/pointer.hpp"
#include "runtime/current_device.hpp"
#include "runtime/peer_access.hpp"

namespace roc::transfer {
namespace {

// Returns true if `device` has access to the memory of the other one.
bool has_access(int device, int other_device) {
  return base::options().peer_access &&
         runtime::enable_peer_access(device, other_device) == runtime::peer_access::enabled;
}

// Returns true if `device`, which has access to the other device, can access the memory of the copy
// there.
bool can_access_memory(plan const& p, int device) {
  if (p.mapped) return false;  // host memory
  void const* const address =
      device == p.source_device ? p.canonical.destination : p.canonical.source;
  if (memory::is_peer_accessible(address)) return true;
  runtime::on_device const guard(device);
  return platform::is_accessible(address);
}

}  // namespace

peer_route find_peer_route(plan const& p, int destination_device, stream_ref const* stream) {
  // HIP copies contiguous memory between any two devices, but on AMD directly only with access.
  bool const needs_access = p.path != copy_path::dma;
  bool const prefers_source =
      needs_access && fastest_executing_side == executing_side::source && stream == nullptr;
  int device = prefers_source ? p.source_device : destination_device;
  if (stream != nullptr) {
    device = stream->device_ordinal() >= 0 ? stream->device_ordinal() : runtime::current_device();
  }
  int const other_device = device == p.source_device ? destination_device : p.source_device;
  // The stream of a third device is an error, which the caller finds.
  if (device != p.source_device && device != destination_device) {
    return {true, destination_device, p.source_device};
  }
  bool const is_accessible = has_access(device, other_device);
  bool const is_direct = !needs_access || (is_accessible && can_access_memory(p, device));
  return {is_direct, device, other_device};
}

void throw_no_access(plan const& p, int destination_device) {
  throw error(
      std::make_error_code(std::errc::invalid_argument),
      std::string("the copy cannot take the path of its copy_options: ") + to_string(p.path) +
          " needs peer access between the devices " + std::to_string(p.source_device) + " and " +
          std::to_string(destination_device) + ", which " +
          (base::options().peer_access ? "they do not have" : "options::peer_access forbids") +
          "; use copy_path::none");
}

}  // namespace roc::transfer
