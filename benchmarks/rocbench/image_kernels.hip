// SPDX-License-Identifier: MIT
#include "image_kernels.hpp"

#include <algorithm>

#include "elementwise_kernel.hpp"
#include "host_image.hpp"

namespace rocbench {

// Verification uses neither transfers nor code of the library: each thread computes one word.

struct write_image_word {
  std::byte* destination;
  image contents;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const offset = i * 8;
    std::uint64_t const value = image_word(contents, offset);
    if (contents.size() - offset >= 8) {
      *reinterpret_cast<std::uint64_t*>(destination + offset) = value;
      return;
    }
    for (std::uint64_t byte = 0; offset + byte < contents.size(); ++byte) {
      destination[offset + byte] = static_cast<std::byte>(value >> 8 * byte);
    }
  }
};

struct compare_image_word {
  std::byte const* memory;
  image contents;
  device_comparison* comparison;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const offset = i * 8;
    std::uint64_t const value = image_word(contents, offset);
    std::uint64_t const left = contents.size() - offset;
    bool const whole_word = left >= 8;
    if (!whole_word || *reinterpret_cast<std::uint64_t const*>(memory + offset) != value) {
      std::uint64_t const bytes = whole_word ? 8 : left;
      std::uint64_t byte = 0;
      while (byte < bytes && memory[offset + byte] == static_cast<std::byte>(value >> 8 * byte)) {
        ++byte;
      }
      if (byte < bytes) atomic_minimum(&comparison->first_mismatch, offset + byte);
    }
    if (left <= 8) comparison->compared = contents.size();
  }
};

#if defined(__CUDACC__) || defined(__HIP__)

hipError_t launch_image_write(std::byte* destination, image const& contents, hipStream_t stream) {
  return launch_elementwise(write_image_word{destination, contents}, (contents.size() + 7) / 8,
                            stream);
}

hipError_t launch_image_check(std::byte const* memory, image const& contents,
                              device_comparison* comparison, hipStream_t stream) {
  return launch_elementwise(compare_image_word{memory, contents, comparison},
                            (contents.size() + 7) / 8, stream);
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// On the host platform each call processes a page, with the vectorized loops of host_image.cpp.
constexpr std::uint64_t page = 1 << 14;

hipError_t launch_image_write(std::byte* destination, image const& contents, hipStream_t stream) {
  auto const write = [=](std::size_t i) {
    write_image_range(destination, contents, i * page, std::min((i + 1) * page, contents.size()));
  };
  return launch_elementwise(write, (contents.size() + page - 1) / page, stream);
}

hipError_t launch_image_check(std::byte const* memory, image const& contents,
                              device_comparison* comparison, hipStream_t stream) {
  auto const compare = [=](std::size_t i) {
    std::uint64_t const end = std::min((i + 1) * page, contents.size());
    std::uint64_t const first = first_mismatch_in_range(memory, contents, i * page, end);
    if (first != end) atomic_minimum(&comparison->first_mismatch, first);
    if (end == contents.size()) comparison->compared = end;
  };
  return launch_elementwise(compare, (contents.size() + page - 1) / page, stream);
}

#endif

ROCARRAY_HOST_STUB(elementwise_kernel<write_image_word>);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_image_word>);

}  // namespace rocbench
