// SPDX-License-Identifier: MIT
// DLPack import and export: exchanges arrays with PyTorch, CuPy, JAX, TVM and others without a
// copy.
//
// Needs DLPack's header (Debian and Ubuntu: libdlpack-dev) and the definition of the platform,
// which CMake's target rocarray::rocarray provides.
#pragma once

#include <dlpack/dlpack.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <roc/detail/call_scope.hpp>
#include <roc/detail/element_type.hpp>
#include <roc/detail/memory_operand.hpp>
#include <roc/detail/resource_adapter.hpp>
#include <roc/detail/tensor_operand.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/device_view.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/host_array.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/memory/adopt.hpp>
#include <roc/stream.hpp>

#if ROCARRAY_PLATFORM_HOST + ROCARRAY_PLATFORM_AMD + ROCARRAY_PLATFORM_NVIDIA != 1
#error \
    "rocarray: roc/interop/dlpack.hpp names the platform's devices: link rocarray::rocarray, \
which defines the platform, or define one of ROCARRAY_PLATFORM_HOST, ROCARRAY_PLATFORM_AMD, \
ROCARRAY_PLATFORM_NVIDIA as 1"
#endif

#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION >= 1
#define ROCARRAY_DLPACK_VERSIONED 1
#else
#define ROCARRAY_DLPACK_VERSIONED 0  // before 1.0, tensors have no read-only flag
#endif

