// SPDX-License-Identifier: MIT
// What buffers hold, seen from the host: device memory through pinned memory of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <roc/host_array.hpp>

#include "buffer.hpp"

namespace rocbench {

/// Writes one value over the whole of a buffer, guard bands included; done on return.
void fill_whole(guarded_buffer& buffer, std::byte value);

/// Images of up to two buffers, one after the other.
class buffer_image {
 public:
  buffer_image(guarded_buffer const& first, guarded_buffer const& second);

  /// Lets `write(payload)` write the buffer's payload, of which nothing is known before.
  template <class F>
  void write_payload(guarded_buffer& buffer, F const& write) {
    if (!buffer.on_device()) return write(std::span(buffer.payload(), buffer.bytes()));
    std::span<std::byte> const image(mirror_.data(), buffer.bytes());
    write(image);
    send(buffer, image);
  }

  /// The whole of a buffer that was to be written for a sample, guard bands included. Of device
  /// memory a copy, which may be changed.
  std::span<std::byte> arrived(guarded_buffer& buffer, std::uint64_t sample);

 private:
  static void send(guarded_buffer& buffer, std::span<std::byte const> image);

  roc::host_array<std::byte> mirror_;
};

}  // namespace rocbench
