// SPDX-License-Identifier: MIT
// Arrays that take ownership of device memory allocated elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>

#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/device_array.hpp>
#include <roc/layout/shape.hpp>

namespace roc {
namespace detail {

/// Constructs the arrays of adopt and open_ipc_array. A friend declaration of adopt itself would
/// not allow its default argument.
struct array_adoption {
  template <class T, std::size_t N>
  static device_array<T, N> array_of(device_storage&& storage, shape<N> const& extents,
                                     strides<N> const& steps, stream_ref stream,
                                     std::size_t offset_bytes = 0) {
    return {std::move(storage), offset_bytes, extents, steps, stream};
  }
};

}  // namespace detail

/// Returns an array that owns device or managed memory allocated elsewhere (torch: `from_blob`;
/// numba.cuda: a `MemoryPointer` with a finalizer).
///
/// @param data memory of any device; the caller ensures that it is large enough
/// @param extents the shape
/// @param steps the strides in elements, none negative
/// @param deleter called once as `deleter(data)` to free the memory, unless the array is released
///   (device_array::release). Exceptions that it throws are reported to the log hook. Not called if
///   the array has no elements.
/// @throws lifetime_error if `data` is null although the array has elements
/// @throws layout_error if `data` is not aligned for T, or for strides as device_array does
/// @throws shape_error if the size overflows
/// @throws roc::error if `data` is neither device nor managed memory
///
/// *Synchronization:* the last owner blocks until the work that uses the memory has finished and
/// then calls the deleter. That is work that the library enqueued after the adoption, work on the
/// default stream of the device, and work of streams passed to record_stream; other work is unknown
/// to the library and must have finished. If the memory overlaps an array or other adopted memory,
/// the last owner waits for all work of all devices. If the wait fails, the memory is leaked, which
/// the log hook reports.
///
/// *Lifetime:* after an exception the memory still belongs to the caller; the deleter is not
/// called.
template <class T, std::size_t N, class F>
[[nodiscard]] device_array<T, N> adopt(T* data, shape<N> const& extents, strides<N> const& steps,
                                       F deleter,
                                       detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  std::size_t const bytes = detail::allocation_bytes(extents, steps, sizeof(T));
  if (bytes == 0) return device_array<T, N>(extents, steps);
  if (data == nullptr) {
    detail::throw_lifetime_error("the memory is a null pointer; use device memory");
  }
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) {
    detail::throw_layout_error(
        "the memory is not aligned to {} bytes, as its elements require; use aligned memory",
        alignof(T));
  }
  auto storage = detail::device_storage::adopt(data, bytes, std::move(deleter));
  stream_ref const stream(nullptr, storage.device(), detail::stream_kind::default_stream);
  return detail::array_adoption::array_of<T>(std::move(storage), extents, steps, stream);
}
/// Returns an array that owns contiguous device memory in order `o`. Otherwise the same as the
/// overload with strides.
template <class T, std::size_t N, class F>
[[nodiscard]] device_array<T, N> adopt(T* data, shape<N> const& extents, F deleter,
                                       order o = order::c,
                                       detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return adopt(data, extents, layout::compact_strides(extents, o), std::move(deleter));
}

}  // namespace roc
