// SPDX-License-Identifier: MIT
// The entry point of every fill: hipMemsetAsync or a kernel on the device, the CPU on the host.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <roc/detail/strided_region.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>

#include "copy/staging/pack.hpp"
#include "copy/trace_scope.hpp"
#include "copy/validate.hpp"
#include "kernels/fill.hpp"
#include "layout/canonical_layout.hpp"
#include "memory/device/device_use.hpp"
#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc {
namespace {

using layout::canonical_layout;

// A pattern of up to 16 bytes. Holds a copy, because the caller's value may change after the call.
struct fill_pattern {
  std::array<std::byte, 16> bytes{};
  std::size_t size = 1;

  bool has_equal_bytes() const {
    return std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                       [this](std::byte value) { return value == bytes[0]; });
  }
};

// Returns the pattern, shortened to one byte if all its bytes are equal.
fill_pattern make_pattern(void const* data, std::size_t size) {
  fill_pattern result;
  std::memcpy(result.bytes.data(), data, size);
  result.size = size;
  if (result.has_equal_bytes()) result.size = 1;
  return result;
}

void enqueue_on_device(canonical_layout const& canonical, fill_pattern const& pattern,
                       hipStream_t stream) {
  if (canonical.rank == 0 && pattern.size == 1) {
    ROCARRAY_HIP(hipMemsetAsync, canonical.destination, std::to_integer<int>(pattern.bytes[0]),
                 canonical.run, stream);
  } else {
    kernels::fill(canonical, pattern.bytes.data(), pattern.size, stream);
  }
}

// A fill of host memory as a host function of a stream.
struct host_fill {
  canonical_layout canonical;
  fill_pattern pattern;

  // The host function; owns `argument`.
  static void run(void* argument) {
    std::unique_ptr<host_fill> const self(static_cast<host_fill*>(argument));
    transfer::fill_on_host(self->canonical, self->pattern.bytes.data(), self->pattern.size);
  }
};

base::byte_range destination_range(canonical_layout const& canonical) {
  return layout::byte_range_of(canonical, layout::side::destination);
}

// Enqueues the fill on `stream` and records it as a pending write of the host memory.
void enqueue_on_host(canonical_layout const& canonical, fill_pattern const& pattern,
                     stream_ref stream) {
  auto job = std::make_unique<host_fill>(host_fill{canonical, pattern});
  ROCARRAY_HIP(hipLaunchHostFunc, runtime::handle(stream), &host_fill::run, job.get());
  static_cast<void>(job.release());  // run deletes it
  auto const range = destination_range(canonical);
  memory::host_table::instance().record_write(range, stream);
  memory::host_table::instance().record_use(range, stream);
}

// Fills in the order of `*stream`. If `stream` is null, fills after all earlier work and blocks
// until complete.
void fill_region(detail::strided_region const& destination, fill_pattern const& pattern,
                 stream_ref const* stream) {
  platform::refuse_in_host_function("roc::fill");
  if (transfer::is_empty(destination)) return;
  if (destination.data == nullptr) {
    throw lifetime_error("fill with a null pointer: the array was moved from or never allocated");
  }
  auto const canonical = layout::canonicalize(destination, destination, layout::side::destination);
  bool const on_device = destination.space == detail::memory_space::device;
  transfer::trace_scope const trace(canonical, on_device);
  if (stream == nullptr) {
    if (!on_device && device::count() == 0) {
      return transfer::fill_on_host(canonical, pattern.bytes.data(), pattern.size);
    }
    int const device = destination.device >= 0 ? destination.device : runtime::current_device();
    runtime::on_device const guard(device);
    if (!on_device) {
      // The CPU writes the memory now, so all work that uses it must be done.
      runtime::synchronize_all_streams(device);
      return transfer::fill_on_host(canonical, pattern.bytes.data(), pattern.size);
    }
    memory::synchronize_default_stream(device, destination.data);
    runtime::order_default_stream_after_all(device);
    enqueue_on_device(canonical, pattern, nullptr);
    return stream_ref().synchronize();
  }
  // Host memory may be filled on a stream of any device.
  int const stream_device =
      on_device ? runtime::device_for(*stream, destination.device, destination.device)
                : runtime::device_of(*stream, runtime::current_device());
  runtime::on_device const guard(stream_device);
  runtime::enqueue_and_record(*stream, [&] {
    if (on_device) {
      memory::device_use const recorded_use(*stream, destination.device, destination.data);
      enqueue_on_device(canonical, pattern, runtime::handle(*stream));
      auto& table = memory::host_table::instance();
      if (auto const host_range =
              table.host_range_of_device_address(destination_range(canonical))) {
        table.record_use(*host_range, *stream);
      }
    } else {
      enqueue_on_host(canonical, pattern, *stream);
    }
  });
}

}  // namespace

void detail::fill(strided_region const& destination, void const* pattern,
                  stream_ref const* stream) {
  fill_region(destination, make_pattern(pattern, destination.element_size), stream);
}

void detail::zero(strided_region const& destination, stream_ref const* stream) {
  fill_region(destination, fill_pattern(), stream);
}

}  // namespace roc
