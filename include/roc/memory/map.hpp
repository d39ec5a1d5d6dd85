// SPDX-License-Identifier: MIT
// Scoped host access to device and managed arrays.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/host_storage.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/registration.hpp>
#include <roc/stream.hpp>

namespace roc {

/// The kind of host access to a mapped array. Pass one of the constants in roc::access.
enum class access_kind : unsigned char {
  read,        ///< reads elements
  write,       ///< writes all elements
  read_write,  ///< reads and writes elements
};
/// An access_kind as a type, so that the constness of elements is known at compile time.
template <access_kind K>
using access_constant = std::integral_constant<access_kind, K>;

/// The kinds of host access to a mapped array.
namespace access {
/// Read-only: the elements of the view are const.
inline constexpr access_constant<access_kind::read> read{};
/// Write-only: the view begins with unspecified values, and all elements are written back.
inline constexpr access_constant<access_kind::write> write{};
/// Read and write: elements that are not written keep their values.
inline constexpr access_constant<access_kind::read_write> read_write{};
}  // namespace access

namespace detail {

/// Blocks until the host may access the memory, and prefetches managed memory to the host if the
/// device can. `stream` null: waits for all work on the current device, and for pending uses of the
/// memory on other devices. Throws roc::error.
ROCARRAY_API void map_host(host_extent extent, stream_ref const* stream);
/// Prefetches managed memory to the device if the device can; does nothing for other memory.
/// `stream` null: complete on return. Throws roc::error. May block on AMD; see prefetch.
ROCARRAY_API void unmap_host(host_extent extent, stream_ref const* stream);

/// Throws roc::error if `stream` is captured, or if the call would be captured and has no stream.
ROCARRAY_API void refuse_captured_mapping(stream_ref const* stream);

template <class A, access_kind K>
auto map(A& array, access_constant<K>, stream_ref const* stream);

}  // namespace detail

/// Guard for host access to an array, returned by roc::map. Move-only.
///
/// The destructor unmaps the array, also during stack unwinding. It never throws: an error is
/// reported to the log hook. `unmap` does the same early and can throw. Use after `unmap`, and a
/// second `unmap`, throw lifetime_error.
///
/// *Lifetime:* the array must outlive the mapping.
template <class T, std::size_t N, access_kind K>
class [[nodiscard]] mapping {
 public:
  /// Const if the array is mapped for reading.
  using element_type = std::conditional_t<K == access_kind::read, T const, T>;
  static_assert(K == access_kind::read || !std::is_const_v<T>,
                "rocarray: elements that are const can be mapped for reading only");

  /// Leaves `other` unmapped.
  mapping(mapping&& other) noexcept
      : staging_(std::move(other.staging_)),
        host_(other.host_),
        device_(other.device_),
        stream_(other.stream_),
        is_mapped_(std::exchange(other.is_mapped_, false)) {}
  mapping& operator=(mapping&&) = delete;
  /// Unmaps the array if it is still mapped. Reports errors to the log hook.
  ~mapping() {
    if (!is_mapped_) return;
    try {
      unmap();
    } catch (std::exception const& error) {
      detail::log_late_error(error.what());
    }
  }

  /// Returns a view of the elements, valid until `unmap`. For a device array it is a view of a copy
  /// in pinned memory, with the same order of axes.
  /// @throws lifetime_error if unmapped or moved from
  host_view<element_type, N> view() const {
    check_mapped();
    return host_;
  }
  /// Returns a pointer to the first element.
  element_type* data() const { return view().data(); }
  /// Returns an element, or a view of a region: see host_view.
  template <class... E>
    requires layout::indexable_with<N, E...>
  decltype(auto) operator()(E... expressions) const {
    return view()(expressions...);
  }

