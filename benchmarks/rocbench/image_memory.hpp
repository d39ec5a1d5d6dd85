// SPDX-License-Identifier: MIT
// Buffers of a case as images: written, poisoned and checked where they lie.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <roc/device_array.hpp>
#include <roc/stream.hpp>

#include "buffer.hpp"
#include "copy_layout.hpp"
#include "device_kernels.hpp"
#include "image.hpp"
#include "inject.hpp"

namespace rocbench {

/// What a buffer that is copied from holds. Its gaps are no poison: a copy that takes more than the
/// elements must show.
image source_image(guarded_buffer const& buffer, image_layout const& where, std::uint64_t sample);
/// What a buffer that is copied to must hold then: the sample's poison where no payload is.
image arrived_image(guarded_buffer const& buffer, image_layout const& where, std::uint64_t sample);

/// Does all of it by a kernel of one thread per word where the memory is the device's, by several
/// threads of the host elsewhere. Each call is done on return. Throws not_possible where the device
/// has no code of the kernels, roc::error.
class image_memory {
 public:
  image_memory() : verdict_({1}) {}

  /// Writes the whole buffer, guard bands too.
  void write(guarded_buffer& buffer, image const& of);
  /// Fills the whole buffer with one value.
  void fill(guarded_buffer& buffer, std::byte value);
  /// Whether the whole buffer is this: nothing, or the first byte that is not. `inject` corrupts a
  /// byte first; not_possible where the image has no such place.
  std::optional<std::string> check(guarded_buffer& buffer, image const& of, inject_place inject);

 private:
  check_verdict compare_on_device(guarded_buffer& buffer, image const& of);

  roc::stream stream_;
  roc::device_array<check_verdict> verdict_;
};

/// Changes a byte of memory that the current device or the host has.
void corrupt(guarded_buffer& buffer, std::uint64_t at);

/// The offset in the whole that `inject` means. Throws not_possible where there is none.
std::uint64_t offset_of(image const& of, inject_place inject);

}  // namespace rocbench
