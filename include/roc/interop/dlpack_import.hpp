// SPDX-License-Identifier: MIT
// DLPack tensors of others as views and arrays. Part of roc/interop/dlpack.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <roc/memory/adopt.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/interop/dlpack_type.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

namespace detail {

template <class T, std::size_t N>
struct dlpack_memory {
  T* data = nullptr;
  roc::shape<N> shape{};
  roc::strides<N> strides{};
};

// Where the elements lie, checked as far as a tensor can be.
template <class T, std::size_t N>
dlpack_memory<T, N> read_dlpack(DLTensor const& tensor) {
  constexpr DLDataType wanted = dlpack_type<std::remove_cv_t<T>>;
  if (tensor.dtype.code != wanted.code || tensor.dtype.bits != wanted.bits ||
      tensor.dtype.lanes != wanted.lanes) {
    throw dlpack_error("DLPack tensor of " + dlpack_words(tensor.dtype) + ", elements asked for: " +
                       dlpack_words(wanted) + ": ask for the tensor's own type");
  }
  if (tensor.ndim != static_cast<std::int64_t>(N)) {
    std::ptrdiff_t const ranks[2] = {tensor.ndim, static_cast<std::ptrdiff_t>(N)};
    throw_shape_error("DLPack tensor of rank ", {ranks, 1}, ", asked for as rank ", {ranks + 1, 1},
                      ": ask for the tensor's own rank");
  }
  dlpack_memory<T, N> result;
  for (std::size_t i = 0; i < N; ++i) {
    std::ptrdiff_t const extent = tensor.shape[i];
    if (extent < 0) {
      throw_shape_error("DLPack tensor with an extent of ", {&extent, 1}, "", {},
                        ": extents are not negative");
    }
    result.shape[i] = static_cast<std::size_t>(extent);
  }
  result.strides = layout::compact_strides(result.shape);
  if (tensor.strides != nullptr) {
    for (std::size_t i = 0; i < N; ++i) result.strides[i] = tensor.strides[i];
  }
  if (layout::element_count(result.shape) == 0) return result;
  if (tensor.data == nullptr) {
    throw_lifetime_error("DLPack tensor whose data is null: it was given away or never allocated");
  }
  auto const address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  if (address % alignof(T) != 0) {
    std::ptrdiff_t const needed = alignof(T);
    throw_layout_error("DLPack tensor that is not aligned to ", {&needed, 1}, "", {},
                       " bytes, as its elements need: ask its producer for a copy");
  }
  result.data = reinterpret_cast<T*>(address);
  return result;
}

[[noreturn]] inline void throw_dlpack_device(DLTensor const& tensor, char const* wanted) {
  throw dlpack_error("DLPack tensor on " + dlpack_words(tensor.device) + ", asked for as " +
                     wanted + ": ask its producer to move it");
}

// The ordinal of the device that the tensor is on.
inline int dlpack_ordinal(DLTensor const& tensor) {
  auto const type = static_cast<int>(tensor.device.device_type);
#if ROCARRAY_PLATFORM_NVIDIA
  bool const managed = type == kDLCUDAManaged;
#else
  bool const managed = false;
#endif
  if (type != dlpack_device && !managed) {
    throw_dlpack_device(tensor, ("memory of this platform's devices (" +
                                 dlpack_words(DLDevice{dlpack_device, 0}) + ")")
                                    .c_str());
  }
  int const ordinal = tensor.device.device_id;
  if (ordinal < 0 || ordinal >= device::count()) {
    throw dlpack_error("DLPack tensor on device " + std::to_string(ordinal) + " of " +
                       std::to_string(device::count()) +
                       ": let this process see the device that its producer used");
  }
  return ordinal;
}

// Gives a tensor back to its producer; a producer may have nothing to do.
template <class Managed>
void delete_dlpack(Managed* tensor) {
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

template <class T, std::size_t N, class Managed>
device_array<T, N> adopt_dlpack(Managed* tensor) {
  auto const memory = read_dlpack<T, N>(tensor->dl_tensor);
  int const ordinal = dlpack_ordinal(tensor->dl_tensor);
  auto array = [&] {
    device_guard const current{device(ordinal)};
    return adopt(memory.data, memory.shape, memory.strides,
                 [tensor](void*) { delete_dlpack(tensor); });
  }();
  if (memory.data == nullptr) {
    delete_dlpack(tensor);  // nothing was adopted
  } else if (array.device_ordinal() != ordinal) {
    int const found = array.device_ordinal();
    static_cast<void>(array.release());  // it stays the caller's
    throw dlpack_error("DLPack tensor that says device " + std::to_string(ordinal) +
                       ", and lies on device " + std::to_string(found) +
                       ": its producer must name the right one");
  }
  return array;
}

}  // namespace detail

/// A tensor in device memory as a view, to be read or written; nothing is copied or owned: the
/// tensor must outlive the view and the work enqueued with it. Its producer must have ordered its
/// own work on the memory before ours (see dlpack_stream). Strides may be of any kind. Throws
/// dlpack_error (another device, element type), shape_error (another rank), layout_error
/// (unaligned), lifetime_error (no data).
template <class T, std::size_t N>
[[nodiscard]] device_view<T, N> dlpack_view(DLTensor const& tensor) {
  auto const memory = detail::read_dlpack<T, N>(tensor);
  return {memory.data, memory.shape, memory.strides, detail::dlpack_ordinal(tensor)};
}

/// The same for a tensor in host memory, pinned or not.
template <class T, std::size_t N>
[[nodiscard]] host_view<T, N> dlpack_host_view(DLTensor const& tensor) {
  if (tensor.device.device_type != kDLCPU && tensor.device.device_type != dlpack_pinned) {
    detail::throw_dlpack_device(tensor, "host memory");
  }
  auto const memory = detail::read_dlpack<T, N>(tensor);
  return {memory.data, memory.shape, memory.strides};
}

/// Takes a tensor in device memory over: the array owns it, and its deleter is called once, when
/// the array has gone and all work on its device is done; a tensor without elements is given back
/// at once. After an exception the tensor is still the caller's. Throws as dlpack_view,
/// layout_error also for strides that are negative or meet (take a view of such), roc::error for an
/// address that is no device memory.
template <class T, std::size_t N>
[[nodiscard]] device_array<T, N> from_dlpack(DLManagedTensor* tensor) {
  if (tensor == nullptr) detail::throw_lifetime_error("from_dlpack of a null tensor");
  return detail::adopt_dlpack<T, N>(tensor);
}

#if ROCARRAY_DLPACK_VERSIONED
namespace detail {

template <class T>
void check_dlpack_version(DLManagedTensorVersioned const& tensor) {
  if (tensor.version.major != DLPACK_MAJOR_VERSION) {
    throw dlpack_error("DLPack tensor of version " + std::to_string(tensor.version.major) +
                       ", understood: " + std::to_string(DLPACK_MAJOR_VERSION) +
                       ": ask its producer for that (max_version=)");
  }
  if ((tensor.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0 && !std::is_const_v<T>) {
    throw dlpack_error(
        "DLPack tensor that is read-only, asked for to be written: take a view of "
        "const elements, or a copy");
  }
}

}  // namespace detail

/// As the forms without a version; also throws dlpack_error where the tensor is read-only and T is
/// not const, or its major version is another.
template <class T, std::size_t N>
[[nodiscard]] device_view<T, N> dlpack_view(DLManagedTensorVersioned const& tensor) {
  detail::check_dlpack_version<T>(tensor);
  return dlpack_view<T, N>(tensor.dl_tensor);
}
template <class T, std::size_t N>
[[nodiscard]] host_view<T, N> dlpack_host_view(DLManagedTensorVersioned const& tensor) {
  detail::check_dlpack_version<T>(tensor);
  return dlpack_host_view<T, N>(tensor.dl_tensor);
}
template <class T, std::size_t N>
[[nodiscard]] device_array<T, N> from_dlpack(DLManagedTensorVersioned* tensor) {
  if (tensor == nullptr) detail::throw_lifetime_error("from_dlpack of a null tensor");
  detail::check_dlpack_version<T>(*tensor);
  return detail::adopt_dlpack<T, N>(tensor);
}
#endif

}  // namespace roc
