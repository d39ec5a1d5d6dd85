// SPDX-License-Identifier: MIT
// A device view with a default stream.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>

#include <roc/copy.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/device_view.hpp>
#include <roc/host_array.hpp>
#include <roc/layout/index.hpp>
#include <roc/stream.hpp>

namespace roc {

/// A device view and the stream on which its operations are enqueued (numba: `bind`). Returned by
/// `bind` of an array or view. Trivially copyable. Borrows: memory and stream must outlive it.
///
/// All operations are asynchronous, as the members of device_view with a stream are. A pageable
/// source has been read on return; a destination on the host is complete after synchronization.
/// They throw what the members of device_view throw.
template <class T, std::size_t N = 1>
class bound_view {
 public:
  /// Binds a view to a stream.
  bound_view(device_view<T, N> const& view, stream_ref stream) : view_(view), stream_(stream) {}

  device_view<T, N> view() const { return view_; }        ///< Returns the view without the stream.
  stream_ref stream() const noexcept { return stream_; }  ///< Returns the stream.
  /// Blocks until the work of the stream has finished. Throws as stream_ref::synchronize.
  void synchronize(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    stream_.synchronize();
  }

  /// Returns a region or an element, bound to the same stream: see device_view.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  bound_view<T, layout::index_rank<N, E...>> operator()(E... expressions) const {
    return {view_.region(expressions...), stream_};
  }

  /// Returns a new host array and enqueues the copy to it. The array's destructor blocks until the
  /// copy has finished.
  host_array<std::remove_cv_t<T>, N> copy_to_host(
      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    return view_.copy_to_host(stream_);
  }
  /// Enqueues a copy into existing host memory.
  template <detail::host_argument H>
    requires detail::async_copyable_to<device_view<T, N>&, H>
  void copy_to_host(H&& to, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    view_.copy_to_host(std::forward<H>(to), stream_);
  }
  /// Enqueues a copy from host or device memory.
  template <detail::copy_argument S>
    requires detail::async_copyable_to<S, device_view<T, N>&>
  void copy_to_device(S&& from, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    view_.copy_to_device(std::forward<S>(from), stream_);
  }
  /// Enqueues zero bytes for every element. Padding of the array is not touched.
  void zero(detail::caller at = std::source_location::current()) const
    requires(!std::is_const_v<T>)
  {
    detail::call_scope const call(__func__, at);
    view_.zero(stream_);
  }
  /// Enqueues a write of `value` to every element. The value has been read on return.
  void fill(std::type_identity_t<T> const& value,
            detail::caller at = std::source_location::current()) const
    requires detail::correct_use<detail::fill_misuse<T>>
  {
    detail::call_scope const call(__func__, at);
    view_.fill(value, stream_);
  }
  /// Enqueues a write to the one element. The value has been read on return.
  void set(std::type_identity_t<T> const& value,
           detail::caller at = std::source_location::current()) const
    requires(N == 0 && !std::is_const_v<T>)
  {
    detail::call_scope const call(__func__, at, "host to device");
    view_.set(value, stream_);
  }

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::async_copy_misuse<device_view<T, N>&, H>>>
  void copy_to_host(H&& to) const = delete;
  template <class S,
            detail::incorrect_use Reason = detail::async_copy_misuse<S, device_view<T, N>&>>
  void copy_to_device(S&& from) const = delete;
  template <detail::incorrect_use Reason = detail::write_misuse<T>>
  void zero() const = delete;
  template <detail::incorrect_use Reason = detail::fill_misuse<T>>
  void fill(std::type_identity_t<T> const& value) const = delete;
  ///@}

 private:
  device_view<T, N> view_;
  stream_ref stream_;
};

}  // namespace roc
