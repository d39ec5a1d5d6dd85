// SPDX-License-Identifier: MIT
// What is said about a byte that is not what it should be, and the checks of a whole buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "pattern.hpp"

namespace rocbench {

/// "sample 3: payload byte 17 is 0x80, not 0x81".
std::string describe_mismatch(char const* where, mismatch const& wrong, std::uint64_t sample);

/// Whether both guard bands of a buffer still hold the sample's poison: nothing, or what is wrong.
std::optional<std::string> check_guards(std::span<std::byte> whole, std::uint64_t sample);

}  // namespace rocbench
