// SPDX-License-Identifier: MIT
// Device views of host memory, without a copy: roc::device_view_of.
#pragma once

#include <cstddef>
#include <source_location>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/device_view.hpp>

namespace roc {

namespace detail {

/// An address that is valid on a device.
struct device_address {
  void* data;
  int device;
};

/// Returns the address at which the current device accesses `bytes` bytes of host memory. Calls
/// HIP; does not block. Throws registration_error and roc::error.
ROCARRAY_API device_address device_address_of(void const* data, std::size_t bytes,
                                              bool for_writing);

}  // namespace detail

/// Returns a view through which kernels and copies of the current device access host memory in
/// place (hipHostGetDevicePointer; numba.cuda: `mapped`).
///
/// @param host a mapped or managed array, memory that is registered with the option `mapped`,
///   adopted memory, or any part of these
/// @returns a device view, whose address may differ from the host's
/// @throws registration_error for other memory, and for memory that is registered as read-only
///   unless the elements are const
///
/// *Synchronization:* nothing is copied, and the call does not block.
///
/// *Lifetime:* the memory must live, and stay registered, until the work that uses it has finished.
/// Its destruction or deregistration waits for copies and fills of the library, not for your
/// kernels.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H &&>)
auto device_view_of(H&& host, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  auto const view = detail::as_host_view(host);
  using view_t = std::remove_const_t<decltype(view)>;
  using element = typename view_t::element_type;
  constexpr std::size_t rank = view_t::rank;
  if (view.size() == 0) return device_view<element, rank>(nullptr, view.shape(), view.strides());
  auto const [low, high] = view.element_range();
  auto const address = detail::device_address_of(
      view.data() + low, static_cast<std::size_t>(high - low) * sizeof(element),
      !std::is_const_v<element>);
  return device_view<element, rank>(static_cast<element*>(address.data) - low, view.shape(),
                                    view.strides(), address.device);
}

}  // namespace roc
