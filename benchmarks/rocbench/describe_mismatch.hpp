// SPDX-License-Identifier: MIT
// Descriptions of bytes with wrong values, and the check of guard bands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "pattern.hpp"

namespace rocbench {

/// Returns text such as "sample 3: payload byte 17 is 0x80, not 0x81".
std::string describe_mismatch(char const* region, mismatch const& difference, std::uint64_t sample);

/// Checks that both guard bands of an allocation still contain the sample's poison. Returns a
/// description of the first byte that does not, or nothing.
std::optional<std::string> check_guard_bands(std::span<std::byte> allocation, std::uint64_t sample);

}  // namespace rocbench
