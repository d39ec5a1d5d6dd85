// SPDX-License-Identifier: MIT
#include <roc/memory/adaptors.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/format_bytes.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/idle_memory.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc {
namespace {

std::error_code no_memory() { return std::make_error_code(std::errc::not_enough_memory); }

void update_maximum(std::atomic<std::size_t>& maximum, std::size_t value) {
  std::size_t previous = maximum.load();
  while (previous < value && !maximum.compare_exchange_weak(previous, value)) {
  }
}

}  // namespace

void* resource_adaptor::do_allocate(std::size_t bytes, stream_ref stream) {
  return upstream_.allocate(bytes, stream);
}

void resource_adaptor::do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept {
  upstream_.deallocate(data, bytes, stream);
}

int resource_adaptor::do_device_ordinal() const noexcept { return upstream_.device_ordinal(); }
std::optional<host_memory> resource_adaptor::do_host_kind() const noexcept {
  return upstream_.host_kind();
}
memory_statistics resource_adaptor::do_statistics() const { return upstream_.statistics(); }
void resource_adaptor::do_trim() { upstream_.trim(); }

void statistics_resource_adaptor::reset_peak() noexcept { peak_ = current_.load(); }

detail::resource_block statistics_resource_adaptor::do_allocate_block(std::size_t bytes,
                                                                      stream_ref stream) {
  auto const block = upstream().allocate_block(bytes, stream);
  ++blocks_;
  ++allocations_;
  update_maximum(peak_, current_ += bytes);
  return block;
}

void statistics_resource_adaptor::do_deallocate_block(detail::resource_block const& block,
                                                      std::size_t bytes,
                                                      stream_ref stream) noexcept {
  current_ -= bytes;
  --blocks_;
  upstream().deallocate_block(block, bytes, stream);
}

memory_statistics statistics_resource_adaptor::do_statistics() const {
  memory_statistics result = resource_adaptor::do_statistics();
  result.current_bytes = current_;
  result.peak_bytes = peak_;
  result.current_blocks = blocks_;
  result.allocations = allocations_;
  return result;
}

detail::resource_block limiting_resource_adaptor::do_allocate_block(std::size_t bytes,
                                                                    stream_ref stream) {
  std::size_t in_use = current_.load();
  do {
    std::size_t const limit = limit_;
    if (in_use > limit || bytes > limit - in_use) {
      throw out_of_memory(no_memory(), "allocation of " + base::format_bytes(bytes) +
                                           " exceeds the limit of the memory resource: limit " +
                                           base::format_bytes(limit) + ", in use " +
                                           base::format_bytes(in_use) +
                                           "; free arrays, or raise the limit");
    }
  } while (!current_.compare_exchange_weak(in_use, in_use + bytes));
  try {
    return upstream().allocate_block(bytes, stream);
  } catch (...) {
    current_ -= bytes;
    throw;
  }
}

void limiting_resource_adaptor::do_deallocate_block(detail::resource_block const& block,
                                                    std::size_t bytes, stream_ref stream) noexcept {
  upstream().deallocate_block(block, bytes, stream);
  current_ -= bytes;
}

void logging_resource_adaptor::write(char const* operation, std::size_t bytes, void const* data,
                                     stream_ref stream) noexcept {
  char line[160];
  std::snprintf(line, sizeof line, "%s %zu bytes: %p, stream 0x%zx", operation, bytes, data,
                reinterpret_cast<std::size_t>(stream.handle()));
  if (sink_ == nullptr) {
    base::log_error(line);
  } else {
    sink_(line);
  }
}

detail::resource_block logging_resource_adaptor::do_allocate_block(std::size_t bytes,
                                                                   stream_ref stream) {
  try {
    auto const block = upstream().allocate_block(bytes, stream);
    write("allocate", bytes, block.data, stream);
    return block;
  } catch (...) {
    write("allocate failed", bytes, nullptr, stream);
    throw;
  }
}

void logging_resource_adaptor::do_deallocate_block(detail::resource_block const& block,
                                                   std::size_t bytes, stream_ref stream) noexcept {
  write("deallocate", bytes, block.data, stream);
  upstream().deallocate_block(block, bytes, stream);
}

void failing_resource_adaptor::fail_at(std::size_t nth, std::size_t times) noexcept {
  end_ = 0;  // no allocation of another thread fails until all members are set
  count_ = 0;
  first_ = nth;
  end_ = nth == 0 ? 0 : nth + std::min(times, SIZE_MAX - nth);
}

detail::resource_block failing_resource_adaptor::do_allocate_block(std::size_t bytes,
                                                                   stream_ref stream) {
  std::size_t const number = ++count_;
  if (number >= first_ && number < end_) {
    ++failures_;
    throw out_of_memory(no_memory(), "allocation " + std::to_string(number) + " of " +
                                         base::format_bytes(bytes) + " fails as requested");
  }
  return upstream().allocate_block(bytes, stream);
}

void failing_resource_adaptor::do_deallocate_block(detail::resource_block const& block,
                                                   std::size_t bytes, stream_ref stream) noexcept {
  upstream().deallocate_block(block, bytes, stream);
}

detail::resource_block zeroing_resource_adaptor::do_allocate_block(std::size_t bytes,
                                                                   stream_ref stream) {
  return upstream().allocate_block(bytes, stream);
}

void zeroing_resource_adaptor::do_deallocate_block(detail::resource_block const& block,
                                                   std::size_t bytes, stream_ref stream) noexcept {
  bool const is_pageable = host_kind() == host_memory::pageable;
  // Memory that could not be cleared must not be reused.
  bool const cleared = platform::retry_then_log([&] {
    if (is_pageable && !block.has_prior_work) return;
    int const device = runtime::device_of(stream, memory::device_of(*this));
    runtime::on_device const guard(device);
    runtime::stream_id const id = runtime::stream_id_of(stream, device);
    if (block.record != nullptr) {
      block.record->move_to(id);
    } else if (memory::allocation_record* const record = memory::find_record(block.data)) {
      record->order_before(id);
    }
    hipStream_t const native = runtime::handle(stream);
    // The device may be unable to access pageable memory.
    if (is_pageable) return ROCARRAY_HIP(hipStreamSynchronize, native);
    ROCARRAY_HIP(hipMemsetAsync, block.data, 0, bytes, native);
    // If another thread has destroyed the stream meanwhile, the upstream takes its work for done.
    if (!id.is_live()) ROCARRAY_HIP(hipStreamSynchronize, native);
  });
  if (cleared) {
    if (is_pageable) std::memset(block.data, 0, bytes);
    return upstream().deallocate_block({block.data, block.record, !is_pageable}, bytes, stream);
  }
  // After the runtime has shut down, the process is about to end.
  int device = 0;
  if (ROCARRAY_HIP_CODE(hipGetDevice, &device) == hipErrorDeinitialized) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "memory at %p is leaked, because it cannot be zeroed; see the error before",
                block.data);
  base::log_error(text);
}

}  // namespace roc
