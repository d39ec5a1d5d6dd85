// SPDX-License-Identifier: MIT
// Device arrays that several processes of one machine use.
//
// One process gets the handle of an array or view and sends it as bytes, over a pipe, a socket or
// MPI. The other process opens it and gets an array of the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/detail/ipc_data.hpp>
#include <roc/device_array.hpp>
#include <roc/device_view.hpp>
#include <roc/ipc_event.hpp>
#include <roc/layout/shape.hpp>
#include <roc/memory/adopt.hpp>
#include <roc/stream.hpp>

namespace roc {

class ipc_array_handle;

/// What a process that opens a handle may access. HIP shares whole allocations, and the slab of a
/// pool is one allocation.
enum class ipc_exposure : unsigned char {
  allocation,  ///< the allocation that contains the array, with other arrays in it
  array_only,  ///< nothing else: an error if the allocation has bytes beside the array's
};

namespace detail {

ROCARRAY_API std::uint64_t ipc_name_hash(char const* name) noexcept;

/// Returns the type of elements as handles describe it.
template <class T>
ipc_element ipc_element_of() {
  static_assert(sizeof(T) <= UINT32_MAX);
  constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  if constexpr (std::is_same_v<T, bool>) {
    return {{6, bits, 1}, bytes, 0};
  } else if constexpr (std::is_integral_v<T>) {
    return {{static_cast<std::uint8_t>(std::is_signed_v<T> ? 0 : 1), bits, 1}, bytes, 0};
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return {{2, bits, 1}, bytes, 0};
  } else {
    return {{0, 0, 0}, bytes, ipc_name_hash(typeid(T).name())};
  }
}

/// A strided region of device memory that is exported.
struct ipc_region {
  void const* first;  ///< the first element; null if there are none
  std::size_t size;   ///< number of elements
  // The range of the elements, relative to the first one, in elements.
  std::ptrdiff_t low;
  std::ptrdiff_t high;
};

/// Sets the members of `data` that describe the memory, the event and the origin. `stream` is null
/// for an export that is complete on return.
ROCARRAY_API void export_ipc_array(ipc_array_data& data, ipc_region const& region, int device,
                                   stream_ref const* stream, ipc_exposure exposure);

/// Throws ipc_error for a damaged handle or another element type, shape_error for another rank.
ROCARRAY_API void check_ipc_array(ipc_array_data const& data, ipc_element const& element,
                                  std::size_t rank);
/// The memory from the lowest element of an opened region on, and the device's default stream or
/// the stream that it was opened on.
struct opened_ipc_memory {
  device_storage storage;
  std::size_t first_offset;  ///< of the first element, in bytes
  stream_ref stream;
};
/// Opens the memory of a region that has elements.
ROCARRAY_API opened_ipc_memory open_ipc_memory(ipc_array_data const& data, ipc_region const& region,
                                               stream_ref const* stream);

struct ipc_access;

}  // namespace detail

/// The handle of a device array or view: a value that is sent to another process as its bytes
/// (numba.cuda: `IpcArrayHandle`). Trivially copyable. It contains what hipIpcGetMemHandle returns,
/// the offset, the shape, the strides, the element type, and an event. A default-constructed handle
/// cannot be opened.
///
/// Both processes must use the same version of the library.
class ipc_array_handle {
 public:
  ipc_array_handle() = default;  ///< Creates a handle of no array.

  /// Returns the number of the process that has the array.
  long long process() const noexcept { return data_.origin.pid; }
  /// Returns the PCI bus id of the device, as device::pci_bus_id does.
  char const* pci_bus_id() const noexcept { return data_.origin.pci_bus_id.data(); }
  /// Returns the number of axes.
  std::size_t rank() const noexcept { return static_cast<std::size_t>(data_.rank); }
  /// Returns the number of elements along one axis, which must be less than the rank.
  std::size_t extent(std::size_t axis) const noexcept {
    return static_cast<std::size_t>(data_.shape[axis]);
  }
  /// Returns the distance in elements from one index of an axis to the next.
  std::ptrdiff_t stride(std::size_t axis) const noexcept {
    return static_cast<std::ptrdiff_t>(data_.strides[axis]);
  }
  /// Returns the size of an element.
  std::size_t element_bytes() const noexcept { return data_.element.bytes; }

