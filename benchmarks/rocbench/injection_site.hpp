// SPDX-License-Identifier: MIT
// The place at which --inject corrupts a byte, to show that verification finds it.
#pragma once

namespace rocbench {

enum class injection_site : unsigned char {
  none,
  data,    ///< the middle of the payload
  gap,     ///< between rows, or between the copies of a batch
  before,  ///< the last byte of the guard band before the payload
  after,   ///< the first byte of the guard band after the payload
};

}  // namespace rocbench
