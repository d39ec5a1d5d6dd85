// SPDX-License-Identifier: MIT
#include "buffer_image.hpp"

#include <algorithm>
#include <cstring>

#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {

void fill_whole(guarded_buffer& buffer, std::byte value) {
  int const number = std::to_integer<int>(value);
  if (!buffer.on_device()) {
    std::memset(buffer.whole(), number, buffer.whole_bytes());
    return;
  }
  ROC_HIP(hipMemsetAsync, buffer.whole(), number, buffer.whole_bytes(), nullptr);
  ROC_HIP(hipStreamSynchronize, nullptr);
}

buffer_image::buffer_image(guarded_buffer const& first, guarded_buffer const& second)
    : mirror_(roc::pinned_array<std::byte>(
          std::max(first.on_device() ? first.whole_bytes() : 0,
                   second.on_device() ? second.whole_bytes() : 0))) {}

void buffer_image::send(guarded_buffer& buffer, std::span<std::byte const> image) {
  ROC_HIP(hipMemcpy, buffer.payload(), image.data(), image.size(), hipMemcpyHostToDevice);
}

std::span<std::byte> buffer_image::arrived(guarded_buffer& buffer, std::uint64_t sample) {
  if (!buffer.on_device()) return {buffer.whole(), buffer.whole_bytes()};
  std::span<std::byte> const image(mirror_.data(), buffer.whole_bytes());
  // It may still hold the pattern that went to the source: a copy back that does nothing must not
  // pass.
  write_poison(image, sample);
  ROC_HIP(hipMemcpy, image.data(), buffer.whole(), image.size(), hipMemcpyDeviceToHost);
  return image;
}

}  // namespace rocbench
