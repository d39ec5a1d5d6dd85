// SPDX-License-Identifier: MIT
// Arrays on a given device in random layouts, which detect writes outside of the layout.
#pragma once

#include <cstddef>

#include <roc/roc.hpp>

#include "support/layouts.hpp"

namespace roc::test {

/// Returns a shape of extents from 1 to `max_extent`.
template <std::size_t N, class Random>
shape<N> random_shape(Random& random, std::size_t max_extent) {
  shape<N> result{};
  for (std::size_t& extent : result) extent = 1 + random() % max_extent;
  return result;
}

/// An array on a device in a layout with gaps, whose bytes are those of `host`, which has the
/// layout.
template <class T, std::size_t N>
struct array_on_device {
  array_on_device(int ordinal, shape<N> const& extents, strides<N> const& steps)
      : host(extents, steps), array([&] {
          device_guard const guard{device(ordinal)};
          return device_array<unsigned char>({host.bytes().size()});
        }()) {
    upload();
  }

  void upload() const { copy(host_view<unsigned char, 1>(bytes(), {host.bytes().size()}), array); }
  void download() const {
    copy(array, host_view<unsigned char, 1>(bytes(), {host.bytes().size()}));
  }
  /// Returns a view of the array in the layout, which may have negative strides.
  device_view<T, N> view() const {
    auto const offset = reinterpret_cast<unsigned char*>(host.view().data()) - bytes();
    return device_view<T, N>(reinterpret_cast<T*>(array.data() + offset), host.view().shape(),
                             host.view().strides(), array.device_ordinal());
  }

  mutable guarded_array<T, N> host;
  device_array<unsigned char> array;

 private:
  unsigned char* bytes() const { return reinterpret_cast<unsigned char*>(host.bytes().data()); }
};

}  // namespace roc::test
