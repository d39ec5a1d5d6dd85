// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

auto test(std::vector<roc::device> const& devices, std::vector<roc::stream>& streams) {
  return roc::split_to_devices(std::vector<float>(4), devices, 0, streams);
}
