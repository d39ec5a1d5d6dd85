// SPDX-License-Identifier: MIT
// Device memory that someone else allocated, owned by an array from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/device_array.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// An array over device or managed memory from elsewhere (numba.cuda: a `MemoryPointer` with a
/// finalizer). `finaliser(void*)` gives the memory back: it is called once, with `data`, when the
/// array has gone and all work on its device is done, unless the array was released before; what it
/// throws goes to the log hook. Without elements nothing is adopted, and nothing called.
///
/// The caller answers for the memory being large enough. Throws roc::error for an address that is
/// no device memory (then the finaliser is not called), lifetime_error for null, shape_error and
/// layout_error as device_array does.
template <class T, std::size_t N, class F>
[[nodiscard]] device_array<T, N> adopt(T* data, shape<N> const& extents,
                                       strides<N> const& steps, F finaliser) {
  if (detail::allocation_bytes(extents, steps, sizeof(T)) == 0) {
    return device_array<T, N>(extents, steps);
  }
  if (data == nullptr) {
    detail::throw_lifetime_error("adoption of a null pointer: adopt memory of a device");
  }
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) {
    std::ptrdiff_t const needed = alignof(T);
    detail::throw_layout_error("adoption of memory that is not aligned to ", {&needed, 1}, "", {},
                               " bytes, as its elements need");
  }
  detail::block_owner block(new detail::adopted_block<F>(data, std::move(finaliser)));
  stream_ref const there(nullptr, block->device(), detail::stream_kind::default_stream);
  return {detail::device_storage(std::move(block)), 0, extents, steps, there};
}
/// Contiguous memory.
template <class T, std::size_t N, class F>
[[nodiscard]] device_array<T, N> adopt(T* data, shape<N> const& extents, F finaliser,
                                       order o = order::c) {
  return adopt(data, extents, layout::compact_strides(extents, o), std::move(finaliser));
}

}  // namespace roc
