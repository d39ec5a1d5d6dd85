// SPDX-License-Identifier: MIT
// Where a byte is corrupted to show that a wrong one is found.
#pragma once

namespace rocbench {

enum class inject_place : unsigned char {
  none,
  data,    ///< in the middle of the payload
  gap,     ///< between its rows or pieces
  before,  ///< the last byte in front of it
  behind,  ///< the first one behind it
};

}  // namespace rocbench
