// SPDX-License-Identifier: MIT
// Enumerators as the table and the files say them.
#include "cases.hpp"

namespace rocbench {

char const* to_string(accounting counted) noexcept {
  return counted == accounting::traffic ? "traffic" : "payload";
}

}  // namespace rocbench
