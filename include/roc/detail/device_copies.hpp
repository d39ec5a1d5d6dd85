// SPDX-License-Identifier: MIT
// What device arrays and device views can do alike: copies to and from the host and the device.
#pragma once

#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/host_array.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

template <class T, std::size_t N>
class device_view;
template <class T, std::size_t N>
class bound_view;

namespace detail {

/// Base of device_view and device_array; `Self` gives view().
template <class Self, class T, std::size_t N>
class device_copies {
 public:
  /// A new pageable host array with the same shape and axis order, complete on return; see
  /// roc::copy (numba: `copy_to_host`).
  auto copy_to_host() const {
    auto const view = self().view();
    auto result = like(view);
    copy(view, result);
    return result;
  }
  /// Into existing host memory: see roc::copy for what it waits for and what it throws.
  template <writable_argument H>
    requires host_argument<H>
  void copy_to_host(H&& destination) const {
    auto const view = self().view();
    copy(view, destination);
  }
  /// Enqueued on `stream`; a pageable destination is complete after synchronisation.
  template <writable_argument H>
    requires(host_argument<H> && !owning_temporary<H>)
  void copy_to_host(H&& destination, stream_ref stream) const& {
    auto const view = self().view();
    copy(view, destination, stream);
  }
  /// A new array, enqueued on `stream` and complete after synchronisation. Its destructor waits for
  /// the copy.
  auto copy_to_host(stream_ref stream) const& {
    auto const view = self().view();
    auto result = like(view);
    copy(view, result, stream);
    return result;
  }

  /// Fills this from host or device memory (numba: `copy_to_device`); see roc::copy.
  template <copy_argument S>
  void copy_to_device(S&& source) const {
    auto const view = self().view();
    copy(source, view);
  }
  /// Enqueued on `stream`.
  template <copy_argument S>
    requires(!owning_temporary<S>)
  void copy_to_device(S&& source, stream_ref stream) const& {
    auto const view = self().view();
    copy(source, view, stream);
  }
  /// From a source that lives and stays unchanged until the stream has been synchronised.
  template <copy_argument S>
    requires(!owning_temporary<S>)
  void copy_to_device(S&& source, stream_ref stream, borrow_source_t) const& {
    auto const view = self().view();
    copy(source, view, stream, borrow_source);
  }

  /// The value of the one element (numba: `array[i]`); waits as a copy without a stream does.
  std::remove_cv_t<T> get() const
    requires(N == 0)
  {
    // Copies begin the lifetime of what they write.
    using value = std::remove_cv_t<T>;
    alignas(value) std::byte bytes[sizeof(value)];
    auto* const result = reinterpret_cast<value*>(bytes);
    copy_to_host(host_view<value, 0>(result, {}));
    return *result;
  }
  /// Gives the one element a value (numba: `array[i] = value`).
  void set(std::type_identity_t<T> const& value) const
    requires(N == 0 && !std::is_const_v<T>)
  {
    copy_to_device(host_view<T const, 0>(&value, {}));
  }
  /// Enqueued on `stream`; the value has been read on return.
  void set(std::type_identity_t<T> const& value, stream_ref stream) const
    requires(N == 0 && !std::is_const_v<T>)
  {
    T const read = value;  // which may lie in pinned memory, and be read late
    copy_to_device(host_view<T const, 0>(&read, {}), stream);
  }

  /// This with a default stream: what is called on the result is enqueued there, and returns
  /// (numba: `bind`). Borrows, as a view does.
  bound_view<T, N> bind(stream_ref stream) const& { return {self().view(), stream}; }
  bound_view<T, N> bind(class stream&&) const& = delete;  // the stream would be gone

 private:
  Self const& self() const { return static_cast<Self const&>(*this); }

  static auto like(device_view<T, N> const& view) {
    return host_array<std::remove_cv_t<T>, N>(view.shape(),
                                              layout::like_strides(view.shape(), view.strides()));
  }
};

}  // namespace detail
}  // namespace roc
