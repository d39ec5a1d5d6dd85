// SPDX-License-Identifier: MIT
#include "pending_launch.hpp"

#include <cstddef>
#include <cstring>

#include "platform/host/parallel_for.hpp"

namespace roc::fake_runtime {

pending_launch::pending_launch(host_stub const& stub, launch_extent grid, launch_extent block,
                               std::size_t shared_bytes, void* const* arguments)
    : stub_(stub), grid_(grid), block_(block), shared_bytes_(shared_bytes) {
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
  if (stub.run_items == nullptr) host_hip::reserve_runner(grid_of_kernel());
}

host_hip::grid_launch pending_launch::grid_of_kernel() {
  auto const index_of = [](launch_extent const& extent) {
    return host_kernels::kernel_index{extent.sizes[0], extent.sizes[1], extent.sizes[2]};
  };
  return {stub_.kernel, arguments_.data(), index_of(grid_), index_of(block_), shared_bytes_};
}

void pending_launch::run() {
  void** const arguments = arguments_.data();
  if (stub_.run_items != nullptr) {
    host_hip::parallel_for(
        stub_.item_count(arguments),
        [&](std::size_t begin, std::size_t end) { stub_.run_items(arguments, begin, end); }, 1024);
    return;
  }
  host_hip::run_grid(grid_of_kernel());
}

}  // namespace roc::fake_runtime