  /// @name What becomes visible
  /// A process that opens the handle can access the whole allocation that contains the array. The
  /// driver may round its size up, on NVIDIA to 2 MiB, and then shows what else is there.
  ///@{

  /// Returns the address of the allocation in the process that has the array; null if there are no
  /// elements.
  void const* allocation() const noexcept {
    return reinterpret_cast<void const*>(static_cast<std::uintptr_t>(data_.address));
  }
  /// Returns the size of the allocation.
  std::size_t allocation_bytes() const noexcept { return static_cast<std::size_t>(data_.bytes); }
  /// Returns the distance from the beginning of the allocation to the array's first element.
  std::size_t offset_bytes() const noexcept { return static_cast<std::size_t>(data_.offset); }
  ///@}

  /// Returns true if the handle contains an event, which open_ipc_array waits for. Always false on
  /// AMD.
  bool has_event() const noexcept { return data_.has_event != 0; }

 private:
  friend struct detail::ipc_access;

  detail::ipc_array_data data_{};
};

namespace detail {

/// Makes and reads handles.
struct ipc_access {
  template <class T, std::size_t N>
  static ipc_array_handle handle_of(device_view<T, N> const& view, stream_ref const* stream,
                                    ipc_exposure exposure) {
    static_assert(N <= ipc_max_rank, "rocarray: a handle for other processes has rank 16 at most");
    ipc_array_handle result;
    result.data_.element = ipc_element_of<std::remove_cv_t<T>>();
    result.data_.rank = N;
    auto const extents = view.shape();
    auto const steps = view.strides();
    for (std::size_t i = 0; i < N; ++i) {
      result.data_.shape[i] = extents[i];
      result.data_.strides[i] = steps[i];
    }
    export_ipc_array(result.data_, region_of(view.data(), extents, steps), view.device_ordinal(),
                     stream, exposure);
    return result;
  }
  static ipc_event_handle event_handle(ipc_event_data const& data) noexcept {
    ipc_event_handle result;
    result.data_ = data;
    return result;
  }

  template <class T, std::size_t N>
  static device_array<T, N> open(ipc_array_handle const& handle, stream_ref const* stream) {
    static_assert(N <= ipc_max_rank, "rocarray: a handle for other processes has rank 16 at most");
    ipc_array_data const& data = handle.data_;
    check_ipc_array(data, ipc_element_of<T>(), N);
    shape<N> extents{};
    strides<N> steps{};
    for (std::size_t i = 0; i < N; ++i) {
      extents[i] = static_cast<std::size_t>(data.shape[i]);
      steps[i] = static_cast<std::ptrdiff_t>(data.strides[i]);
    }
    if (layout::element_count(extents) == 0) return device_array<T, N>(extents);
    opened_ipc_memory opened =
        open_ipc_memory(data, region_of(static_cast<T*>(nullptr), extents, steps), stream);
    return array_adoption::array_of<T>(std::move(opened.storage), extents, steps, opened.stream,
                                       opened.first_offset);
  }

