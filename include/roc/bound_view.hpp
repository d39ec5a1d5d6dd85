// SPDX-License-Identifier: MIT
// A device view with a default stream.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <roc/copy.hpp>
#include <roc/device_view.hpp>
#include <roc/layout/index.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Device memory and the stream on which its operations are enqueued (numba: `bind`); from `bind`
/// of an array or view. No call waits: what comes from pageable memory has been read on return,
/// what goes to the host is complete when the stream has been synchronised. Trivially copyable;
/// memory and stream must outlive it.
template <class T, std::size_t N = 1>
class bound_view {
 public:
  /// What `bind` returns.
  bound_view(device_view<T, N> const& view, stream_ref stream) : view_(view), stream_(stream) {}

  device_view<T, N> view() const { return view_; }        ///< the memory
  stream_ref stream() const noexcept { return stream_; }  ///< what its operations are enqueued on
  /// Waits for the stream.
  void synchronize() const { stream_.synchronize(); }

  /// A region, bound too; see roc::slice.
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  auto operator()(E... expressions) const {
    return view_.region(expressions...).bind(stream_);
  }

  /// A new host array, enqueued; its destructor waits for the copy.
  auto copy_to_host() const { return view_.copy_to_host(stream_); }
  /// Into host memory, enqueued; throws what roc::copy throws.
  template <class H>
  void copy_to_host(H&& destination) const {
    view_.copy_to_host(std::forward<H>(destination), stream_);
  }
  /// From host or device memory, enqueued; throws what roc::copy throws.
  template <class S>
  void copy_to_device(S&& source) const {
    view_.copy_to_device(std::forward<S>(source), stream_);
  }
  /// Of the elements: padding is the array's own to zero.
  void zero() const { view_.zero(stream_); }
  /// Writes `value` to every element, enqueued; the value has been read on return.
  void fill(std::type_identity_t<T> const& value) const { view_.fill(value, stream_); }
  /// Gives the one element a value, enqueued; it has been read on return.
  void set(std::type_identity_t<T> const& value) const
    requires(N == 0)
  {
    view_.set(value, stream_);
  }

 private:
  device_view<T, N> view_;
  stream_ref stream_;
};

}  // namespace roc