namespace roc {

// Types and devices

/// The DLPack type of elements of type T: defined for integers, bool, float, double and
/// std::complex. Specialise it for your own types, such as half:
///   template <> inline constexpr DLDataType roc::dlpack_type<__half> = {kDLFloat, 16, 1};
template <class T>
inline constexpr DLDataType dlpack_type = [] {
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  if constexpr (std::is_same_v<T, bool>) {
    return DLDataType{6, 8, 1};  // kDLBool, which headers before 0.8 do not define
  } else if constexpr (std::is_integral_v<T>) {
    return DLDataType{std::is_signed_v<T> ? kDLInt : kDLUInt, bits, 1};
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return DLDataType{kDLFloat, bits, 1};
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return DLDataType{kDLComplex, bits, 1};
  } else {
    static_assert(sizeof(T) == 0, "rocarray: specialise roc::dlpack_type for this element type");
  }
}();

#if ROCARRAY_PLATFORM_AMD
inline constexpr DLDeviceType dlpack_device = kDLROCM;
inline constexpr DLDeviceType dlpack_pinned = kDLROCMHost;
#elif ROCARRAY_PLATFORM_NVIDIA
inline constexpr DLDeviceType dlpack_device = kDLCUDA;
inline constexpr DLDeviceType dlpack_pinned = kDLCUDAHost;
#else
/// DLPack's type of this platform's device memory: kDLROCM, kDLCUDA, and kDLExtDev on the host
/// platform. There it is not kDLCPU, because device memory is accessed in stream order and may be
/// protected from the CPU: code that expects CPU memory must not accept it.
inline constexpr DLDeviceType dlpack_device = kDLExtDev;
/// DLPack's type of this platform's pinned host memory.
inline constexpr DLDeviceType dlpack_pinned = kDLCPU;
#endif

/// Returns the number that represents a stream in Python's `__dlpack__(stream=...)`. The producer
/// orders its work before later work on that stream.
[[nodiscard]] inline std::intptr_t dlpack_stream(stream_ref stream) {
  auto const handle = reinterpret_cast<std::intptr_t>(stream.handle());
#if ROCARRAY_PLATFORM_NVIDIA
  return handle == 0 ? 1 : handle;  // 0 is ambiguous on CUDA, which has two default streams
#else
  return handle;
#endif
}

namespace detail {

/// Returns the type of a tensor's elements.
constexpr element_type element_type_of(DLDataType type) noexcept {
  return {type.code, type.bits, type.lanes};
}

/// Returns the number of a device's type. A producer may know types that this header's enumeration
/// does not have: such a value must not be read as an enumerator.
inline int dlpack_device_type(DLDevice const& device) noexcept {
  std::int32_t number = 0;
  static_assert(sizeof(device.device_type) == sizeof(number));
  std::memcpy(&number, &device.device_type, sizeof(number));
  return number;
}

/// Returns a name for messages, such as "CUDA device 0".
inline std::string dlpack_name(DLDevice const& device) {
  int const type = dlpack_device_type(device);
  switch (type) {
    case kDLCPU: return "the CPU";
    case kDLCUDA: return "CUDA device " + std::to_string(device.device_id);
    case kDLCUDAHost: return "pinned CUDA memory";
    case kDLROCM: return "ROCm device " + std::to_string(device.device_id);
    case kDLROCMHost: return "pinned ROCm memory";
    case kDLCUDAManaged: return "managed CUDA memory";
    default: return "a device of type " + std::to_string(type);
  }
}

}  // namespace detail

// Import

namespace detail {

template <class T, std::size_t N>
struct dlpack_memory {
  T* data = nullptr;  // null if there are no elements
  roc::shape<N> shape{};
  roc::strides<N> strides{};
};

/// Returns the address and the layout of a tensor's elements. Throws if type, rank, extents or
/// alignment do not fit T and N. Does not check the device.
template <class T, std::size_t N>
dlpack_memory<T, N> read_dlpack(DLTensor const& tensor) {
  constexpr DLDataType requested = dlpack_type<std::remove_cv_t<T>>;
  if (tensor.dtype.code != requested.code || tensor.dtype.bits != requested.bits ||
      tensor.dtype.lanes != requested.lanes) {
    throw dlpack_error("DLPack tensor has elements of type " +
                       to_string(element_type_of(tensor.dtype)) + ", requested " +
                       to_string(element_type_of(requested)) + "; request the tensor's own type");
  }
  if (tensor.ndim != static_cast<std::int64_t>(N)) {
    throw_shape_error("DLPack tensor has rank {}, requested rank {}; request the tensor's own rank",
                      tensor.ndim, N);
  }
  if (N != 0 && tensor.shape == nullptr) {
    throw_shape_error("DLPack tensor of rank {} has no extents; its producer must set its shape",
                      N);
  }
  dlpack_memory<T, N> result;
  for (std::size_t i = 0; i < N; ++i) {
    std::ptrdiff_t const extent = tensor.shape[i];
    if (extent < 0) {
      throw_shape_error("DLPack tensor has a negative extent: {}; its producer must set its shape",
                        extent);
    }
    result.shape[i] = static_cast<std::size_t>(extent);
  }
  result.strides = layout::compact_strides(result.shape);
  if (tensor.strides != nullptr) {
    for (std::size_t i = 0; i < N; ++i) result.strides[i] = tensor.strides[i];
  }
  if (layout::element_count(result.shape) == 0) return result;
  if (tensor.data == nullptr) {
    throw_lifetime_error(
        "DLPack tensor has no data: it was released or never allocated; use a tensor with data");
  }
  std::uintptr_t address = 0;
  if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(tensor.data), tensor.byte_offset,
                             &address)) {
    throw_layout_error(
        "DLPack tensor has elements beyond the address space: its byte offset is {}; its producer "
        "must set the offset of the first element",
        tensor.byte_offset);
  }
  if (address % alignof(T) != 0) {
    throw_layout_error(
        "DLPack tensor is not aligned to {} bytes, as its elements require; ask its "
        "producer for a copy",
        alignof(T));
  }
  result.data = reinterpret_cast<T*>(address);
  return result;
}

[[noreturn]] inline void throw_dlpack_device(DLTensor const& tensor, std::string const& requested) {
  throw dlpack_error("DLPack tensor is on " + dlpack_name(tensor.device) + ", requested " +
                     requested + "; ask its producer to move it");
}

