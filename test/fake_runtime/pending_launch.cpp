// SPDX-License-Identifier: MIT
#include "pending_launch.hpp"

#include <cstring>

namespace roc::fake_runtime {

pending_launch::pending_launch(host_stub const& stub, launch_extent grid, launch_extent block,
                               void* const* arguments)
    : stub_(stub), grid_(grid), block_(block) {
  std::size_t units = 0;
  for (std::size_t i = 0; i < stub.argument_count; ++i) {
    argument_units_.push_back(units);
    units += (stub.argument_sizes[i] + sizeof(storage_unit) - 1) / sizeof(storage_unit);
  }
  storage_.resize(units);
  for (std::size_t i = 0; i < stub.argument_count; ++i) {
    std::memcpy(&storage_[argument_units_[i]], arguments[i], stub.argument_sizes[i]);
  }
}

void pending_launch::run() {
  std::vector<void*> arguments;
  for (std::size_t const unit : argument_units_) arguments.push_back(&storage_[unit]);
  stub_.run(grid_.sizes, block_.sizes, arguments.data());
}

}  // namespace roc::fake_runtime
