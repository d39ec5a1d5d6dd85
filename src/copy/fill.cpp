// SPDX-License-Identifier: MIT
// The one entry of every fill: on the device by hipMemsetAsync or a kernel, on the host by the CPU.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <roc/detail/region.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>

#include "kernels/fill.hpp"
#include "memory/host/host_table.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"
#include "layout/canonical_layout.hpp"
#include "copy/trace_scope.hpp"
#include "copy/staging/pack.hpp"

namespace roc {
namespace {

using layout::canonical_layout;

// Up to 16 bytes, held by value: the caller's may go.
struct fill_pattern {
  std::array<std::byte, 16> bytes{};
  std::size_t size = 1;

  bool is_one_byte() const {
    return std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                       [this](std::byte each) { return each == bytes[0]; });
  }
};

// What all bytes of are equal is a pattern of one.
fill_pattern pattern_of(void const* data, std::size_t size) {
  fill_pattern result;
  std::memcpy(result.bytes.data(), data, size);
  result.size = size;
  if (result.is_one_byte()) result.size = 1;
  return result;
}

void enqueue_on_device(layout::canonical_layout const& form, fill_pattern const& pattern, hipStream_t stream) {
  if (form.rank == 0 && pattern.size == 1) {
    ROCARRAY_HIP(hipMemsetAsync, form.destination, std::to_integer<int>(pattern.bytes[0]), form.run,
            stream);
  } else {
    kernels::fill(form, pattern.bytes.data(), pattern.size, stream);
  }
}

struct host_fill {
  layout::canonical_layout form;
  fill_pattern pattern;

  static void run(void* argument) {
    std::unique_ptr<host_fill> const self(static_cast<host_fill*>(argument));
    transfer::fill_on_host(self->form, self->pattern.bytes.data(), self->pattern.size);
  }
};

base::byte_range destination_of(layout::canonical_layout const& form) {
  return layout::bytes_of(form, layout::side::destination);
}

void enqueue_on_host(layout::canonical_layout const& form, fill_pattern const& pattern, stream_ref stream) {
  auto job = std::make_unique<host_fill>(host_fill{form, pattern});
  ROCARRAY_HIP(hipLaunchHostFunc, runtime::handle(stream), &host_fill::run, job.get());
  static_cast<void>(job.release());  // deleted by run
  auto const where = destination_of(form);
  memory::host_table::instance().record_write(where, stream);
  memory::host_table::instance().record_use(where, stream);
}

void fill(detail::region const& to, fill_pattern const& pattern, stream_ref const* stream) {
  platform::refuse_in_host_function("roc::fill");
  std::size_t const* const end = to.shape + to.rank;
  if (std::find(to.shape, end, std::size_t{0}) != end) return;
  if (to.data == nullptr) {
    throw lifetime_error("fill with a null pointer: the array was moved from or never made");
  }
  auto const form = layout::canonicalize(to, to, layout::side::destination);
  bool const on_device = to.where == detail::place::device;
  transfer::trace_scope const range(form, on_device);
  if (stream == nullptr) {
    if (!on_device && device::count() == 0) {
      return transfer::fill_on_host(form, pattern.bytes.data(), pattern.size);
    }
    int const device = to.device >= 0 ? to.device : runtime::current_device();
    runtime::on_device const guard(device);
    if (!on_device) {
      // The CPU writes: work that writes or reads the memory must be over.
      runtime::wait_for_all(device);
      return transfer::fill_on_host(form, pattern.bytes.data(), pattern.size);
    }
    memory::synchronize_default_stream(device, to.data);
    runtime::order_after_all(device);
    enqueue_on_device(form, pattern, nullptr);
    return stream_ref().synchronize();
  }
  // Host memory is of every device.
  int const used = on_device ? runtime::device_for(*stream, to.device, to.device)
                             : runtime::device_of(*stream, runtime::current_device());
  runtime::on_device const guard(used);
  runtime::enqueue_noted(*stream, [&] {
    if (on_device) {
      memory::device_use const noted(*stream, to.device, to.data);
      enqueue_on_device(form, pattern, runtime::handle(*stream));
      auto& table = memory::host_table::instance();
      if (auto const behind = table.behind_device_address(destination_of(form))) {
        table.record_use(*behind, *stream);
      }
    } else {
      enqueue_on_host(form, pattern, *stream);
    }
  });
}

}  // namespace

void detail::fill(region const& destination, void const* pattern, stream_ref const* stream) {
  roc::fill(destination, pattern_of(pattern, destination.element_size), stream);
}

void detail::zero(region const& destination, stream_ref const* stream) {
  roc::fill(destination, fill_pattern(), stream);
}

}  // namespace roc