/// Returns the ordinal of the device that the tensor is on. Throws dlpack_error if it is not in
/// memory of this platform's devices.
inline int dlpack_ordinal(DLTensor const& tensor) {
  int const type = dlpack_device_type(tensor.device);
#if ROCARRAY_PLATFORM_NVIDIA
  bool const is_managed = type == kDLCUDAManaged;
#else
  bool const is_managed = false;
#endif
  if (type != dlpack_device && !is_managed) {
    throw_dlpack_device(tensor, "memory of this platform's devices (" +
                                    dlpack_name(DLDevice{dlpack_device, 0}) + ")");
  }
  int const ordinal = tensor.device.device_id;
  if (ordinal < 0 || ordinal >= device::count()) {
    throw dlpack_error("DLPack tensor is on device " + std::to_string(ordinal) + " of " +
                       std::to_string(device::count()) +
                       "; make the producer's device visible to this process");
  }
  return ordinal;
}

/// Calls the tensor's deleter, if there is one.
template <class Managed>
void delete_dlpack(Managed* tensor) {
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

/// Returns an array that owns the tensor. If this throws, the caller still owns the tensor.
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
    delete_dlpack(tensor);  // adopt does not call the deleter for an array without elements
  } else if (array.device_ordinal() != ordinal) {
    int const actual = array.device_ordinal();
    static_cast<void>(array.release());
    throw dlpack_error("DLPack tensor names device " + std::to_string(ordinal) +
                       ", but its memory is on device " + std::to_string(actual) +
                       "; its producer must name the right device");
  }
  return array;
}

}  // namespace detail

/// Returns a view of a tensor in device memory, with any strides.
///
/// @throws dlpack_error for memory of another platform, a device that this process does not see, or
///   another element type
/// @throws shape_error for another rank
/// @throws layout_error if the memory is not aligned for T
/// @throws lifetime_error if the tensor has no data
///
/// *Synchronization:* the producer must have ordered its own work on the memory before the view is
/// used: see dlpack_stream.
///
/// *Lifetime:* the tensor must outlive the view and the work that uses it.
template <class T, std::size_t N>
[[nodiscard]] device_view<T, N> dlpack_view(DLTensor const& tensor,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  auto const memory = detail::read_dlpack<T, N>(tensor);
  return {memory.data, memory.shape, memory.strides, detail::dlpack_ordinal(tensor)};
}

/// Returns a view of a tensor in host memory, pinned or not. Otherwise as dlpack_view.
template <class T, std::size_t N>
[[nodiscard]] host_view<T, N> dlpack_host_view(
    DLTensor const& tensor, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  int const type = detail::dlpack_device_type(tensor.device);
  if (type != kDLCPU && type != dlpack_pinned) {
    detail::throw_dlpack_device(tensor, "host memory");
  }
  auto const memory = detail::read_dlpack<T, N>(tensor);
  return {memory.data, memory.shape, memory.strides};
}

/// Returns an array that takes ownership of a tensor in device memory.
///
/// @throws dlpack_error, shape_error, lifetime_error as dlpack_view does
/// @throws layout_error as dlpack_view does, and for strides that are negative or make elements
///   overlap; use dlpack_view for such tensors
/// @throws roc::error if the address is not device memory
///
/// *Lifetime:* the tensor's deleter is called once, after the array was destroyed and the work that
/// uses the memory has finished, as roc::adopt describes. A tensor without elements is deleted
/// before this returns. After an exception the caller still owns the tensor.
template <class T, std::size_t N>
[[nodiscard]] device_array<T, N> from_dlpack(DLManagedTensor* tensor,
                                             detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  if (tensor == nullptr)
    detail::throw_lifetime_error("the tensor is null; pass the tensor of a producer");
  return detail::adopt_dlpack<T, N>(tensor);
}

