// SPDX-License-Identifier: MIT
#include "describe_mismatch.hpp"

#include <fmt/format.h>

#include "guarded_buffer.hpp"

namespace rocbench {

std::string describe_mismatch(char const* region, mismatch const& difference,
                              std::uint64_t sample) {
  return fmt::format("sample {}: {} byte {} is 0x{:02x}, not 0x{:02x}", sample, region,
                     difference.offset, std::to_integer<unsigned>(difference.actual),
                     std::to_integer<unsigned>(difference.expected));
}

std::optional<std::string> check_guard_bands(std::span<std::byte> allocation,
                                             std::uint64_t sample) {
  guarded_spans const spans(allocation);
  if (auto const difference = find_poison_mismatch(spans.guard_before, sample)) {
    return describe_mismatch("guard band before the payload,", *difference, sample);
  }
  if (auto const difference = find_poison_mismatch(spans.guard_after, sample)) {
    return describe_mismatch("guard band after the payload,", *difference, sample);
  }
  return std::nullopt;
}

}  // namespace rocbench
