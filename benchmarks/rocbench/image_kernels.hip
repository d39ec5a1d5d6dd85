// SPDX-License-Identifier: MIT
// Images in device memory: written and compared word by word, each by a thread of its own, so that
// no transfer and no code of the library takes part.
#include <algorithm>

#include "device_kernels.hpp"
#include "each_element.hpp"
#include "host_image.hpp"
#include "keep_least.hpp"

namespace rocbench {

struct write_image_word {
  std::byte* to;
  image of;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const at = i * 8;
    std::uint64_t const value = image_word(of, at);
    if (of.whole() - at >= 8) {
      *reinterpret_cast<std::uint64_t*>(to + at) = value;
      return;
    }
    for (std::uint64_t byte = 0; at + byte < of.whole(); ++byte) {
      to[at + byte] = static_cast<std::byte>(value >> 8 * byte);
    }
  }
};

struct compare_image_word {
  std::byte const* found;
  image of;
  check_verdict* verdict;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const at = i * 8;
    std::uint64_t const value = image_word(of, at);
    std::uint64_t const left = of.whole() - at;
    bool const whole_word = left >= 8;
    if (!whole_word || *reinterpret_cast<std::uint64_t const*>(found + at) != value) {
      std::uint64_t const bytes = whole_word ? 8 : left;
      std::uint64_t byte = 0;
      while (byte < bytes && found[at + byte] == static_cast<std::byte>(value >> 8 * byte)) ++byte;
      if (byte < bytes) keep_least(&verdict->first_wrong, at + byte);
    }
    if (left <= 8) verdict->compared = of.whole();
  }
};

#if defined(__CUDACC__) || defined(__HIP__)

hipError_t launch_image_write(std::byte* to, image const& of, hipStream_t stream) {
  return launch_each(write_image_word{to, of}, (of.whole() + 7) / 8, stream);
}

hipError_t launch_image_check(std::byte const* found, image const& of, check_verdict* verdict,
                              hipStream_t stream) {
  return launch_each(compare_image_word{found, of, verdict}, (of.whole() + 7) / 8, stream);
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// Where a CPU plays the device, its threads are few: each has pages, which it does in vectors.
constexpr std::uint64_t page = 1 << 14;

hipError_t launch_image_write(std::byte* to, image const& of, hipStream_t stream) {
  auto const write = [=](std::size_t i) {
    write_image_part(to, of, i * page, std::min((i + 1) * page, of.whole()));
  };
  return launch_each(write, (of.whole() + page - 1) / page, stream);
}

hipError_t launch_image_check(std::byte const* found, image const& of, check_verdict* verdict,
                              hipStream_t stream) {
  auto const compare = [=](std::size_t i) {
    std::uint64_t const end = std::min((i + 1) * page, of.whole());
    std::uint64_t const wrong = first_wrong_byte(found, of, i * page, end);
    if (wrong != end) keep_least(&verdict->first_wrong, wrong);
    if (end == of.whole()) verdict->compared = end;
  };
  return launch_each(compare, (of.whole() + page - 1) / page, stream);
}

#endif

ROCARRAY_HOST_STUB(each_element<write_image_word>);
ROCARRAY_HOST_STUB(each_element<compare_image_word>);

}  // namespace rocbench
