// SPDX-License-Identifier: MIT
#include <roc/detail/device_memory.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <roc/device_resources.hpp>
#include <roc/error.hpp>

#include "memory/block_table.hpp"
#include "memory/late_error.hpp"
#include "memory/leaks.hpp"
#include "memory/memory_record.hpp"
#include "runtime/current_device.hpp"
#include "runtime/error.hpp"
#include "runtime/stream.hpp"

namespace roc::detail {
namespace {

using memory::memory_record;

int checked_device(memory_resource const& from, stream_ref stream) {
  int const wanted = stream.device_ordinal();
  int const has = from.device_ordinal();
  if (wanted >= 0 && has >= 0 && wanted != has) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "a memory resource of device " + std::to_string(has) + " with a stream of device " +
                    std::to_string(wanted) + ": use a stream of the resource's device");
  }
  if (has >= 0) return has;
  return wanted >= 0 ? wanted : runtime::current_device();
}

// The stream's name, with a device: the default stream is that of the memory's.
stream_ref on(stream_ref stream, int device) {
  if (stream.device_ordinal() >= 0) return stream;
  return {stream.handle(), device, stream.kind()};
}

}  // namespace

device_memory::device_memory(std::size_t bytes, stream_ref stream)
    : device_(runtime::device_of(stream, -1)) {
  if (device_ < 0) device_ = runtime::current_device();
  if (bytes != 0) take(bytes, stream, device_resource(device_));
}

device_memory::device_memory(std::size_t bytes, stream_ref stream, memory_resource& from)
    : device_(checked_device(from, stream)) {
  if (bytes != 0) take(bytes, stream, from);
}

void device_memory::take(std::size_t bytes, stream_ref stream, memory_resource& from) {
  stream = on(stream, device_);
  auto const mark = runtime::mark_of(stream, device_);
  void* const data = from.allocate(bytes, stream);
  memory_record* record = memory::find_record(data);
  if (record == nullptr) {
    // Of a resource that keeps no records.
    try {
      auto made = std::make_unique<memory_record>();
      made->own = mark;
      made->inherits = dynamic_cast<direct_resource const*>(&from) == nullptr;
      memory::block_table::instance().add(data, bytes, made.get());
      record = made.release();
    } catch (...) {
      from.deallocate(data, bytes, stream);
      throw;
    }
    owns_record_ = true;
  }
  data_ = data;
  bytes_ = bytes;
  resource_ = &from;
  ticket_ = from.ticket();
  record_ = record;
  memory::note_allocation(data_, bytes_, "device memory", device_);
}

void device_memory::free() noexcept {
  memory::note_free(data_);
  if (!ticket_.is_valid()) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "an array of %zu bytes at %p outlived its memory resource: its memory is never "
                  "freed; destroy arrays before their resource",
                  bytes_, data_);
    runtime::log(text);
    return;
  }
  memory::log_late_error([&] {
    runtime::stream_mark const own = record_->own;
    // Where the stream has ended, its last work comes before what is freed on the default stream.
    stream_ref const stream = own.is_live()
                                  ? own.stream()
                                  : stream_ref(nullptr, device_, stream_kind::default_stream);
    if (!own.is_live()) record_->use_of_ended_stream(own);
    if (owns_record_) {
      memory::order_after_uses(data_, runtime::mark_of(stream, device_));
      memory::block_table::instance().remove(data_);
      delete record_;
    }
    resource_->deallocate(data_, bytes_, stream);
  });
}

void* device_memory::release() {
  if (data_ == nullptr) return nullptr;
  if (dynamic_cast<direct_resource const*>(resource_) == nullptr) {
    throw lifetime_error(
        "release of memory that hipFree cannot free, as it is a pool's: make the array with a "
        "direct_resource");
  }
  memory::note_free(data_);
  memory::block_table::instance().remove(data_);
  delete record_;
  return std::exchange(data_, nullptr);
}

void use_on(void const* data, int device, stream_ref stream) {
  if (data == nullptr) return;
  memory::device_use const noted(stream, device, data);
}

}  // namespace roc::detail