  /// Ends the host's access. A device array is overwritten with the elements of the view, unless it
  /// is mapped for reading.
  /// @throws lifetime_error if already unmapped, roc::error if the mapping has a stream that is
  ///   captured and the array is to be overwritten, and what roc::copy throws; the array stays mapped
  ///
  /// *Synchronization:* complete on return, or enqueued if the mapping has a stream. Unmapping
  /// managed memory may block on AMD; see prefetch.
  void unmap(detail::caller at = std::source_location::current()) {
    detail::call_scope const call(__func__, at);
    check_mapped();
    stream_ref const* const stream = stream_ ? &*stream_ : nullptr;
    if constexpr (K != access_kind::read) {
      if (device_) detail::refuse_captured_mapping(stream);  // the graph would need staging_
      if (!device_) {
        detail::unmap_host(detail::extent_of(host_), stream);
      } else if (stream == nullptr) {
        copy(host_, *device_);
      } else {
        copy(host_, *device_, *stream);
      }
    }
    is_mapped_ = false;
    staging_.give_back();
  }

 private:
  using value_type = std::remove_const_t<T>;
  template <class A, access_kind M>
  friend auto detail::map(A& array, access_constant<M>, stream_ref const* stream);

  void check_mapped() const {
    if (is_mapped_) return;
    detail::throw_lifetime_error("mapping was unmapped or moved from; map the array again");
  }

  // Maps a device array by copying it to pinned memory. Blocks until the copy has finished.
  mapping(device_view<T, N> const& device, stream_ref const* stream)
      : staging_(detail::allocation_bytes(device.shape(), dense_strides(device), sizeof(T)),
                 host_memory::pinned),
        device_(device) {
    host_ = {static_cast<value_type*>(staging_.data()), device.shape(), dense_strides(device)};
    if (stream != nullptr) stream_ = *stream;
    if constexpr (K != access_kind::write) {
      if (stream == nullptr) {
        copy(device, host_);
      } else {
        copy(device, host_, *stream);
        stream->synchronize();
      }
    }
    is_mapped_ = true;
  }
  // Maps host memory in place.
  mapping(host_view<T, N> const& host, stream_ref const* stream)
      : host_(const_cast<value_type*>(host.data()), host.shape(), host.strides()) {
    if (stream != nullptr) stream_ = *stream;
    detail::map_host(detail::extent_of(host_), stream);
    is_mapped_ = true;
  }

  static roc::strides<N> dense_strides(device_view<T, N> const& device) {
    return layout::like_strides(device.shape(), device.strides());
  }

  detail::host_storage staging_;  // pinned copy of a device array; empty for host memory
  host_view<value_type, N> host_;
  std::optional<device_view<T, N>> device_;  // the device array; none for host memory
  std::optional<stream_ref> stream_;
  bool is_mapped_ = false;
};

namespace detail {

template <class A, access_kind K>
auto map(A& array, access_constant<K>, stream_ref const* stream) {
  refuse_captured_mapping(stream);  // before a copy to the host is captured
  auto const view = view_of(array);
  using type = std::remove_const_t<decltype(view)>;
  return mapping<typename type::element_type, type::rank, K>(view, stream);
}

}  // namespace detail

/// Gives the host access to an array for a scope (pyopencl: `SVMPtr.map`):
///
///   auto m = roc::map(array, roc::access::read_write);
///
/// A device array is copied to pinned memory (except for access::write) and copied back (except for
/// access::read). Managed memory is used in place; its pages are prefetched to the host, and back
/// to the device, if the device can. Other host memory is used in place.
///
/// @param array a device, managed or host array, or a view of one
/// @param kind one of the constants in roc::access
/// @returns a roc::mapping
/// @throws what roc::copy throws
///
/// *Synchronization:* blocks until all work that was enqueued on the device through the library has
/// finished; for a device array with access::write, `unmap` does that instead. Work on the array
/// that is enqueued between `map` and `unmap` races with the host.
template <detail::copy_argument A, access_kind K>
  requires(!detail::owning_temporary<A>)
auto map(A&& array, access_constant<K> kind, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::map(array, kind, nullptr);
}

/// Gives the host access to an array for a scope, in the order of `stream`; otherwise as the
/// overload without a stream.
///
/// @throws roc::error if the stream is captured: mapping blocks until the stream's work has finished
///
/// *Synchronization:* blocks until the work on `stream` has finished (all work on the device, if
/// managed memory needs that), but not for a device array with access::write. `unmap` enqueues the
/// copy back and does not block.
template <detail::copy_argument A, access_kind K>
  requires(!detail::owning_temporary<A>)
auto map(A&& array, access_constant<K> kind, stream_ref stream,
         detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::map(array, kind, &stream);
}

}  // namespace roc
