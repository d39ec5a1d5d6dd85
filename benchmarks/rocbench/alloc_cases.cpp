// SPDX-License-Identifier: MIT
#include "alloc_cases.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <roc/native.hpp>

#include "allocator.hpp"
#include "describe_mismatch.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// Times pairs of allocation and deallocation. check() allocates once more, outside the timed part,
// and verifies that the first and the last page contain what was written to them.
class alloc_experiment final : public experiment {
 public:
  alloc_experiment(std::unique_ptr<allocator> source, std::size_t bytes)
      : allocator_(std::move(source)), bytes_(bytes) {}

  timing_method timing() const override { return timing_method::wall_clock; }
  std::size_t bytes() const override { return bytes_; }
  std::size_t counted_bytes() const override { return bytes_; }
  std::string path() override { return allocator_->path(); }
  roc::stream_ref stream() const override { return {}; }

  void prepare(std::uint64_t) override {}
  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i)
      allocator_->deallocate(allocator_->allocate(bytes_), bytes_);
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (inject > injection_site::data)
      throw case_not_supported("allocations have no gaps or guard bands to corrupt a byte in");
    auto* const memory = static_cast<std::byte*>(allocator_->allocate(bytes_));
    // Each copy stays within one page, because HIP cannot copy across the parts of a range that was
    // registered in parts.
    std::byte* const end = memory + bytes_;
    std::size_t const first_bytes = page - offset_in_page(memory);
    std::size_t const last_page_bytes = offset_in_page(end - 1) + 1;
    auto difference =
        check_edge({memory, std::min(first_bytes, bytes_)}, sample, inject == injection_site::data);
    if (!difference) {
      std::size_t const last_bytes = std::min(last_page_bytes, bytes_);
      difference = check_edge({end - last_bytes, last_bytes}, sample, false);
    }
    allocator_->deallocate(memory, bytes_);
    return difference;
  }

 private:
  static constexpr std::size_t page = 4096;

  static std::size_t offset_in_page(std::byte const* address) {
    return reinterpret_cast<std::uintptr_t>(address) % page;
  }

  // Writes the pattern to a range of at most a page and compares it. Returns a description of the
  // first difference, or nothing. Corrupts a byte before the comparison if `inject`.
  std::optional<std::string> check_edge(std::span<std::byte> edge, std::uint64_t sample,
                                        bool inject) {
    std::vector<std::byte> values(edge.size());
    write_pattern(values, sample);
    ROCARRAY_HIP(hipDeviceSynchronize);
    ROCARRAY_HIP(hipMemcpy, edge.data(), values.data(), edge.size(), hipMemcpyDefault);
    write_poison(values, sample);
    ROCARRAY_HIP(hipMemcpy, values.data(), edge.data(), edge.size(), hipMemcpyDefault);
    if (inject) values[values.size() / 2] ^= std::byte{1};
    auto const difference = find_pattern_mismatch(values, sample);
    if (!difference) return std::nullopt;
    return describe_mismatch("allocated", *difference, sample);
  }

  std::unique_ptr<allocator> allocator_;
  std::size_t bytes_;
};

struct case_definition {
  char const* name;
  char const* description;
  allocator_kind kind;
};

constexpr case_definition case_definitions[] = {
    {"alloc/device", "construction and destruction of a device_array",
     allocator_kind::device_array},
    {"raw/alloc/device", "hipMalloc and hipFree", allocator_kind::device_raw},
    {"alloc/driver_pool", "allocate and deallocate of hip_async_memory_resource",
     allocator_kind::driver_pool},
    {"raw/alloc/driver_pool", "hipMallocAsync and hipFreeAsync", allocator_kind::driver_pool_raw},
    {"alloc/pinned", "construction and destruction of a pinned_array",
     allocator_kind::pinned_array},
    {"raw/alloc/pinned", "hipHostMalloc and hipHostFree", allocator_kind::pinned_raw},
    {"alloc/registered", "register_host and deregister, of memory that has been written before",
     allocator_kind::registered},
    {"raw/alloc/registered",
     "hipHostRegister and hipHostUnregister, of memory that has been written before",
     allocator_kind::registered_raw},
};

}  // namespace

void add_alloc_cases(std::vector<benchmark_case>& cases) {
  for (case_definition const& definition : case_definitions) {
    cases.push_back({definition.name, definition.description, accounting::time,
                     limiting_resource::none, false,
                     [kind = definition.kind](case_parameters const& parameters) {
                       return std::make_unique<alloc_experiment>(
                           make_allocator(kind, parameters.bytes), parameters.bytes);
                     }});
  }
}

}  // namespace rocbench
