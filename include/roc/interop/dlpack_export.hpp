// SPDX-License-Identifier: MIT
// Arrays as DLPack tensors for others. Part of roc/interop/dlpack.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/device_view.hpp>
#include <roc/event.hpp>
#include <roc/host_array.hpp>
#include <roc/host_view.hpp>
#include <roc/interop/dlpack_type.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

// A tensor points to its shape and strides: they stay where it is.
template <std::size_t N>
struct dlpack_axes {
  std::array<std::int64_t, N == 0 ? 1 : N> shape{};
  std::array<std::int64_t, N == 0 ? 1 : N> strides{};

  template <class V>
  DLTensor tensor(V const& view, DLDevice device) {
    auto const extents = view.shape();
    auto const steps = view.strides();
    for (std::size_t i = 0; i < N; ++i) {
      shape[i] = static_cast<std::int64_t>(extents[i]);
      strides[i] = steps[i];
    }
    DLTensor result{};
    result.data = const_cast<std::remove_const_t<typename V::element_type>*>(view.data());
    result.device = device;
    result.ndim = static_cast<int>(N);
    result.dtype = dlpack_type<typename V::value_type>;
    result.shape = shape.data();
    result.strides = strides.data();
    return result;
  }
};

template <class T, std::size_t N>
DLDevice dlpack_place(device_array<T, N> const& array) {
  return {dlpack_device, array.device_ordinal()};
}
template <class T, std::size_t N>
DLDevice dlpack_place(host_array<T, N> const& array) {
  bool const pinned = array.kind() == host_memory::pinned || array.kind() == host_memory::mapped;
#if ROCARRAY_PLATFORM_NVIDIA
  if (array.kind() == host_memory::managed) return {kDLCUDAManaged, 0};
#endif
  return {pinned ? dlpack_pinned : kDLCPU, 0};
}

// An array and the tensor that shows it, deleted together by the tensor's deleter.
template <class Managed, class Array, std::size_t N>
struct dlpack_export {
  explicit dlpack_export(Array&& shown) : array(std::move(shown)) {
    managed.dl_tensor = axes.tensor(array.view(), dlpack_place(array));
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { delete static_cast<dlpack_export*>(self->manager_ctx); };
  }

  Managed managed{};
  Array array;
  dlpack_axes<N> axes;
};

// Throws before the array is moved from.
template <class T, std::size_t N>
void finish_for_dlpack(device_array<T, N> const& array) {
  if (array.size() != 0) device(array.device_ordinal()).synchronize();
}
template <class T, std::size_t N>
void order_for_dlpack(device_array<T, N> const& array, stream_ref consumer) {
  if (array.size() == 0) return;
  device_guard const current{device(array.device_ordinal())};
  array.record_stream(consumer);
  if (array.stream() == consumer) return;
  event done;
  done.record(array.stream());
  consumer.wait(done);
}

template <class Managed, class T, std::size_t N, template <class, std::size_t> class Array>
Managed* export_dlpack(Array<T, N>&& array) {
  return &(new dlpack_export<Managed, Array<T, N>, N>(std::move(array)))->managed;
}

}  // namespace detail

/// Gives an array away as a tensor: whoever gets it calls its deleter once, which frees the array.
/// Waits for all work on its device, so that any consumer may use it at once. After an exception
/// the array is still the caller's. Throws lifetime_error, roc::error.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensor* to_dlpack(device_array<T, N>&& array) {
  detail::finish_for_dlpack(array);
  return detail::export_dlpack<DLManagedTensor, T, N>(std::move(array));
}
/// The same without waiting: what `consumer` is given from now on comes after the work on the
/// stream that the array was made with, which must live (work on others: order it there by an
/// event, or let the form without a stream wait). The memory is not used again before the work that
/// `consumer` has when the deleter is called; a stream of another library must live until then.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensor* to_dlpack(device_array<T, N>&& array, stream_ref consumer) {
  detail::order_for_dlpack(array, consumer);
  return detail::export_dlpack<DLManagedTensor, T, N>(std::move(array));
}
/// Host memory; copies into it must be done (it does not wait for them).
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensor* to_dlpack(host_array<T, N>&& array) {
  static_cast<void>(array.shape());  // throws for one that owns nothing
  return detail::export_dlpack<DLManagedTensor, T, N>(std::move(array));
}

#if ROCARRAY_DLPACK_VERSIONED
namespace detail {

template <class T, std::size_t N, template <class, std::size_t> class Array>
DLManagedTensorVersioned* export_versioned(Array<T, N>&& array, bool read_only) {
  auto* const result = export_dlpack<DLManagedTensorVersioned, T, N>(std::move(array));
  result->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  result->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return result;
}

}  // namespace detail

/// As to_dlpack, as tensors of DLPack 1, which can say that they are read-only.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(device_array<T, N>&& array,
                                                            bool read_only = false) {
  detail::finish_for_dlpack(array);
  return detail::export_versioned<T, N>(std::move(array), read_only);
}
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(device_array<T, N>&& array,
                                                            stream_ref consumer,
                                                            bool read_only = false) {
  detail::order_for_dlpack(array, consumer);
  return detail::export_versioned<T, N>(std::move(array), read_only);
}
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(host_array<T, N>&& array,
                                                            bool read_only = false) {
  static_cast<void>(array.shape());
  return detail::export_versioned<T, N>(std::move(array), read_only);
}
#endif

/// A tensor that borrows a view, for calls that take a DLTensor: nobody deletes it, and the view's
/// memory must outlive it. Not of const elements: a DLTensor cannot say that they are. The device
/// is the view's, or the current one where the view names none.
template <std::size_t N>
class dlpack_tensor {
 public:
  /// Of device memory, in any strides.
  template <class T>
    requires(!std::is_const_v<T>)
  explicit dlpack_tensor(device_view<T, N> const& view)
      : tensor_(axes_.tensor(
            view, {dlpack_device,
                   view.device_ordinal() < 0 ? device().ordinal() : view.device_ordinal()})) {}
  /// Of host memory, in any strides.
  template <class T>
    requires(!std::is_const_v<T>)
  explicit dlpack_tensor(host_view<T, N> const& view)
      : tensor_(axes_.tensor(view, {kDLCPU, 0})) {}
  // It points into itself.
  dlpack_tensor(dlpack_tensor const&) = delete;
  dlpack_tensor& operator=(dlpack_tensor const&) = delete;

  DLTensor* get() noexcept { return &tensor_; }       ///< valid as long as this lives
  DLTensor& operator*() noexcept { return tensor_; }  ///< valid as long as this lives

 private:
  detail::dlpack_axes<N> axes_;
  DLTensor tensor_;
};

/// Of the view's rank.
///@{
template <class T, std::size_t N>
dlpack_tensor(device_view<T, N> const&) -> dlpack_tensor<N>;
template <class T, std::size_t N>
dlpack_tensor(host_view<T, N> const&) -> dlpack_tensor<N>;
///@}

}  // namespace roc
