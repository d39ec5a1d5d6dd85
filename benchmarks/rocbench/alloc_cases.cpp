// SPDX-License-Identifier: MIT
// Cases that time allocation and deallocation.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

// Allocates and deallocates memory by one API, one allocation at a time.
struct allocator {
  // Sets `*memory` to host or device memory. May return before stream-ordered memory can be
  // accessed: synchronize the device first.
  std::function<void(void** memory, std::size_t bytes)> allocate;
  // Frees the last result of allocate(bytes) or, if it is registered memory, deregisters it.
  std::function<void(void* memory, std::size_t bytes)> deallocate;
};

// Constructs and destroys an array. `make(bytes)` returns it.
template <class Make>
allocator array_allocator(Make make) {
  auto const array = std::make_shared<decltype(make(std::size_t{}))>();
  return {[=](void** memory, std::size_t bytes) {
            *array = make(bytes);
            *memory = array->data();
          },
          [=](void*, std::size_t) { *array = {}; }};
}

// Returns the resource of the driver's pool. Throws case_not_supported if the device has none.
std::shared_ptr<roc::hip_async_memory_resource> make_driver_pool() {
  try {
    return std::make_shared<roc::hip_async_memory_resource>();
  } catch (roc::error const& e) {
    if (e.code() == std::errc::not_supported) throw case_not_supported(e.what());
    throw;
  }
}

// Calls hipMallocAsync and hipFreeAsync.
allocator stream_ordered_allocator(std::size_t) {
  static_cast<void>(make_driver_pool());
  auto const stream = std::make_shared<roc::stream>();
  return {
      [=](void** memory, std::size_t bytes) {
        ROCARRAY_HIP(hipMallocAsync, memory, bytes, roc::native(*stream));
      },
      [=](void* memory, std::size_t) { ROCARRAY_HIP(hipFreeAsync, memory, roc::native(*stream)); }};
}

struct case_definition {
  char const* name;
  char const* description;
  char const* path;
  allocator (*make)(std::size_t bytes);
  bool by_default = false;
};

constexpr case_definition case_definitions[] = {
    {"alloc/device", "construction and destruction of a device_array", "pool",
     [](std::size_t) {
       return array_allocator([stream = std::make_shared<roc::stream>()](std::size_t bytes) {
         return roc::device_array<std::byte>(roc::shape<1>{bytes}, roc::order::c, *stream);
       });
     },
     true},
    {"raw/alloc/device", "hipMalloc and hipFree", "hipMalloc",
     [](std::size_t) -> allocator {
       return {[](void** memory, std::size_t bytes) { ROCARRAY_HIP(hipMalloc, memory, bytes); },
               [](void* memory, std::size_t) { ROCARRAY_HIP(hipFree, memory); }};
     },
     true},
    {"alloc/pool", "allocation from the resource of device arrays", "pool",
     [](std::size_t) -> allocator {
       auto const stream = std::make_shared<roc::stream>();
       roc::memory_resource* const pool = &roc::device_resource(roc::device().ordinal());
       return {[=](void** memory, std::size_t bytes) { *memory = pool->allocate(bytes, *stream); },
               [=](void* memory, std::size_t bytes) { pool->deallocate(memory, bytes, *stream); }};
     }},
    {"raw/alloc/pool", "hipMallocAsync and hipFreeAsync", "hipMallocAsync",
     stream_ordered_allocator},
    {"alloc/driver_pool", "allocation from hip_async_memory_resource", "driver's pool",
     [](std::size_t) -> allocator {
       auto const pool = make_driver_pool();
       auto const stream = std::make_shared<roc::stream>();
       return {[=](void** memory, std::size_t bytes) { *memory = pool->allocate(bytes, *stream); },
               [=](void* memory, std::size_t bytes) { pool->deallocate(memory, bytes, *stream); }};
     }},
    {"raw/alloc/driver_pool", "hipMallocAsync and hipFreeAsync", "hipMallocAsync",
     stream_ordered_allocator},
    {"alloc/pinned", "construction and destruction of a pinned_array", "cache",
     [](std::size_t) {
       return array_allocator([](std::size_t bytes) {
         return roc::host_array<std::byte>(roc::shape<1>{bytes}, roc::order::c,
                                           roc::host_memory::pinned);
       });
     }},
    {"raw/alloc/pinned", "hipHostMalloc and hipHostFree", "hipHostMalloc",
     [](std::size_t) -> allocator {
       return {
           [](void** memory, std::size_t bytes) { ROCARRAY_HIP(hipHostMalloc, memory, bytes, 0u); },
           [](void* memory, std::size_t) { ROCARRAY_HIP(hipHostFree, memory); }};
     }},
    {"alloc/registered", "register_host and deregister of touched memory", "register_host",
     [](std::size_t bytes) -> allocator {
       auto const touched = std::make_shared<std::vector<std::byte>>(bytes, std::byte{1});
       auto const registration = std::make_shared<std::optional<roc::registration>>();
       return {[=](void** memory, std::size_t) {
                 *registration = roc::register_host(*touched);
                 *memory = touched->data();
               },
               [=](void*, std::size_t) { registration->reset(); }};
     }},
    {"raw/alloc/registered", "hipHostRegister, hipHostUnregister, touched memory",
     "hipHostRegister",
     [](std::size_t bytes) -> allocator {
       auto const touched = std::make_shared<std::vector<std::byte>>(bytes, std::byte{1});
       return {[=](void** memory, std::size_t) {
                 *memory = touched->data();
                 ROCARRAY_HIP(hipHostRegister, *memory, touched->size(), 0u);
               },
               [](void* memory, std::size_t) { ROCARRAY_HIP(hipHostUnregister, memory); }};
     }},
};

