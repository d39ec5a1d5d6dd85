// SPDX-License-Identifier: MIT
// What arrays with padding can do beyond their views: say how large the memory is, and zero it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Base of device_array and host_array, which give padded_view().
template <class Self, std::size_t N>
class padded_memory {
 public:
  /// The extents of padded_view: those of the memory.
  roc::shape<N> padded_shape() const {
    auto const& shape = self().shape();
    return extents_ ? *extents_ : shape;
  }

  /// Writes zero bytes to the elements, and to padding. Ordered after all work enqueued earlier on
  /// the device, and done on return; with a stream, enqueued there.
  ///@{
  void zero() { self().padded_view().zero(); }
  void zero() const { self().padded_view().zero(); }
  void zero(stream_ref stream) { self().padded_view().zero(stream); }
  void zero(stream_ref stream) const { self().padded_view().zero(stream); }
  ///@}

 protected:
  using padded_extents = std::optional<roc::shape<N>>;

  padded_extents const& padding() const noexcept { return extents_; }
  void set_padding(padded_extents const& extents) noexcept { extents_ = extents; }
  void swap_padding(padded_memory& other) noexcept { extents_.swap(other.extents_); }

  /// Those of an array whose axis i is axis axes[i] of this one.
  padded_extents padding_of(std::array<std::size_t, N> const& axes) const {
    if (!extents_) return {};
    roc::shape<N> result{};
    for (std::size_t i = 0; i < N; ++i) result[i] = (*extents_)[axes[i]];
    return result;
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  Self const& self() const { return static_cast<Self const&>(*this); }

  padded_extents extents_;
};

/// What an array of this shape takes: of one without elements there is no padding.
template <std::size_t N, class Padded>
roc::shape<N> padded_extents(roc::shape<N> const& shape, Padded const& padding,
                             std::size_t element_size) {
  auto const extents = padding.extents(shape, element_size);
  return layout::detail::is_empty(shape) ? shape : extents;
}

}  // namespace roc::detail
