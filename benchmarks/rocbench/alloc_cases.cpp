// SPDX-License-Identifier: MIT
// The cases of getting memory and giving it back.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <roc/native.hpp>

#include "cases.hpp"
#include "describe_mismatch.hpp"
#include "memory_source.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// Memory that was taken and given back while the time was taken is taken once more for the check:
// it must hold what is put at its begin and its end.
class alloc_experiment final : public experiment {
 public:
  alloc_experiment(std::unique_ptr<memory_source> source, std::size_t bytes)
      : source_(std::move(source)), bytes_(bytes) {}

  timing timed_by() const override { return timing::wall_clock; }
  std::size_t bytes() const override { return bytes_; }
  std::size_t counted_bytes() const override { return bytes_; }
  std::string path() override { return source_->path(); }
  roc::stream_ref stream() const override { return {}; }

  void prepare(std::uint64_t) override {}
  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) source_->give(source_->take(bytes_), bytes_);
  }

  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    if (inject > inject_place::data) throw not_possible("it checks allocated memory alone");
    auto* const memory = static_cast<std::byte*>(source_->take(bytes_));
    // The first and the last page: each lies within one piece of what is registered in pieces, as
    // HIP's own copies must.
    std::byte* const end = memory + bytes_;
    std::size_t const first = page - offset_in_page(memory);
    std::size_t const last = offset_in_page(end - 1) + 1;
    auto wrong =
        check_edge({memory, std::min(first, bytes_)}, sample, inject == inject_place::data);
    if (!wrong) {
      std::size_t const kept = std::min(last, bytes_);
      wrong = check_edge({end - kept, kept}, sample, false);
    }
    source_->give(memory, bytes_);
    return wrong;
  }

 private:
  static constexpr std::size_t page = 4096;

  static std::size_t offset_in_page(std::byte const* at) {
    return reinterpret_cast<std::uintptr_t>(at) % page;
  }

  std::optional<std::string> check_edge(std::span<std::byte> edge, std::uint64_t sample,
                                        bool inject) {
    std::vector<std::byte> values(edge.size());
    write_pattern(values, sample);
    ROCARRAY_HIP(hipDeviceSynchronize);
    ROCARRAY_HIP(hipMemcpy, edge.data(), values.data(), edge.size(), hipMemcpyDefault);
    write_poison(values, sample);
    ROCARRAY_HIP(hipMemcpy, values.data(), edge.data(), edge.size(), hipMemcpyDefault);
    if (inject) values[values.size() / 2] ^= std::byte{1};
    auto const found = find_pattern_mismatch(values, sample);
    if (!found) return std::nullopt;
    return describe_mismatch("allocated", *found, sample);
  }

  std::unique_ptr<memory_source> source_;
  std::size_t bytes_;
};

struct row {
  char const* name;
  char const* words;
  memory_way way;
};

constexpr row rows[] = {
    {"alloc/device", "a device_array made and dropped", memory_way::device_array},
    {"raw/alloc/device", "hipMalloc and hipFree", memory_way::device_raw},
    {"alloc/driver_pool", "hip_async_memory_resource", memory_way::driver_pool},
    {"raw/alloc/driver_pool", "hipMallocAsync and hipFreeAsync", memory_way::driver_pool_raw},
    {"alloc/pinned", "a pinned_array made and dropped", memory_way::pinned_array},
    {"raw/alloc/pinned", "hipHostMalloc and hipHostFree", memory_way::pinned_raw},
    {"alloc/registered", "register_host of touched memory, and its end", memory_way::registered},
    {"raw/alloc/registered", "hipHostRegister and hipHostUnregister of touched memory",
     memory_way::registered_raw},
};

}  // namespace

void add_alloc_cases(std::vector<benchmark_case>& to) {
  for (row const& each : rows) {
    to.push_back({each.name, each.words, accounting::time, bound::none, false,
                  [way = each.way](extent_request const& asked) {
                    return std::make_unique<alloc_experiment>(make_memory_source(way, asked.bytes),
                                                              asked.bytes);
                  }});
  }
}

}  // namespace rocbench
