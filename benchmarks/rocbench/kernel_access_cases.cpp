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
                    format_size(static_cast<double>(max_bytes))));
  }
}

char const* path_of(kernel_access access, bool is_raw) {
  if (access == kernel_access::managed_prefetch) return is_raw ? "hipMemPrefetchAsync" : "prefetch";
  return is_raw ? "kernel, pointers" : "kernel, views";
}

// The library API uses views and roc::prefetch; the raw API uses hipHostGetDevicePointer, pointers
// and hipMemPrefetchAsync. Managed memory resides on the host before a run and on the device after
// it. Each run is therefore prepared anew and timed by the wall clock, including synchronization.
class kernel_access_experiment final : public buffer_experiment {
 public:
  kernel_access_experiment(kernel_access access, api_kind api, std::size_t bytes)
      : buffer_experiment(
            {is_managed(access) ? timing_method::wall_clock : timing_method::device_events, bytes,
             bytes, path_of(access, api == api_kind::raw),
             is_managed(access) ? 1 : experiment_properties{}.max_batch},
            {access == kernel_access::mapped_write ? memory_kind::device : host_kind(access),
             bytes,
             {{}, bytes}},
            {access == kernel_access::mapped_write ? memory_kind::mapped : memory_kind::device,
             bytes,
             {{}, bytes}},
            api_kind::library),
        access_(access),
        is_raw_(api == api_kind::raw),
        host_buffer_(writes_host() ? destination_ : source_),
        device_buffer_(writes_host() ? source_ : destination_),
        device_units_(as_units(device_buffer_.payload()),
                      roc::shape<1>{bytes / sizeof(vector_word)}, roc::order::c,
                      device_buffer_.device_ordinal()) {
    is_raw_ ? set_host_units_by_pointer() : set_host_units_by_view();
  }

  void prepare(std::uint64_t sample) override {
    if (is_managed(access_))
      roc::migrate(host_buffer_.host_allocation(), roc::memory_location::host());
    buffer_experiment::prepare(sample);
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      access_ == kernel_access::managed_prefetch ? prefetch() : launch_copy();
    }
    if (is_managed(access_)) stream_.synchronize();
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (access_ == kernel_access::managed_prefetch) {
      launch_copy();
      stream_.synchronize();
    }
    if (auto difference = buffer_experiment::check(sample, inject)) return difference;
    // The source's guard bands must not be written either.
    return check_guard_bands(source_, expected_source(sample));
  }

 private:
  static memory_kind host_kind(kernel_access access) {
    return is_managed(access) ? memory_kind::managed : memory_kind::mapped;
  }
  bool writes_host() const { return access_ == kernel_access::mapped_write; }
  std::size_t bytes() const { return properties_.bytes; }

  // These set host_units_ to the payload of the host memory as a kernel addresses it.
  void set_host_units_by_view() {
    constexpr auto first = static_cast<std::ptrdiff_t>(guard_bytes);
    auto const last = first + static_cast<std::ptrdiff_t>(bytes());
    host_units_ = roc::device_view_of(host_buffer_.host_allocation())
                      .region(roc::slice(first, last))
                      .as<vector_word>();
  }
  void set_host_units_by_pointer() {
    void* allocation = host_buffer_.allocation();
    // Managed memory has the same address on the host and the device.
    if (!is_managed(access_))
      ROCARRAY_HIP(hipHostGetDevicePointer, &allocation, host_buffer_.allocation(), 0);
    host_units_ = {as_units(static_cast<std::byte*>(allocation) + guard_bytes),
                   device_units_.shape()};
  }

  void prefetch() {
    if (is_raw_) {
      ROCARRAY_HIP(hipMemPrefetchAsync, host_buffer_.payload(), bytes(), device_ordinal(),
                   roc::native(stream_));
    } else {
      roc::host_view<std::byte> const payload(host_buffer_.payload(), roc::shape<1>{bytes()});
      roc::prefetch(payload, roc::device(device_ordinal()), stream_);
    }
  }

  void launch_copy() {
    auto const& source = writes_host() ? device_units_ : host_units_;
    auto const& destination = writes_host() ? host_units_ : device_units_;
    hipStream_t const hip_stream = roc::native(stream_);
    check_kernel_launch(is_raw_ ? launch_copy_with_pointers(source.data(), destination.data(),
                                                            destination.size(), hip_stream)
                                : launch_copy_with_views(source, destination, hip_stream));
  }

  int device_ordinal() const { return device_buffer_.device_ordinal(); }

  static vector_word* as_units(std::byte* data) { return reinterpret_cast<vector_word*>(data); }

  kernel_access access_;
  bool is_raw_;
  guarded_buffer& host_buffer_;
  guarded_buffer& device_buffer_;
  roc::device_view<vector_word> device_units_;
  roc::device_view<vector_word> host_units_;
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
                 {definition.name,
                  definition.description,
                  accounting::payload,
                  limiting_resource::link,
                  false,
                  {}},
                 definition.raw_description,
                 [access = definition.access](api_kind api, case_parameters const& parameters) {
                   // Kernels copy whole units.
                   std::size_t const count =
                       std::max(parameters.bytes / sizeof(vector_word), std::size_t{1});
                   check_device(access, count * sizeof(vector_word));
                   return std::make_unique<kernel_access_experiment>(access, api,
                                                                     count * sizeof(vector_word));
                 });
  }
}

}  // namespace rocbench