#if ROCARRAY_DLPACK_VERSIONED
namespace detail {

/// Throws dlpack_error for another major version, and for a read-only tensor if T is not const.
template <class T>
void check_dlpack_version(DLManagedTensorVersioned const& tensor) {
  if (tensor.version.major != DLPACK_MAJOR_VERSION) {
    throw dlpack_error("DLPack tensor has version " + std::to_string(tensor.version.major) +
                       ", supported is " + std::to_string(DLPACK_MAJOR_VERSION) +
                       "; ask its producer for that version (max_version=)");
  }
  if ((tensor.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0 && !std::is_const_v<T>) {
    throw dlpack_error(
        "DLPack tensor is read-only; take a view of const elements, or copy the tensor");
  }
}

}  // namespace detail

/// Returns a view of a tensor of DLPack 1 in device memory, as dlpack_view of a DLTensor does. Also
/// throws dlpack_error if the tensor is read-only and T is not const, or if its major version
/// differs.
template <class T, std::size_t N>
[[nodiscard]] device_view<T, N> dlpack_view(DLManagedTensorVersioned const& tensor,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::check_dlpack_version<T>(tensor);
  return dlpack_view<T, N>(tensor.dl_tensor);
}
/// Returns a view of a tensor of DLPack 1 in host memory. Also throws dlpack_error if the tensor is
/// read-only and T is not const, or if its major version differs.
template <class T, std::size_t N>
[[nodiscard]] host_view<T, N> dlpack_host_view(
    DLManagedTensorVersioned const& tensor, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::check_dlpack_version<T>(tensor);
  return dlpack_host_view<T, N>(tensor.dl_tensor);
}
/// Returns an array that takes ownership of a tensor of DLPack 1. Also throws dlpack_error if the
/// tensor is read-only, or if its major version differs.
template <class T, std::size_t N>
[[nodiscard]] device_array<T, N> from_dlpack(DLManagedTensorVersioned* tensor,
                                             detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  if (tensor == nullptr)
    detail::throw_lifetime_error("the tensor is null; pass the tensor of a producer");
  detail::check_dlpack_version<T>(*tensor);
  return detail::adopt_dlpack<T, N>(tensor);
}
#endif

// Operands of roc::copy

namespace detail {

/// Returns the members of a tensor. Its device type and its element type may be unknown values.
inline tensor_description describe_dlpack(DLTensor const& tensor) {
  return {tensor.data,
          dlpack_device_type(tensor.device),
          tensor.device.device_id,
          tensor.ndim,
          {tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes},
          tensor.shape,
          tensor.strides,
          tensor.byte_offset};
}

template <>
struct tensor_traits<DLTensor> {
  static constexpr bool is_tensor = true;
  template <class T>
  static constexpr element_type type_of{dlpack_type<T>.code, dlpack_type<T>.bits,
                                        dlpack_type<T>.lanes};
  static tensor_description describe(DLTensor const& tensor) { return describe_dlpack(tensor); }
};
template <>
struct tensor_traits<DLManagedTensor> : tensor_traits<DLTensor> {
  static tensor_description describe(DLManagedTensor const& tensor) {
    return describe_dlpack(tensor.dl_tensor);
  }
};
#if ROCARRAY_DLPACK_VERSIONED
template <>
struct tensor_traits<DLManagedTensorVersioned> : tensor_traits<DLTensor> {
  static tensor_description describe(DLManagedTensorVersioned const& tensor) {
    check_dlpack_version<void const>(tensor);
    tensor_description result = describe_dlpack(tensor.dl_tensor);
    result.is_read_only = (tensor.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    return result;
  }
};
#endif

}  // namespace detail

// Export

namespace detail {

/// The shape and the strides that a DLTensor points to. Must not be moved while it is in use.
template <std::size_t N>
struct dlpack_axes {
  std::array<std::int64_t, N == 0 ? 1 : N> shape{};
  std::array<std::int64_t, N == 0 ? 1 : N> strides{};

