// SPDX-License-Identifier: MIT
// Writes the images of guarded buffers and checks them, in device memory and in host memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <roc/device_array.hpp>
#include <roc/stream.hpp>

#include "device_comparison.hpp"
#include "guarded_buffer.hpp"
#include "image.hpp"
#include "injection_site.hpp"

namespace rocbench {

/// Returns the contents of a source. Its gaps are not the sample's poison, so that a copy of more
/// than the elements is noticed.
image source_image(guarded_buffer const& buffer, image_layout const& layout, std::uint64_t sample);
/// Returns what the destination must contain after the copy: the payload, and the sample's poison
/// everywhere else.
image destination_image(guarded_buffer const& buffer, image_layout const& layout,
                        std::uint64_t sample);

/// Writes and checks buffers: device memory with kernels of one thread per word, host memory with
/// several host threads. Every call blocks until it is done. Throws case_not_supported if the
/// device has no code of rocbench's kernels, roc::error if a HIP call fails.
class image_verifier {
 public:
  image_verifier() : comparison_({1}) {}

  /// Writes the whole allocation, including its guard bands.
  void write(guarded_buffer& buffer, image const& contents);
  /// Fills the whole allocation with one value.
  void fill(guarded_buffer& buffer, std::byte value);
  /// Compares the whole allocation with `expected`. Returns a description of the first different
  /// byte, or nothing. Corrupts a byte at `inject` before; throws case_not_supported if `expected`
  /// has no such byte.
  std::optional<std::string> check(guarded_buffer& buffer, image const& expected,
                                   injection_site inject);

 private:
  // Compares device memory with a kernel and returns the result. Blocks until the kernel has
  // finished.
  device_comparison compare_on_device(guarded_buffer& buffer, image const& expected);

  roc::stream stream_;
  roc::device_array<device_comparison> comparison_;
};

/// Flips a bit of the byte at an offset of the allocation.
void corrupt_byte(guarded_buffer& buffer, std::uint64_t offset);

/// Returns the offset of the byte that `inject` selects. Throws case_not_supported if the image
/// has no such byte. Precondition: `inject` is not none.
std::uint64_t injection_offset(image const& contents, injection_site inject);

}  // namespace rocbench
