// SPDX-License-Identifier: MIT
// Host access to device and managed arrays for a scope.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/host_storage.hpp>
#include <roc/detail/side.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/registration.hpp>
#include <roc/stream.hpp>

namespace roc {

/// What the host will do with a mapped array: see roc::access.
enum class access_kind : unsigned char {
  read,        ///< look at it
  write,       ///< write all of it
  read_write,  ///< change it
};
/// Its kind as a type: whether elements are const is known when the program is compiled.
template <access_kind K>
using access_constant = std::integral_constant<access_kind, K>;

/// What the host will do with a mapped array.
namespace access {
/// Look at it: the view's elements are const.
inline constexpr access_constant<access_kind::read> read{};
/// Write all of it: the view begins with unspecified values, and all are written back.
inline constexpr access_constant<access_kind::write> write{};
/// Change it: what is not written stays.
inline constexpr access_constant<access_kind::read_write> read_write{};
}  // namespace access

namespace detail {

/// Waits until the host may use the memory, and has the pages of managed memory brought.
ROCARRAY_API void map_host(host_extent extent, stream_ref const* stream);
/// Sends the pages of managed memory back to the device.
ROCARRAY_API void unmap_host(host_extent extent, stream_ref const* stream);
ROCARRAY_API void log_late(char const* message) noexcept;

template <class A, access_kind K>
auto map(A& array, access_constant<K>, stream_ref const* stream);

}  // namespace detail

/// Host access to an array for a scope, from roc::map; a view of the elements. Move-only.
///
/// Its end gives the array back, with what was written, also while an exception unwinds; it never
/// throws: an error goes to the log hook. `unmap` does it early and can throw. Use after `unmap`,
/// and a second `unmap`, are a lifetime_error. The array must outlive it.
template <class T, std::size_t N, access_kind K>
class [[nodiscard]] mapping {
 public:
  /// Const where it is mapped for reading.
  using element_type = std::conditional_t<K == access_kind::read, T const, T>;
  static_assert(K == access_kind::read || !std::is_const_v<T>,
                "rocarray: elements that are const can be mapped for reading only");

  /// The other maps nothing then.
  mapping(mapping&& other) noexcept
      : staging_(std::move(other.staging_)),
        host_(other.host_),
        device_(other.device_),
        stream_(other.stream_),
        mapped_(std::exchange(other.mapped_, false)) {}
  mapping& operator=(mapping&&) = delete;
  ~mapping() {
    if (!mapped_) return;
    try {
      unmap();
    } catch (std::exception const& late) {
      detail::log_late(late.what());
    }
  }

  /// The elements, valid until `unmap`. Of a device array in memory of their own, with the array's
  /// order of axes.
  host_view<element_type, N> view() const {
    check();
    return host_;
  }
  /// The first element.
  element_type* data() const { return view().data(); }
  /// An element, or a view of a region: see host_view.
  template <class... E>
    requires layout::indexes<N, E...>
  decltype(auto) operator()(E... expressions) const {
    return view()(expressions...);
  }

  /// Gives the array back now: done on return, or enqueued if the mapping has a stream. Throws
  /// lifetime_error (unmapped already) and what roc::copy throws; the array is still mapped then.
  void unmap() {
    check();
    stream_ref const* const stream = stream_ ? &*stream_ : nullptr;
    if constexpr (K != access_kind::read) {
      if (!device_) {
        detail::unmap_host(detail::extent_of(host_), stream);
      } else if (stream == nullptr) {
        copy(host_, *device_);
      } else {
        copy(host_, *device_, *stream);
      }
    }
    mapped_ = false;
    staging_.give_back();
  }

 private:
  using value_type = std::remove_const_t<T>;
  template <class A, access_kind M>
  friend auto detail::map(A& array, access_constant<M>, stream_ref const* stream);

  void check() const {
    if (mapped_) return;
    detail::throw_lifetime_error("use of a mapping that was unmapped or moved from: map it again");
  }

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
    mapped_ = true;
  }
  mapping(host_view<T, N> const& host, stream_ref const* stream)
      : host_(const_cast<value_type*>(host.data()), host.shape(), host.strides()) {
    if (stream != nullptr) stream_ = *stream;
    detail::map_host(detail::extent_of(host_), stream);
    mapped_ = true;
  }

  static roc::strides<N> dense_strides(device_view<T, N> const& device) {
    return layout::like_strides(device.shape(), device.strides());
  }

  detail::host_storage staging_;  // of device arrays
  host_view<value_type, N> host_;
  std::optional<device_view<T, N>> device_;
  std::optional<stream_ref> stream_;
  bool mapped_ = false;
};

namespace detail {

template <class A, access_kind K>
auto map(A& array, access_constant<K>, stream_ref const* stream) {
  auto const view = view_of(array);
  using type = std::remove_const_t<decltype(view)>;
  return mapping<typename type::element_type, type::rank, K>(view, stream);
}

}  // namespace detail

/// Gives the host an array for a scope: `auto m = roc::map(array, roc::access::read_write);`
/// (pyopencl: `SVMPtr.map`). A device array is copied to pinned memory and back (not there for
/// `write`, not back for `read`); managed memory is used where it lies, its pages brought and sent
/// back by prefetching where the device can; of other host memory the work that uses it is waited
/// for. Waits for all work enqueued earlier on the device through the library.
///
/// Work on the array between this and `unmap` is not waited for, and races with the host. Throws
/// what roc::copy throws.
template <detail::copy_argument A, access_kind K>
  requires(!detail::owning_temporary<A>)
auto map(A&& array, access_constant<K> how) {
  return detail::map(array, how, nullptr);
}

/// The same in the order of `stream`: waits for that alone (for the whole device, where managed
/// memory needs it); `unmap` enqueues what is written back, and does not wait.
template <detail::copy_argument A, access_kind K>
  requires(!detail::owning_temporary<A>)
auto map(A&& array, access_constant<K> how, stream_ref stream) {
  return detail::map(array, how, &stream);
}

}  // namespace roc