  /// Returns a tensor that borrows the view's memory and points into this object.
  template <class V>
  DLTensor make_tensor(V const& view, DLDevice device) {
    auto const view_shape = view.shape();
    auto const view_strides = view.strides();
    for (std::size_t i = 0; i < N; ++i) {
      shape[i] = static_cast<std::int64_t>(view_shape[i]);
      strides[i] = view_strides[i];
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
DLDevice dlpack_device_of(device_array<T, N> const& array) {
  return {dlpack_device, array.device_ordinal()};
}
template <class T, std::size_t N>
DLDevice dlpack_device_of(host_array<T, N> const& array) {
  bool const is_pinned = array.kind() == host_memory::pinned || array.kind() == host_memory::mapped;
#if ROCARRAY_PLATFORM_NVIDIA
  if (array.kind() == host_memory::managed) return {kDLCUDAManaged, 0};
#endif
  return {is_pinned ? dlpack_pinned : kDLCPU, 0};
}

/// Records the work on a consumer's stream as a use of the array, whose memory is about to be
/// freed. If that fails, waits for the stream, and if that fails too, leaks the memory.
template <class T, std::size_t N>
void end_dlpack_use(device_array<T, N>& array, stream_ref consumer) noexcept {
  try {
    try {
      array.record_stream(consumer);
    } catch (lifetime_error const&) {
      // The stream of the library has ended: its use has been recorded before.
    } catch (std::exception const&) {
      consumer.synchronize();
    }
  } catch (std::exception const& error) {
    log_failed_deallocation(array.data(), error.what());
    static_cast<void>(new (std::nothrow) device_array<T, N>(std::move(array)));
  }
}

/// An array and the tensor that describes it. The tensor's deleter deletes both.
template <class Managed, class Array, std::size_t N>
struct dlpack_export {
  dlpack_export(Array&& source, std::optional<stream_ref> stream)
      : array(std::move(source)), consumer(stream) {
    managed.dl_tensor = axes.make_tensor(array.view(), dlpack_device_of(array));
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { delete static_cast<dlpack_export*>(self->manager_ctx); };
  }
  ~dlpack_export() {
    if constexpr (requires { array.record_stream(*consumer); }) {
      // The uses of the default stream need no record: it names no device.
      bool const is_recorded = !consumer || consumer->device_ordinal() < 0;
      if (!is_recorded && array.size() != 0) end_dlpack_use(array, *consumer);
    }
  }
  dlpack_export(dlpack_export const&) = delete;
  dlpack_export& operator=(dlpack_export const&) = delete;

  Managed managed{};
  Array array;
  std::optional<stream_ref> consumer;  // of device memory
  dlpack_axes<N> axes;
};

/// Blocks until all work on the array's device has finished. Throws lifetime_error if the array was
/// moved from.
template <class T, std::size_t N>
void synchronize_for_dlpack(device_array<T, N> const& array) {
  if (array.size() != 0) device(array.device_ordinal()).synchronize();
}
/// Orders later work on `consumer` after the work on the array's stream, and the reuse of the
/// memory after the work that is on `consumer` now. Does not block. Throws lifetime_error if the
/// array was moved from.
template <class T, std::size_t N>
void order_for_dlpack(device_array<T, N> const& array, stream_ref consumer) {
  if (array.size() == 0) return;
  device_guard const current{device(array.device_ordinal())};
  array.record_stream(consumer);
  // The handle of a per-thread stream means another stream in each thread. The default stream waits
  // for all of them.
  bool const is_per_thread = array.stream().handle() == per_thread_stream().handle();
  stream_ref const producer = is_per_thread ? stream_ref() : array.stream();
  if (producer == consumer) return;
  event done;
  done.record(producer);
  consumer.wait(done);
}

template <class Managed, class T, std::size_t N, template <class, std::size_t> class Array>
Managed* export_dlpack(Array<T, N>&& array, std::optional<stream_ref> consumer = std::nullopt) {
  return &(new dlpack_export<Managed, Array<T, N>, N>(std::move(array), consumer))->managed;
}

}  // namespace detail

/// Returns a tensor that takes ownership of the array. The consumer calls the tensor's deleter
/// once, which destroys the array.
///
/// @throws lifetime_error if the array was moved from
/// @throws roc::error if HIP reports an error; the caller still owns the array then
///
/// *Synchronization:* blocks until all work on the array's device has finished, so that any
/// consumer may use the memory at once.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensor* to_dlpack(device_array<T, N>&& array,
                                         detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::synchronize_for_dlpack(array);
  return detail::export_dlpack<DLManagedTensor, T, N>(std::move(array));
}
/// Returns a tensor that takes ownership of the array, without blocking; otherwise as the overload
/// without a stream.
///
/// *Synchronization:* orders later work on `consumer` after the work on the stream that the array
/// was created with, which must still exist. The caller orders work on other streams, by events or
/// with the overload without a stream. The memory is reused only after the work that is on
/// `consumer` when the deleter is called has finished.
///
/// *Lifetime:* if `consumer` is a stream of another library, it must live until the tensor's
/// deleter has returned.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensor* to_dlpack(device_array<T, N>&& array, stream_ref consumer,
                                         detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::order_for_dlpack(array, consumer);
  return detail::export_dlpack<DLManagedTensor, T, N>(std::move(array), consumer);
}
/// Returns a tensor that takes ownership of a host array. Copies into the array must have finished:
/// this does not wait for them.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensor* to_dlpack(host_array<T, N>&& array,
                                         detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  static_cast<void>(array.shape());  // throws lifetime_error if the array was moved from
  return detail::export_dlpack<DLManagedTensor, T, N>(std::move(array));
}

#if ROCARRAY_DLPACK_VERSIONED
namespace detail {

template <class T, std::size_t N, template <class, std::size_t> class Array>
DLManagedTensorVersioned* export_versioned(Array<T, N>&& array, bool read_only,
                                           std::optional<stream_ref> consumer = std::nullopt) {
  auto* const result = export_dlpack<DLManagedTensorVersioned, T, N>(std::move(array), consumer);
  result->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  result->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return result;
}

}  // namespace detail

/// Same as to_dlpack, but returns a tensor of DLPack 1, which can be marked as read-only.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(
    device_array<T, N>&& array, bool read_only = false,
    detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::synchronize_for_dlpack(array);
  return detail::export_versioned<T, N>(std::move(array), read_only);
}
/// Same as to_dlpack with a stream, but returns a tensor of DLPack 1.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(
    device_array<T, N>&& array, stream_ref consumer, bool read_only = false,
    detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::order_for_dlpack(array, consumer);
  return detail::export_versioned<T, N>(std::move(array), read_only, consumer);
}
/// Same as to_dlpack for host memory, but returns a tensor of DLPack 1.
template <class T, std::size_t N>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(
    host_array<T, N>&& array, bool read_only = false,
    detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  static_cast<void>(array.shape());  // throws lifetime_error if the array was moved from
  return detail::export_versioned<T, N>(std::move(array), read_only);
}
#endif

