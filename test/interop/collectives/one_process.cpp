// SPDX-License-Identifier: MIT
// Ranks for the tests of collectives in one process: one on each device.
#include "interop/collectives/ranks.hpp"

namespace roc::test {

std::vector<collective_communicator> make_ranks(collective_options const& options) {
  std::vector<device> devices;
  for (int i = 0; i < device::count(); ++i) devices.emplace_back(i);
  return collective_communicator::for_devices(devices, options);
}

}  // namespace roc::test
