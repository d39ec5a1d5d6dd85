// SPDX-License-Identifier: MIT
// Cases of kernels that access mapped or managed memory.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <roc/device.hpp>
#include <roc/memory/managed.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/native.hpp>

#include "format.hpp"
#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

using roc::kernels::vector_word;

enum class kernel_access : unsigned char {
  mapped_read,       // a kernel copies from mapped memory to device memory
  mapped_write,      // a kernel copies from device memory to mapped memory
  managed_fault,     // a kernel copies from managed memory that resides on the host
  managed_prefetch,  // managed memory is prefetched from the host to the device
};

bool is_managed(kernel_access access) {
  return access == kernel_access::managed_fault || access == kernel_access::managed_prefetch;
}

// Throws case_not_supported if the device lacks the feature, or if managed memory of this size
// would exceed a quarter of the free device memory.
void check_device(kernel_access access, std::size_t bytes) {
  roc::device const device;
  if (!is_managed(access)) {
    if (!device.can_map_host_memory())
      throw case_not_supported("the device cannot map host memory");
    return;
  }
  if (!device.has_managed_memory()) throw case_not_supported("the device has no managed memory");
  if (!device.has_concurrent_managed_access()) {
    throw case_not_supported(
        "the device has no concurrent managed access: pages do not migrate on faults");
  }
  std::size_t const max_bytes = device.memory().free / 4;
  if (bytes + 2 * guard_bytes > max_bytes) {
    throw case_not_supported(
        fmt::format("more managed memory than a quarter of the free device memory, {}",
                    format_size(max_bytes)));
  }
}

vector_word* as_units(std::byte* data) { return reinterpret_cast<vector_word*>(data); }

buffer_layout buffer_of(memory_kind kind, std::size_t bytes) { return {kind, bytes, {{}, bytes}}; }

memory_kind host_kind(kernel_access access) {
  return is_managed(access) ? memory_kind::managed : memory_kind::mapped;
}

// The library API uses views and roc::prefetch; the raw API uses hipHostGetDevicePointer, pointers
// and hipMemPrefetchAsync. Managed memory resides on the host before a run and on the device after
// it. Each run is therefore prepared anew and timed by the wall clock, including synchronization.
class kernel_access_experiment final : public buffer_experiment {
 public:
  kernel_access_experiment(kernel_access access, api_kind api, std::size_t bytes)
      : buffer_experiment(
            {is_managed(access) ? timing_method::wall_clock : timing_method::device_events, bytes,
             bytes, api == api_kind::raw ? "kernel, pointers" : "kernel, views",
             is_managed(access) ? 1 : experiment_properties{}.max_batch},
            buffer_of(writes_host(access) ? memory_kind::device : host_kind(access), bytes),
            buffer_of(writes_host(access) ? host_kind(access) : memory_kind::device, bytes)),
        access_(access),
        is_raw_(api == api_kind::raw),
        host_buffer_(writes_host(access) ? destination : source) {
    guarded_buffer& device_buffer = writes_host(access) ? source : destination;
    device_ = device_buffer.device_ordinal();
    roc::device_view<vector_word> const device_units(as_units(device_buffer.payload()),
                                                     roc::shape<1>{bytes / sizeof(vector_word)},
                                                     roc::order::c, device_);
    auto const host_units =
        is_raw_ ? roc::device_view<vector_word>(host_pointer(), device_units.shape()) : host_view();
    source_units_ = writes_host(access) ? device_units : host_units;
    destination_units_ = writes_host(access) ? host_units : device_units;
    if (access == kernel_access::managed_prefetch)
      set_path(is_raw_ ? "hipMemPrefetchAsync" : "prefetch");
    work = [this](std::size_t times) {
      for (std::size_t i = 0; i < times; ++i) {
        access_ == kernel_access::managed_prefetch ? prefetch() : copy();
      }
      if (is_managed(access_)) stream().synchronize();
    };
  }

  void prepare(std::uint64_t sample) override {
    if (is_managed(access_))
      roc::migrate(host_buffer_.host_allocation(), roc::memory_location::host());
    buffer_experiment::prepare(sample);
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (access_ == kernel_access::managed_prefetch) {
      copy();
      stream().synchronize();
    }
    if (auto difference = buffer_experiment::check(sample, inject)) return difference;
    // The source's guard bands must not be written either.
    return check_guard_bands(source, expected_source(sample));
  }

 private:
  static bool writes_host(kernel_access access) { return access == kernel_access::mapped_write; }

  // These return the payload of the host memory as a kernel addresses it.
  roc::device_view<vector_word> host_view() {
    constexpr auto first = static_cast<std::ptrdiff_t>(guard_bytes);
    auto const last = first + static_cast<std::ptrdiff_t>(properties_.bytes);
    return roc::device_view_of(host_buffer_.host_allocation())
        .region(roc::slice(first, last))
        .as<vector_word>();
  }
  vector_word* host_pointer() {
    void* allocation = host_buffer_.allocation();
    // Managed memory has the same address on the host and the device.
    if (!is_managed(access_))
      ROCARRAY_HIP(hipHostGetDevicePointer, &allocation, host_buffer_.allocation(), 0);
    return as_units(static_cast<std::byte*>(allocation) + guard_bytes);
  }

  void prefetch() {
    if (is_raw_) {
      ROCARRAY_HIP(hipMemPrefetchAsync, host_buffer_.payload(), properties_.bytes, device_,
                   hip_stream());
    } else {
      roc::host_view<std::byte> const payload(host_buffer_.payload(),
                                              roc::shape<1>{properties_.bytes});
      roc::prefetch(payload, roc::device(device_), stream());
    }
  }

  void copy() {
    check_kernel_launch(launch_copy(source_units_, destination_units_, is_raw_, hip_stream()));
  }

  kernel_access access_;
  bool is_raw_;
  guarded_buffer& host_buffer_;
  int device_ = 0;
  roc::device_view<vector_word> source_units_;
  roc::device_view<vector_word> destination_units_;
};

struct case_definition {
  char const* name;
  char const* description;
  char const* raw_description;
  kernel_access access;
};

constexpr case_definition case_definitions[] = {
    {"mapped/read", "kernel reads mapped host memory, by views",
     "kernel reads mapped host memory, by pointers", kernel_access::mapped_read},
    {"mapped/write", "kernel writes mapped host memory, by views",
     "kernel writes mapped host memory, by pointers", kernel_access::mapped_write},
    {"managed/fault", "kernel reads managed memory on the host, by views",
     "kernel reads managed memory on the host, pointers", kernel_access::managed_fault},
    {"managed/prefetch", "managed memory is prefetched to the device",
     "managed memory is prefetched to the device, by HIP", kernel_access::managed_prefetch},
};

}  // namespace

void add_kernel_access_cases(case_vector& cases) {
  for (case_definition const& definition : case_definitions) {
    add_with_raw(cases,
                 {definition.name, definition.description, accounting::payload,
                  limiting_resource::link, false},
                 definition.raw_description,
                 [access = definition.access](api_kind api, case_parameters const& parameters) {
                   // Kernels copy whole units.
                   std::size_t const bytes =
                       parameters.bytes / sizeof(vector_word) * sizeof(vector_word);
                   std::size_t const copied = std::max(bytes, sizeof(vector_word));
                   check_device(access, copied);
                   return std::make_unique<kernel_access_experiment>(access, api, copied);
                 });
  }
}

}  // namespace rocbench
