// SPDX-License-Identifier: MIT
// The ranks of a communicator that this process has: all of them, one on each device, or one of
// several processes. Tests call each operation for all ranks of the process in a group.
#pragma once

#include <cstddef>
#include <source_location>
#include <vector>

#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/interop/collectives.hpp>
#include <roc/stream.hpp>

// True if the library is NCCL or RCCL, which define NCCL_MAJOR. The library of the host platform,
// which is also that of the fake HIP runtime, does not define it.
#if defined(NCCL_MAJOR)
#define ROCARRAY_TEST_WITH_NCCL 1
#else
#define ROCARRAY_TEST_WITH_NCCL 0
#endif

namespace roc::test {

/// Returns new ranks of this process. Collective. Defined by the program: in one_process.cpp or in
/// mpi_processes.cpp.
std::vector<collective_communicator> make_ranks(collective_options const& options = {});

/// One communicator, and a stream for each rank of this process.
class rank_set {
 public:
  explicit rank_set(collective_options const& options = {}) : ranks(make_ranks(options)) {
    for (auto const& rank : ranks) {
      device_guard const current(device(rank.device_ordinal()));
      streams.emplace_back();
    }
  }

  int size() const { return ranks.front().size(); }
  /// Calls f(rank, index in this process) for each rank of this process on its device.
  template <class F>
  void for_each(F f) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      device_guard const current(device(ranks[i].device_ordinal()));
      f(ranks[i], i);
    }
  }
  /// As for_each, in a group.
  template <class F>
  void in_group(F f, std::source_location at = std::source_location::current()) {
    collective_group group;
    for_each(f);
    group.end(at);
  }
  void synchronize(std::source_location at = std::source_location::current()) {
    for_each([&](auto& rank, std::size_t i) { rank.synchronize(streams[i], at); });
  }

  /// Runs an operation, so that the ranks are connected. NCCL connects them at the first one, whose
  /// call blocks until all ranks come.
  void connect() {
    std::vector<device_array<int, 1>> numbers;
    for_each([&](auto&, std::size_t) { numbers.emplace_back(shape<1>{1}); });
    in_group([&](auto& rank, std::size_t i) { rank.all_reduce(numbers[i], reduction::max); });
  }

  std::vector<collective_communicator> ranks;
  std::vector<stream> streams;
};

}  // namespace roc::test