// Times pairs of allocation and deallocation. check() allocates once more, outside the timed part,
// and verifies that the first and the last page contain what was written to them.
class alloc_experiment final : public experiment {
 public:
  alloc_experiment(allocator source, std::size_t bytes, char const* path)
      : experiment({timing_method::wall_clock, bytes, bytes, path}),
        allocator_(std::move(source)),
        bytes_(bytes) {}

  void prepare(std::uint64_t) override {}
  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) allocator_.deallocate(allocate(), bytes_);
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (inject > injection_site::data)
      throw case_not_supported("allocations have no gaps or guard bands to corrupt a byte in");
    auto* const memory = static_cast<std::byte*>(allocate());
    // Each copy stays within one page, because HIP cannot copy across the parts of a range that was
    // registered in parts.
    std::byte* const end = memory + bytes_;
    std::size_t const first_bytes = std::min(page - offset_in_page(memory), bytes_);
    std::size_t const last_bytes = std::min(offset_in_page(end - 1) + 1, bytes_);
    auto difference = check_edge({memory, first_bytes}, sample, inject == injection_site::data);
    if (!difference) difference = check_edge({end - last_bytes, last_bytes}, sample, false);
    allocator_.deallocate(memory, bytes_);
    return difference;
  }

 private:
  static constexpr std::size_t page = 4096;

  void* allocate() {
    void* memory = nullptr;
    allocator_.allocate(&memory, bytes_);
    return memory;
  }

  static std::size_t offset_in_page(std::byte const* address) {
    return reinterpret_cast<std::uintptr_t>(address) % page;
  }

  // Writes the pattern to a range of at most a page and compares it. Returns a description of the
  // first difference, or nothing. Corrupts a byte before the comparison if `inject`.
  std::optional<std::string> check_edge(std::span<std::byte> edge, std::uint64_t sample,
                                        bool inject) {
    image const pattern = pattern_image(edge.size(), sample);
    std::vector<std::byte> values(edge.size());
    write_image(values.data(), pattern);
    ROCARRAY_HIP(hipDeviceSynchronize);
    ROCARRAY_HIP(hipMemcpy, edge.data(), values.data(), edge.size(), hipMemcpyDefault);
    std::ranges::fill(values, std::byte{poison_byte(sample)});
    ROCARRAY_HIP(hipMemcpy, values.data(), edge.data(), edge.size(), hipMemcpyDefault);
    if (inject) values[values.size() / 2] ^= std::byte{1};
    auto const offset = find_first_mismatch(values.data(), pattern);
    if (!offset) return std::nullopt;
    return describe_mismatch(pattern, *offset, values[*offset]);
  }

  allocator allocator_;
  std::size_t bytes_;
};

}  // namespace

void add_alloc_cases(case_vector& cases) {
  for (case_definition const& definition : case_definitions) {
    cases.push_back({definition.name, definition.description, accounting::time,
                     limiting_resource::none, definition.by_default,
                     [&definition](case_parameters const& parameters) {
                       return std::make_unique<alloc_experiment>(definition.make(parameters.bytes),
                                                                 parameters.bytes, definition.path);
                     },
                     std::size_t{1} << 20});
  }
}

}  // namespace rocbench
