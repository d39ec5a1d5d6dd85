// SPDX-License-Identifier: MIT
// Host memory as the device sees it, without a copy: roc/memory/mapped_view.hpp. Here without the view of
// device memory, which needs host arrays itself.
#pragma once

#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/host_argument.hpp>

namespace roc {

template <class T, std::size_t N>
class device_view;

namespace detail {

struct device_address {
  void* data;
  int device;
};

/// Where the current device finds host memory of `bytes` bytes.
ROCARRAY_API device_address device_address_of(void const* data, std::size_t bytes, bool for_writing);

}  // namespace detail

/// A view by which kernels and copies of the current device use host memory where it lies
/// (hipHostGetDevicePointer; numba.cuda: `mapped`): a mapped or managed array, memory registered
/// with the option `mapped`, or adopted; any part of these. The address may be another than the
/// host's.
///
/// Nothing is copied, and nothing waits. The memory must live, and stay registered, until the work
/// that uses it is done; copies and fills of the library are waited for. Throws registration_error
/// for other memory, and for memory registered for reading only unless the elements are const.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H &&>)
auto device_view_of(H&& host) {
  auto const from = detail::as_host_view(host);
  using view = std::remove_const_t<decltype(from)>;
  using element = typename view::element_type;
  constexpr std::size_t rank = view::rank;
  if (from.size() == 0) return device_view<element, rank>(nullptr, from.shape(), from.strides());
  auto const [low, high] = from.element_range();
  auto const address =
      detail::device_address_of(from.data() + low,
                                static_cast<std::size_t>(high - low) * sizeof(element),
                                !std::is_const_v<element>);
  return device_view<element, rank>(static_cast<element*>(address.data) - low, from.shape(),
                                    from.strides(), address.device);
}

}  // namespace roc
