// SPDX-License-Identifier: MIT
#include "pending_launch.hpp"

#include <cstddef>
#include <cstring>

namespace roc::fake_runtime {

pending_launch::pending_launch(host_stub const& stub, launch_extent grid, launch_extent block,
                               void* const* arguments)
    : stub_(stub), grid_(grid), block_(block) {
  auto const units_of = [&](std::size_t argument) {
    return (stub.argument_sizes[argument] + sizeof(storage_unit) - 1) / sizeof(storage_unit);
  };
  std::size_t units = 0;
  for (std::size_t i = 0; i < stub.argument_count; ++i) units += units_of(i);
  storage_.resize(units);
  arguments_.reserve(stub.argument_count);
  storage_unit* next = storage_.data();
  for (std::size_t i = 0; i < stub.argument_count; ++i) {
    std::memcpy(next, arguments[i], stub.argument_sizes[i]);
    arguments_.push_back(next);
    next += units_of(i);
  }
}

void pending_launch::run() { stub_.run(grid_.sizes, block_.sizes, arguments_.data()); }

}  // namespace roc::fake_runtime