 private:
  template <class T, std::size_t N>
  static ipc_region region_of(T* first, shape<N> const& extents, strides<N> const& steps) {
    std::size_t const size = layout::element_count(extents);
    if (size == 0) return {};
    auto const range = layout::element_range(extents, steps);
    return {first, size, range.low, range.high};
  }
};

}  // namespace detail

/// Returns the handle with which another process opens a device array or view (numba.cuda:
/// `get_ipc_handle`; hipIpcGetMemHandle). A view of a region arrives as that region. Padding is not
/// part of the array.
///
/// @param view an array, or a view with any strides
/// @param exposure whether other arrays in the same allocation may become visible. Arrays are by
///   default in slabs of a pool; arrays of a hip_memory_resource have an allocation of their own.
/// @throws ipc_error with std::errc::invalid_argument for host memory, managed memory, unknown
///   memory, or memory that another process has allocated (forward its handle instead); with
///   std::errc::not_supported for memory of hipMallocAsync (hip_async_memory_resource); with
///   std::errc::operation_not_permitted if `exposure` is array_only and other bytes would become
///   visible
/// @throws roc::error for other errors of HIP
///
/// *Synchronization:* blocks until all work on the device has finished, so that other processes may
/// use the memory at once.
///
/// *Lifetime:* the array must live until every process that has opened the handle has destroyed its
/// array. The memory of a pool would be used for other arrays.
template <class T, std::size_t N>
[[nodiscard]] ipc_array_handle get_ipc_handle(device_view<T, N> const& view,
                                              ipc_exposure exposure = ipc_exposure::allocation,
                                              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::ipc_access::handle_of(view, nullptr, exposure);
}
/// Returns a handle with an event after the work that was enqueued on `stream` so far; otherwise as
/// the overload without a stream. The process that opens the handle waits for the event. Each array
/// has one event. A later call for the array makes its stream wait for the event, and then records
/// the event again.
///
/// *Synchronization:* does not block. On the host platform the first handle of an allocation blocks
/// until running kernels and copies have finished. On AMD, whose events of other processes have
/// defects (see ipc_event), blocks until the work on `stream` has finished, and the handle has no
/// event.
template <class T, std::size_t N>
[[nodiscard]] ipc_array_handle get_ipc_handle(device_view<T, N> const& view, stream_ref stream,
                                              ipc_exposure exposure = ipc_exposure::allocation,
                                              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::ipc_access::handle_of(view, &stream, exposure);
}
/// Returns the handle of an array, as for a view of it.
///@{
template <class T, std::size_t N>
[[nodiscard]] ipc_array_handle get_ipc_handle(device_array<T, N> const& array,
                                              ipc_exposure exposure = ipc_exposure::allocation,
                                              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::ipc_access::handle_of(array.view(), nullptr, exposure);
}
template <class T, std::size_t N>
[[nodiscard]] ipc_array_handle get_ipc_handle(device_array<T, N> const& array, stream_ref stream,
                                              ipc_exposure exposure = ipc_exposure::allocation,
                                              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::ipc_access::handle_of(array.view(), &stream, exposure);
}
template <class T, std::size_t N>
ipc_array_handle get_ipc_handle(device_array<T, N>&&, ipc_exposure = {}) = delete;
template <class T, std::size_t N>
ipc_array_handle get_ipc_handle(device_array<T, N>&&, stream_ref, ipc_exposure = {}) = delete;
///@}

/// Opens an array of another process (numba.cuda: `IpcArrayHandle.open`; hipIpcOpenMemHandle).
/// Returns an array of the same memory, with the shape and the strides of the exported array or
/// view, which may be negative. Its destructor closes the memory.
///
/// Handles of the same allocation, also those of several arrays in one slab, share one mapping. The
/// last array that uses it closes it.
///
/// @tparam T the element type of the exported array
/// @tparam N its rank
/// @throws ipc_error with std::errc::invalid_argument for a damaged or default-constructed handle,
///   and for another element type; with std::errc::operation_not_permitted for a handle of this
///   process; with std::errc::no_such_process if the exporting process has ended; with
///   std::errc::host_unreachable if the handle is from another boot or machine; with
///   std::errc::no_such_device if the device is not visible here; with
///   std::errc::device_or_resource_busy if other code of this process has opened the memory; with
///   HIP's code if it cannot open the memory
/// @throws shape_error for another rank
/// @throws roc::error for other errors of HIP
///
/// *Synchronization:* blocks until the work that the exporting process had enqueued on the stream
/// of its handle has finished, or throws if that process ends before. The destructor of the array
/// blocks until the work that uses the memory has finished, as for adopted memory: see adopt.
///
/// *Lifetime:* the exporting process must keep its array as long as this one exists.
template <class T, std::size_t N>
[[nodiscard]] device_array<T, N> open_ipc_array(
    ipc_array_handle const& handle, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::ipc_access::open<T, N>(handle, nullptr);
}
/// Opens an array of another process on a stream, which must be of the array's device; otherwise as
/// the overload without a stream. `stream` becomes the stream of the array.
///
/// *Synchronization:* does not block. Work enqueued on `stream` from now on, and work that the
/// library enqueues for the array on other streams, comes after the work that the exporting process
/// had enqueued on the stream of its handle. If an array that has some of the same bytes is open in
/// this process, that holds only for work on `stream`: order other streams after it. If the
/// exporting process ends before that work has finished, the wait of `stream` may never end.
template <class T, std::size_t N>
[[nodiscard]] device_array<T, N> open_ipc_array(
    ipc_array_handle const& handle, stream_ref stream,
    detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::ipc_access::open<T, N>(handle, &stream);
}

}  // namespace roc