/// A tensor that borrows the memory of a view, for functions that take a DLTensor. Elements must
/// not be const: a DLTensor cannot express that. Not copyable, because the tensor points into this
/// object.
///
/// *Lifetime:* the view's memory must outlive this object. Consumers must not delete the tensor.
template <std::size_t N>
class dlpack_tensor {
 public:
  /// Borrows device memory with any strides. If the view does not name a device, the tensor is on
  /// the current device.
  template <class T>
    requires(!std::is_const_v<T>)
  explicit dlpack_tensor(device_view<T, N> const& view)
      : tensor_(axes_.make_tensor(
            view, {dlpack_device,
                   view.device_ordinal() < 0 ? device().ordinal() : view.device_ordinal()})) {}
  /// Borrows host memory with any strides.
  template <class T>
    requires(!std::is_const_v<T>)
  explicit dlpack_tensor(host_view<T, N> const& view)
      : tensor_(axes_.make_tensor(view, {kDLCPU, 0})) {}
  dlpack_tensor(dlpack_tensor const&) = delete;
  dlpack_tensor& operator=(dlpack_tensor const&) = delete;

  DLTensor* get() noexcept { return &tensor_; }       ///< valid as long as this object lives
  DLTensor& operator*() noexcept { return tensor_; }  ///< valid as long as this object lives

 private:
  detail::dlpack_axes<N> axes_;
  DLTensor tensor_;
};

/// Deduces the rank from the view.
///@{
template <class T, std::size_t N>
dlpack_tensor(device_view<T, N> const&) -> dlpack_tensor<N>;
template <class T, std::size_t N>
dlpack_tensor(host_view<T, N> const&) -> dlpack_tensor<N>;
///@}

}  // namespace roc
