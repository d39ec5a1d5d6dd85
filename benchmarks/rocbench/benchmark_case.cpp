// SPDX-License-Identifier: MIT
#include "benchmark_case.hpp"

namespace rocbench {

char const* to_string(accounting counted) noexcept {
  switch (counted) {
    case accounting::payload: return "payload";
    case accounting::traffic: return "traffic";
    case accounting::time: return "time";
  }
  return "";
}

}  // namespace rocbench
